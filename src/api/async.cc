// SPDX-License-Identifier: MIT
//
// hipFileReadAsync, hipFileWriteAsync, and the streams they know.
#include <cerrno>

#include "api/entry.h"
#include "api/return_code.h"
#include "api/root.h"

namespace hipfile::entry {
namespace {

hipFileError_t transfer_async(hipFileHandle_t fh, const StreamArguments& arguments,
                              hipStream_t stream) {
  const auto body = [&] { return to_error(root().transfer_async(fh, arguments, stream)); };
  return guarded(body, to_error(Error::from_hip(hipErrorOutOfMemory)));
}

}  // namespace

hipFileError_t read_async(hipFileHandle_t fh, void* buffer_base, size_t* size_p,
                          hoff_t* file_offset_p, hoff_t* buffer_offset_p, ssize_t* bytes_read_p,
                          hipStream_t stream) {
  return transfer_async(fh,
                        {buffer_base, size_p, file_offset_p, buffer_offset_p, bytes_read_p,
                         Direction::kRead, &to_count},
                        stream);
}

hipFileError_t write_async(hipFileHandle_t fh, void* buffer_base, size_t* size_p,
                           hoff_t* file_offset_p, hoff_t* buffer_offset_p, ssize_t* bytes_written_p,
                           hipStream_t stream) {
  return transfer_async(fh,
                        {buffer_base, size_p, file_offset_p, buffer_offset_p, bytes_written_p,
                         Direction::kWrite, &to_count},
                        stream);
}

hipFileError_t stream_register(hipStream_t stream, unsigned flags) {
  const auto body = [&] { return to_error(root().register_stream(stream, flags)); };
  return guarded(body, to_error(hipFileInternalError));
}

hipFileError_t stream_deregister(hipStream_t stream) {
  const auto body = [&] { return to_error(root().deregister_stream(stream)); };
  return guarded(body, to_error(hipFileInternalError));
}

}  // namespace hipfile::entry
