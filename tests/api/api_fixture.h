// SPDX-License-Identifier: MIT
// What the API tests share: a closed library before and after each test, a directory, and files
// with known bytes. The tests use the public headers only.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <hipfile_ext.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device_buffer.h"
#include "pattern.h"
#include "temp_dir.h"

namespace hipfile::test {

constexpr size_t kSizeCap = 0x7ffff000;

// A negated code, as hipFileRead() and hipFileWrite() return it.
constexpr ssize_t negated(hipFileOpError_t code) { return -static_cast<ssize_t>(code); }

// Closes the library until its use count is 0.
void close_library();

hipFileDescr_t describe(int fd);

// Registers a descriptor; a failure is a failure of the test, and gives NULL.
hipFileHandle_t register_fd(int fd);

// A file with pattern bytes, open and registered.
class RegisteredFile {
 public:
  // `seed` 0 makes `size` bytes of zero.
  RegisteredFile(const std::string& path, size_t size, uint64_t seed, int flags = O_RDWR);

  hipFileHandle_t handle() const { return handle_; }
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Fd fd_;
  hipFileHandle_t handle_ = nullptr;
};

// The library is closed before and after every test, and no descriptor of ours is left.
class ApiTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string file(const std::string& name) const { return dir_.file(name); }

  TempDir dir_;
};

// How a test of I/O is varied: by memory, and by the caller's own O_DIRECT.
using IoParam = std::tuple<MemoryKind, bool>;

class IoTest : public ApiTest, public testing::WithParamInterface<IoParam> {
 protected:
  MemoryKind kind() const { return std::get<0>(GetParam()); }
  // O_DIRECT where the test asks for it and the file system takes it.
  int direct_flag() const { return std::get<1>(GetParam()) ? direct_flag_of(dir_.path()) : 0; }
};

std::string io_param_name(const testing::TestParamInfo<IoParam>& info);

const auto kEveryIo = testing::Combine(testing::Values(MemoryKind::kDevice, MemoryKind::kPinned,
                                                       MemoryKind::kManaged, MemoryKind::kHost),
                                       testing::Bool());

}  // namespace hipfile::test

// The code of a call that returns hipFileError_t; the HIP code must be hipSuccess beside any code
// but hipFileHipDriverError.
#define EXPECT_CODE(code, call)                           \
  do {                                                    \
    const hipFileError_t error_ = (call);                 \
    EXPECT_EQ(code, error_.err) << #call;                 \
    if (error_.err != hipFileHipDriverError) {            \
      EXPECT_EQ(hipSuccess, error_.hip_drv_err) << #call; \
    }                                                     \
  } while (false)

// A call that returns ssize_t fails with -1 and this errno.
#define EXPECT_ERRNO(number, call)     \
  do {                                 \
    errno = 0;                         \
    EXPECT_EQ(-1, (call)) << #call;    \
    EXPECT_EQ(number, errno) << #call; \
  } while (false)
