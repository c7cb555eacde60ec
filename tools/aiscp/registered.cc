// SPDX-License-Identifier: MIT
#include "registered.h"

#include <fcntl.h>

#include <cstring>

namespace aiscp {

void ask_for_direct(int fd, Direct direct) {
  if (direct == Direct::kNever) return;
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return;
  // Refused: the copy is buffered, silently. --direct=always asks the library what came of it.
  (void)::fcntl(fd, F_SETFL, flags | O_DIRECT);
}

bool stop_asking_for_direct(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0 && ::fcntl(fd, F_SETFL, flags & ~O_DIRECT) == 0;
}

Status Registered::open(int fd) {
  hipFileDescr_t descr;
  std::memset(&descr, 0, sizeof descr);
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  const hipFileError_t error = hipFileHandleRegister(&handle_, &descr);
  if (error.err != hipFileSuccess) {
    handle_ = nullptr;
    return Status::failure(HIPFILE_ERRSTR(error.err));
  }
  if (hipFileExtGetFileInfo(handle_, &info_).err != hipFileSuccess) {
    info_ = hipFileExtFileInfo_t{};  // no alignment is known: nothing is rounded
  }
  return {};
}

const char* Registered::why_not_direct() const {
  if (info_.view != hipFileExtViewOk) return hipFileExtViewReasonName(info_.view);
  return "the file system goes through the page cache all the same";
}

void Registered::reset() {
  if (handle_ != nullptr) hipFileHandleDeregister(handle_);
  handle_ = nullptr;
}

std::string io_error_text(long result, int error) {
  if (result != -1) {
    return IS_HIPFILE_ERR(result) ? HIPFILE_ERRSTR(result) : "unknown result of the library";
  }
  return std::strerror(error);
}

}  // namespace aiscp
