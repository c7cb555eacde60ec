// SPDX-License-Identifier: MIT
//
// What the exported functions do. Each exported name is a shim that calls through the table of
// hipfile-api-trace.h (exports.cc); the table points here unless a profiler replaced an entry. The
// names are those of the table's members.
#pragma once

#include <hipfile.h>

namespace hipfile::entry {

const char* get_op_error_string(hipFileOpError_t status);
hipFileError_t handle_register(hipFileHandle_t* fh, hipFileDescr_t* descr);
void handle_deregister(hipFileHandle_t fh);
hipFileError_t buf_register(const void* buffer_base, size_t length, int flags);
hipFileError_t buf_deregister(const void* buffer_base);
ssize_t read(hipFileHandle_t fh, void* buffer_base, size_t size, hoff_t file_offset,
             hoff_t buffer_offset);
ssize_t write(hipFileHandle_t fh, const void* buffer_base, size_t size, hoff_t file_offset,
              hoff_t buffer_offset);
hipFileError_t driver_open();
hipFileError_t driver_close();
int64_t use_count();
hipFileError_t driver_get_properties(hipFileDriverProps_t* props);
hipFileError_t driver_set_poll_mode(bool poll, size_t poll_threshold_size);
hipFileError_t driver_set_max_direct_io_size(size_t max_direct_io_size);
hipFileError_t driver_set_max_cache_size(size_t max_cache_size);
hipFileError_t driver_set_max_pinned_mem_size(size_t max_pinned_size);
hipFileError_t batch_io_set_up(hipFileBatchHandle_t* batch_idp, unsigned max_nr);
hipFileError_t batch_io_submit(hipFileBatchHandle_t batch_idp, unsigned nr,
                               hipFileIOParams_t* iocbp, unsigned flags);
hipFileError_t batch_io_get_status(hipFileBatchHandle_t batch_idp, unsigned min_nr, unsigned* nr,
                                   hipFileIOEvents_t* iocbp, struct timespec* timeout);
hipFileError_t batch_io_cancel(hipFileBatchHandle_t batch_idp);
void batch_io_destroy(hipFileBatchHandle_t batch_idp);
hipFileError_t read_async(hipFileHandle_t fh, void* buffer_base, size_t* size_p,
                          hoff_t* file_offset_p, hoff_t* buffer_offset_p, ssize_t* bytes_read_p,
                          hipStream_t stream);
hipFileError_t write_async(hipFileHandle_t fh, void* buffer_base, size_t* size_p,
                           hoff_t* file_offset_p, hoff_t* buffer_offset_p, ssize_t* bytes_written_p,
                           hipStream_t stream);
hipFileError_t stream_register(hipStream_t stream, unsigned flags);
hipFileError_t stream_deregister(hipStream_t stream);
hipFileError_t get_version(unsigned* major, unsigned* minor, unsigned* patch);
hipFileError_t get_parameter_size_t(hipFileSizeTConfigParameter_t param, size_t* value);
hipFileError_t get_parameter_bool(hipFileBoolConfigParameter_t param, bool* value);
hipFileError_t get_parameter_string(hipFileStringConfigParameter_t param, char* desc_str, int len);
hipFileError_t set_parameter_size_t(hipFileSizeTConfigParameter_t param, size_t value);
hipFileError_t set_parameter_bool(hipFileBoolConfigParameter_t param, bool value);
hipFileError_t set_parameter_string(hipFileStringConfigParameter_t param, const char* desc_str);
hipFileError_t get_stats_l1(hipFileStatsLevel1_t* stats);
hipFileError_t get_stats_l2(hipFileStatsLevel2_t* stats);
hipFileError_t get_stats_l3(hipFileStatsLevel3_t* stats);

}  // namespace hipfile::entry
