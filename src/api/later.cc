// SPDX-License-Identifier: MIT
//
// The groups of the interface that this version exports and refuses: async, streams, batch.
// Each answers hipFileInternalError, as AMD's own library does for those it lacks, touches no
// argument and has no side effect.
#include "api/entry.h"
#include "api/return_code.h"

namespace hipfile::entry {
namespace {
hipFileError_t refused() { return to_error(hipFileInternalError); }
}  // namespace

hipFileError_t batch_io_set_up(hipFileBatchHandle_t*, unsigned) { return refused(); }
hipFileError_t batch_io_submit(hipFileBatchHandle_t, unsigned, hipFileIOParams_t*, unsigned) {
  return refused();
}
hipFileError_t batch_io_get_status(hipFileBatchHandle_t, unsigned, unsigned*, hipFileIOEvents_t*,
                                   struct timespec*) {
  return refused();
}
hipFileError_t batch_io_cancel(hipFileBatchHandle_t) { return refused(); }
void batch_io_destroy(hipFileBatchHandle_t) {}

hipFileError_t read_async(hipFileHandle_t, void*, size_t*, hoff_t*, hoff_t*, ssize_t*,
                          hipStream_t) {
  return refused();
}
hipFileError_t write_async(hipFileHandle_t, void*, size_t*, hoff_t*, hoff_t*, ssize_t*,
                           hipStream_t) {
  return refused();
}
hipFileError_t stream_register(hipStream_t, unsigned) { return refused(); }
hipFileError_t stream_deregister(hipStream_t) { return refused(); }

}  // namespace hipfile::entry
