// SPDX-License-Identifier: MIT
// The shared parts of the API tests.
#include "api_fixture.h"

namespace hipfile::test {

void close_library() {
  while (hipFileUseCount() > 0) {
    if (hipFileDriverClose().err != hipFileSuccess) break;
  }
}

hipFileDescr_t describe(int fd) {
  hipFileDescr_t descr{};
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  return descr;
}

hipFileHandle_t register_fd(int fd) {
  hipFileDescr_t descr = describe(fd);
  hipFileHandle_t handle = nullptr;
  EXPECT_CODE(hipFileSuccess, hipFileHandleRegister(&handle, &descr));
  EXPECT_NE(nullptr, handle);
  return handle;
}

RegisteredFile::RegisteredFile(const std::string& path, size_t size, uint64_t seed, int flags)
    : path_(path) {
  write_file(path, seed == 0 ? std::vector<uint8_t>(size) : make_pattern(size, seed));
  fd_ = Fd(path, flags);
  handle_ = register_fd(fd_.get());
}

void ApiTest::SetUp() {
  close_library();
  ASSERT_EQ(0, hipFileUseCount());
}

void ApiTest::TearDown() {
  close_library();
  EXPECT_EQ(0, hipFileUseCount());
}

std::string io_param_name(const testing::TestParamInfo<IoParam>& info) {
  return std::string(memory_kind_name(std::get<0>(info.param))) +
         (std::get<1>(info.param) ? "OpenedDirect" : "OpenedBuffered");
}

}  // namespace hipfile::test
