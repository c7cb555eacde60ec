// SPDX-License-Identifier: MIT
// Opening, closing and the use count; versions and error strings.
#include <cstring>
#include <string>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

class DriverTest : public ApiTest {};

TEST_F(DriverTest, OpenIncrementsUseCount) {
  for (int64_t i = 1; i <= 10; ++i) {
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
    EXPECT_EQ(i, hipFileUseCount());
  }
}

TEST_F(DriverTest, CloseDecrementsUseCount) {
  for (int i = 0; i < 10; ++i) EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  for (int64_t i = 9; i >= 0; --i) {
    EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
    EXPECT_EQ(i, hipFileUseCount());
  }
}

TEST_F(DriverTest, CloseWithoutOpenIsNotInitialized) {
  EXPECT_CODE(hipFileDriverNotInitialized, hipFileDriverClose());
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(DriverTest, HandleRegistrationOpensTheLibraryOnce) {
  Fd one(file("one"), O_RDWR | O_CREAT);
  Fd two(file("two"), O_RDWR | O_CREAT);
  register_fd(one.get());
  EXPECT_EQ(1, hipFileUseCount());
  register_fd(two.get());
  EXPECT_EQ(1, hipFileUseCount());
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_EQ(2, hipFileUseCount());
}

TEST_F(DriverTest, BufferRegistrationOpensTheLibraryOnce) {
  Buffer buffer(4096);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 4096, 0));
  EXPECT_EQ(1, hipFileUseCount());
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  EXPECT_EQ(1, hipFileUseCount());
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_EQ(2, hipFileUseCount());
}

TEST_F(DriverTest, FailedBufferRegistrationOpensTheLibrary) {
  EXPECT_CODE(hipFileInvalidValue, hipFileBufRegister(nullptr, 4096, 0));
  EXPECT_EQ(1, hipFileUseCount());
}

TEST_F(DriverTest, LastCloseDeregistersFiles) {
  Fd fd(file("f"), O_RDWR | O_CREAT);
  register_fd(fd.get());
  hipFileDescr_t descr = describe(fd.get());
  hipFileHandle_t again = nullptr;
  EXPECT_CODE(hipFileHandleAlreadyRegistered, hipFileHandleRegister(&again, &descr));
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  EXPECT_CODE(hipFileSuccess, hipFileHandleRegister(&again, &descr));
}

TEST_F(DriverTest, LastCloseDeregistersBuffers) {
  Buffer buffer(4096);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 4096, 0));
  EXPECT_CODE(hipFileMemoryAlreadyRegistered, hipFileBufRegister(buffer.data(), 4096, 0));
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 4096, 0));
}

TEST_F(DriverTest, CloseThatIsNotTheLastKeepsRegistrations) {
  RegisteredFile f(file("f"), 4096, 1);
  Buffer buffer(4096);
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  EXPECT_EQ(4096, hipFileRead(f.handle(), buffer.data(), 4096, 0, 0));
}

TEST_F(DriverTest, HandleFromBeforeCloseIsDead) {
  RegisteredFile f(file("f"), 4096, 1);
  Buffer buffer(4096);
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  EXPECT_ERRNO(EINVAL, hipFileRead(f.handle(), buffer.data(), 4096, 0, 0));
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_EQ(negated(hipFileHandleNotRegistered),
            hipFileRead(f.handle(), buffer.data(), 4096, 0, 0));
  EXPECT_NE(f.handle(), register_fd(f.fd()));
  EXPECT_EQ(negated(hipFileHandleNotRegistered),
            hipFileRead(f.handle(), buffer.data(), 4096, 0, 0));
}

TEST_F(DriverTest, LastCloseClosesTheLibrarysDescriptorsOnly) {
  Buffer buffer(8192);
  Fd warm_fd(file("warm"), O_RDWR | O_CREAT);
  hipFileHandle_t warm = register_fd(warm_fd.get());
  EXPECT_EQ(0, hipFileRead(warm, buffer.data(), 4096, 0, 0));
  close_library();
  const size_t before = open_descriptors();
  {
    RegisteredFile f(file("f"), 8192, 1);
    EXPECT_EQ(8192, hipFileRead(f.handle(), buffer.data(), 8192, 0, 0));
    EXPECT_EQ(4096, hipFileWrite(f.handle(), buffer.data(), 4096, 0, 0));
    EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
    EXPECT_EQ(before + 1, open_descriptors());  // the caller's own
    EXPECT_NE(-1, ::fcntl(f.fd(), F_GETFD));
  }
  EXPECT_EQ(before, open_descriptors());
}

TEST_F(DriverTest, ReadAndWriteWhileClosedGiveEinval) {
  Buffer buffer(4096);
  EXPECT_ERRNO(EINVAL, hipFileRead(nullptr, nullptr, 0, 0, 0));
  EXPECT_ERRNO(EINVAL, hipFileWrite(nullptr, nullptr, 0, 0, 0));
  EXPECT_ERRNO(EINVAL, hipFileRead(buffer.data(), buffer.data(), 4096, 0, 0));
  EXPECT_ERRNO(EINVAL, hipFileWrite(buffer.data(), buffer.data(), 4096, 0, 0));
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(DriverTest, BatchCallsWhileClosedAreInvalidAndOpenNothing) {
  int no_batch = 0;
  hipFileIOParams_t request{};
  hipFileIOEvents_t event{};
  unsigned nr = 1;
  for (hipFileBatchHandle_t id : {hipFileBatchHandle_t(nullptr), hipFileBatchHandle_t(&no_batch)}) {
    EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(id, 0, nullptr, 0));
    EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(id, 1, &request, 0));
    EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(id, 0, nullptr, nullptr, nullptr));
    EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(id, 1, &nr, &event, nullptr));
    EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOCancel(id));
    hipFileBatchIODestroy(id);
  }
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(DriverTest, VersionIsThatOfTheHeaderAndOpensNothing) {
  unsigned major = 99, minor = 99, patch = 99;
  EXPECT_CODE(hipFileSuccess, hipFileGetVersion(&major, &minor, &patch));
  EXPECT_EQ(static_cast<unsigned>(HIPFILE_VERSION_MAJOR), major);
  EXPECT_EQ(static_cast<unsigned>(HIPFILE_VERSION_MINOR), minor);
  EXPECT_EQ(static_cast<unsigned>(HIPFILE_VERSION_PATCH), patch);
  EXPECT_EQ(0u, major);
  EXPECT_EQ(5u, minor);
  EXPECT_EQ(0u, patch);
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(DriverTest, VersionSkipsNullOutputs) {
  EXPECT_CODE(hipFileSuccess, hipFileGetVersion(nullptr, nullptr, nullptr));
  unsigned minor = 99;
  EXPECT_CODE(hipFileSuccess, hipFileGetVersion(nullptr, &minor, nullptr));
  EXPECT_EQ(5u, minor);
}

const char* text_of(int code) {
  return hipFileGetOpErrorString(static_cast<hipFileOpError_t>(code));
}

TEST_F(DriverTest, EveryCodeHasAnErrorStringOfItsOwn) {
  const std::string unknown = text_of(5000);
  for (int code = hipFileDriverNotInitialized; code <= hipFileIOMaxError; ++code) {
    if (code == 5021 || code == 5032) continue;
    ASSERT_NE(nullptr, text_of(code));
    EXPECT_NE(unknown, text_of(code)) << code;
    EXPECT_EQ(text_of(code), text_of(code)) << "constant storage, " << code;
    for (int other = hipFileDriverNotInitialized; other < code; ++other) {
      if (other == 5021 || other == 5032) continue;
      EXPECT_STRNE(text_of(other), text_of(code)) << other << " and " << code;
    }
  }
  EXPECT_NE(unknown, text_of(0));
}

TEST_F(DriverTest, ValuesThatAreNoCodeShareOneErrorString) {
  const std::string unknown = text_of(5000);
  EXPECT_FALSE(unknown.empty());
  for (int code : {5021, 5032, 5040, 1, -1, -5022, 4999, 1 << 30}) {
    ASSERT_NE(nullptr, text_of(code));
    EXPECT_EQ(unknown, text_of(code)) << code;
  }
}

TEST_F(DriverTest, Rule7_ErrorMacrosWorkOnNegatedCodes) {
  const ssize_t result = negated(hipFileInvalidValue);
  EXPECT_TRUE(IS_HIPFILE_ERR(result));
  EXPECT_FALSE(IS_HIPFILE_ERR(-1));
  EXPECT_FALSE(IS_HIPFILE_ERR(-5000));
  EXPECT_STREQ(hipFileGetOpErrorString(hipFileInvalidValue), HIPFILE_ERRSTR(result));
  const hipFileError_t error{hipFileHipDriverError, hipErrorInvalidValue};
  const hipFileError_t* pointer = &error;
  EXPECT_TRUE(IS_HIP_DRV_ERR(*pointer));
  EXPECT_EQ(hipErrorInvalidValue, HIP_DRV_ERR(*pointer));
}

}  // namespace
}  // namespace hipfile::test
