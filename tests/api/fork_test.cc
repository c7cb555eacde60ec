// SPDX-License-Identifier: MIT
// fork and process exit: the child of a process that used the library gets clean errors, at once.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "api_fixture.h"
#include "probes.h"

namespace hipfile::test {
namespace {

class ForkTest : public ApiTest {
 protected:
  static testing::AssertionResult child_agrees(const std::function<int()>& body) {
    const int step = step_of_child(body);
    if (step == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "step " << step << " differs (1000 + N: signal N)";
  }
};

TEST_F(ForkTest, Rule33_InheritedObjectsAreDeadInTheChild) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 65536, 0));
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_EQ(1000, hipFileWrite(f.handle(), buffer.data(), 1000, 65536, 3));
  EXPECT_TRUE(child_agrees([&] {
    if (hipFileUseCount() != 0) return 1;
    if (hipFileRead(f.handle(), buffer.data(), 65536, 0, 0) >= 0) return 2;
    if (hipFileWrite(f.handle(), buffer.data(), 65536, 0, 0) >= 0) return 3;
    if (hipFileBufDeregister(buffer.data()).err == hipFileSuccess) return 4;
    hipFileHandleDeregister(f.handle());
    if (hipFileDriverClose().err != hipFileDriverNotInitialized) return 5;
    return 0;
  }));
  // The parent noticed nothing.
  EXPECT_EQ(1, hipFileUseCount());
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(65536, 1)));
}

TEST_F(ForkTest, Rule33_StaleHandleStaysDeadAfterTheChildOpensAnew) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536, MemoryKind::kHost);
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_TRUE(child_agrees([&] {
    if (hipFileDriverOpen().err != hipFileSuccess) return 1;
    if (hipFileUseCount() != 1) return 2;
    if (hipFileRead(f.handle(), buffer.data(), 4096, 0, 0) != negated(hipFileHandleNotRegistered)) {
      return 3;
    }
    hipFileDescr_t descr = describe(f.fd());
    hipFileHandle_t handle = nullptr;
    if (hipFileHandleRegister(&handle, &descr).err != hipFileSuccess) return 4;
    const ssize_t n = hipFileRead(handle, buffer.data(), 65536, 0, 0);
    if (n >= 0 && n != 65536) return 5;  // the data, or an honest error of HIP after fork
    return hipFileDriverClose().err == hipFileSuccess ? 0 : 6;
  }));
}

TEST_F(ForkTest, Rule33_ChildDuringIoOfTheParentDoesNotHang) {
  RegisteredFile f(file("f"), 8 << 20, 1);
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    Buffer buffer(8 << 20);
    while (!stop) {
      EXPECT_EQ((8 << 20) - 5, hipFileRead(f.handle(), buffer.data(), (8 << 20) - 5, 5, 0));
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(child_agrees([&] {
      if (hipFileUseCount() != 0) return 1;
      return hipFileDriverClose().err == hipFileDriverNotInitialized ? 0 : 2;
    }));
  }
  stop = true;
  worker.join();
}

TEST_F(ForkTest, Rule3_ProgramThatForksBeforeItsFirstGpuCallStaysUsable) {
  write_file(file("f"), make_pattern(65536, 1));
  for (const char* kind : {"device", "host"}) {
    const ProcessResult result = probe("fork-early", {file("f"), kind, "65536", "0"}, {});
    EXPECT_EQ(0, result.exit_code) << result.out << result.err;
    EXPECT_NE(std::string::npos, result.out.find("read 65536\ndata right")) << result.out;
  }
}

TEST_F(ForkTest, Rule6_ExitWithEverythingOpenIsClean) {
  write_file(file("f"), make_pattern(65536, 1));
  const ProcessResult result = probe("exit-open", {file("f")}, {});
  EXPECT_EQ(0, result.exit_code) << result.out << result.err;
  EXPECT_NE(std::string::npos, result.out.find("read 4096")) << result.out;
  EXPECT_NE(std::string::npos, result.out.find("closed ")) << result.out;
  EXPECT_EQ("", result.err);
}

}  // namespace
}  // namespace hipfile::test
