// SPDX-License-Identifier: MIT
//
// A descriptor that is registered with the library, with its alignments.
#pragma once

#include <hipfile_ext.h>

#include "messages.h"
#include "options.h"

namespace aiscp {

/// Sets O_DIRECT on an open descriptor if its file system takes the flag. Set after opening and not
/// while: an open() with O_CREAT and O_DIRECT that fails may leave the new file behind.
void ask_for_direct(int fd, Direct direct);

/// After EINVAL: some file systems accept the flag and answer so to every transfer. False if it was
/// not set. The library's duplicate shares the flag and need not be told.
bool stop_asking_for_direct(int fd);

/// Registered while it lives. Does not own the descriptor.
class Registered {
 public:
  Registered() = default;
  ~Registered() { reset(); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

  Status open(int fd);
  void reset();

  hipFileHandle_t handle() const { return handle_; }
  const hipFileExtFileInfo_t& info() const { return info_; }
  /// For people, where info() says that reads or writes are not direct.
  const char* why_not_direct() const;

 private:
  hipFileHandle_t handle_ = nullptr;
  hipFileExtFileInfo_t info_{};
};

/// The text of a negative result of hipFileRead() or hipFileWrite(); `error` is errno as it left
/// it.
std::string io_error_text(long result, int error);

}  // namespace aiscp
