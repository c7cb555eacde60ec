// SPDX-License-Identifier: MIT
//
// The exported functions, in the order of the table. Each is one call through its entry.
#include <hipfile.h>

#include "api/trace.h"

namespace {
using hipfile::trace::call;
using Table = hipFileDispatchTable;
}  // namespace

const char* hipFileGetOpErrorString(hipFileOpError_t status) {
  return call<&Table::pfn_hipfile_get_op_error_string>(__func__, status);
}

hipFileError_t hipFileHandleRegister(hipFileHandle_t* fh, hipFileDescr_t* descr) {
  return call<&Table::pfn_hipfile_handle_register>(__func__, fh, descr);
}

void hipFileHandleDeregister(hipFileHandle_t fh) {
  return call<&Table::pfn_hipfile_handle_deregister>(__func__, fh);
}

hipFileError_t hipFileBufRegister(const void* buffer_base, size_t length, int flags) {
  return call<&Table::pfn_hipfile_buf_register>(__func__, buffer_base, length, flags);
}

hipFileError_t hipFileBufDeregister(const void* buffer_base) {
  return call<&Table::pfn_hipfile_buf_deregister>(__func__, buffer_base);
}

ssize_t hipFileRead(hipFileHandle_t fh, void* buffer_base, size_t size, hoff_t file_offset,
                    hoff_t buffer_offset) {
  return call<&Table::pfn_hipfile_read>(__func__, fh, buffer_base, size, file_offset,
                                        buffer_offset);
}

ssize_t hipFileWrite(hipFileHandle_t fh, const void* buffer_base, size_t size, hoff_t file_offset,
                     hoff_t buffer_offset) {
  return call<&Table::pfn_hipfile_write>(__func__, fh, buffer_base, size, file_offset,
                                         buffer_offset);
}

hipFileError_t hipFileDriverOpen(void) { return call<&Table::pfn_hipfile_driver_open>(__func__); }

hipFileError_t hipFileDriverClose(void) { return call<&Table::pfn_hipfile_driver_close>(__func__); }

int64_t hipFileUseCount(void) { return call<&Table::pfn_hipfile_use_count>(__func__); }

hipFileError_t hipFileDriverGetProperties(hipFileDriverProps_t* props) {
  return call<&Table::pfn_hipfile_driver_get_properties>(__func__, props);
}

hipFileError_t hipFileDriverSetPollMode(bool poll, size_t poll_threshold_size) {
  return call<&Table::pfn_hipfile_driver_set_poll_mode>(__func__, poll, poll_threshold_size);
}

hipFileError_t hipFileDriverSetMaxDirectIOSize(size_t max_direct_io_size) {
  return call<&Table::pfn_hipfile_driver_set_max_direct_io_size>(__func__, max_direct_io_size);
}

hipFileError_t hipFileDriverSetMaxCacheSize(size_t max_cache_size) {
  return call<&Table::pfn_hipfile_driver_set_max_cache_size>(__func__, max_cache_size);
}

hipFileError_t hipFileDriverSetMaxPinnedMemSize(size_t max_pinned_size) {
  return call<&Table::pfn_hipfile_driver_set_max_pinned_mem_size>(__func__, max_pinned_size);
}

hipFileError_t hipFileBatchIOSetUp(hipFileBatchHandle_t* batch_idp, unsigned max_nr) {
  return call<&Table::pfn_hipfile_batch_io_set_up>(__func__, batch_idp, max_nr);
}

hipFileError_t hipFileBatchIOSubmit(hipFileBatchHandle_t batch_idp, unsigned nr,
                                    hipFileIOParams_t* iocbp, unsigned flags) {
  return call<&Table::pfn_hipfile_batch_io_submit>(__func__, batch_idp, nr, iocbp, flags);
}

hipFileError_t hipFileBatchIOGetStatus(hipFileBatchHandle_t batch_idp, unsigned min_nr,
                                       unsigned* nr, hipFileIOEvents_t* iocbp,
                                       struct timespec* timeout) {
  return call<&Table::pfn_hipfile_batch_io_get_status>(__func__, batch_idp, min_nr, nr, iocbp,
                                                       timeout);
}

hipFileError_t hipFileBatchIOCancel(hipFileBatchHandle_t batch_idp) {
  return call<&Table::pfn_hipfile_batch_io_cancel>(__func__, batch_idp);
}

void hipFileBatchIODestroy(hipFileBatchHandle_t batch_idp) {
  return call<&Table::pfn_hipfile_batch_io_destroy>(__func__, batch_idp);
}

hipFileError_t hipFileReadAsync(hipFileHandle_t fh, void* buffer_base, size_t* size_p,
                                hoff_t* file_offset_p, hoff_t* buffer_offset_p,
                                ssize_t* bytes_read_p, hipStream_t stream) {
  return call<&Table::pfn_hipfile_read_async>(__func__, fh, buffer_base, size_p, file_offset_p,
                                              buffer_offset_p, bytes_read_p, stream);
}

hipFileError_t hipFileWriteAsync(hipFileHandle_t fh, void* buffer_base, size_t* size_p,
                                 hoff_t* file_offset_p, hoff_t* buffer_offset_p,
                                 ssize_t* bytes_written_p, hipStream_t stream) {
  return call<&Table::pfn_hipfile_write_async>(__func__, fh, buffer_base, size_p, file_offset_p,
                                               buffer_offset_p, bytes_written_p, stream);
}

hipFileError_t hipFileStreamRegister(hipStream_t stream, unsigned flags) {
  return call<&Table::pfn_hipfile_stream_register>(__func__, stream, flags);
}

hipFileError_t hipFileStreamDeregister(hipStream_t stream) {
  return call<&Table::pfn_hipfile_stream_deregister>(__func__, stream);
}

hipFileError_t hipFileGetVersion(unsigned* major, unsigned* minor, unsigned* patch) {
  return call<&Table::pfn_hipfile_get_version>(__func__, major, minor, patch);
}

hipFileError_t hipFileGetParameterSizeT(hipFileSizeTConfigParameter_t param, size_t* value) {
  return call<&Table::pfn_hipfile_get_parameter_size_t>(__func__, param, value);
}

hipFileError_t hipFileGetParameterBool(hipFileBoolConfigParameter_t param, bool* value) {
  return call<&Table::pfn_hipfile_get_parameter_bool>(__func__, param, value);
}

hipFileError_t hipFileGetParameterString(hipFileStringConfigParameter_t param, char* desc_str,
                                         int len) {
  return call<&Table::pfn_hipfile_get_parameter_string>(__func__, param, desc_str, len);
}

hipFileError_t hipFileSetParameterSizeT(hipFileSizeTConfigParameter_t param, size_t value) {
  return call<&Table::pfn_hipfile_set_parameter_size_t>(__func__, param, value);
}

hipFileError_t hipFileSetParameterBool(hipFileBoolConfigParameter_t param, bool value) {
  return call<&Table::pfn_hipfile_set_parameter_bool>(__func__, param, value);
}

hipFileError_t hipFileSetParameterString(hipFileStringConfigParameter_t param,
                                         const char* desc_str) {
  return call<&Table::pfn_hipfile_set_parameter_string>(__func__, param, desc_str);
}

hipFileError_t hipFileGetStatsL1(hipFileStatsLevel1_t* stats) {
  return call<&Table::pfn_hipfile_get_stats_l1>(__func__, stats);
}

hipFileError_t hipFileGetStatsL2(hipFileStatsLevel2_t* stats) {
  return call<&Table::pfn_hipfile_get_stats_l2>(__func__, stats);
}

hipFileError_t hipFileGetStatsL3(hipFileStatsLevel3_t* stats) {
  return call<&Table::pfn_hipfile_get_stats_l3>(__func__, stats);
}
