// SPDX-License-Identifier: MIT
//
// hipFileReadAsync and hipFileWriteAsync: what is refused when the call is made, and what a stream
// delivers (specification 5.2, 5.3, 12.3).
#include <chrono>
#include <thread>

#include "async_fixture.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

class AsyncTest : public ApiTest {
 protected:
  TestStream stream_;
};

TEST_F(AsyncTest, AllNullOpensTheLibraryAndFails) {
  EXPECT_CODE(hipFileInvalidValue,
              hipFileReadAsync(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(1, hipFileUseCount());
  close_library();
  EXPECT_CODE(hipFileInvalidValue,
              hipFileWriteAsync(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(1, hipFileUseCount());
}

TEST_F(AsyncTest, EachNullPointerIsInvalid) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  AsyncCall c;
  c.size = 4096;
  const auto h = f.handle();
  void* const b = buffer.data();
  for (const auto call : {&hipFileReadAsync, &hipFileWriteAsync}) {
    const auto invalid = [&](void* base, size_t* size, hoff_t* at, hoff_t* in, ssize_t* bytes) {
      EXPECT_CODE(hipFileInvalidValue, call(h, base, size, at, in, bytes, stream_));
    };
    invalid(nullptr, &c.size, &c.file_offset, &c.buffer_offset, &c.bytes);
    invalid(b, nullptr, &c.file_offset, &c.buffer_offset, &c.bytes);
    invalid(b, &c.size, nullptr, &c.buffer_offset, &c.bytes);
    invalid(b, &c.size, &c.file_offset, nullptr, &c.bytes);
    invalid(b, &c.size, &c.file_offset, &c.buffer_offset, nullptr);
  }
  EXPECT_EQ(4711, c.bytes);
}

TEST_F(AsyncTest, UnknownHandle) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  AsyncCall call{4096};
  EXPECT_CODE(hipFileHandleNotRegistered, call.read(&buffer, buffer, stream_));
  EXPECT_CODE(hipFileHandleNotRegistered, call.write(nullptr, buffer, stream_));
}

TEST_F(AsyncTest, ValuesOutsideTheBufferAreRefusedAtTheCall) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  for (const AsyncCall& wrong : {AsyncCall{8193}, AsyncCall{4096, -1}, AsyncCall{4096, 0, -1},
                                 AsyncCall{4096, 0, 8192}, AsyncCall{4096, 0, 4097}}) {
    AsyncCall call = wrong;
    EXPECT_CODE(hipFileInvalidValue, call.read(f.handle(), buffer, stream_));
    EXPECT_CODE(hipFileInvalidValue, call.write(f.handle(), buffer, stream_));
    EXPECT_EQ(4711, call.bytes);
  }
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(8192, 1)));
}

TEST_F(AsyncTest, ZeroSizeIsDoneAtOnce) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  AsyncCall call{0, 100000};
  EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
  EXPECT_EQ(0, call.bytes);
  call.bytes = 4711;
  EXPECT_CODE(hipFileSuccess, call.write(f.handle(), buffer, stream_));
  EXPECT_EQ(0, call.bytes);
  EXPECT_EQ(8192, file_size(f.path()));
}

TEST_F(AsyncTest, Rule12_CapturingStreamIsRefusedAndStaysWhole) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  buffer.fill(0xee);
  for (const auto mode :
       {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
    AsyncCall read{4096}, write{4096};
    ASSERT_EQ(hipSuccess, hipStreamBeginCapture(stream_, mode));
    EXPECT_CODE(hipFileAsyncNotSupported, read.read(f.handle(), buffer, stream_));
    EXPECT_CODE(hipFileAsyncNotSupported, write.write(f.handle(), buffer, stream_));
    EXPECT_CODE(hipFileSuccess, hipFileStreamRegister(stream_, 0));
    EXPECT_CODE(hipFileSuccess, hipFileStreamDeregister(stream_));
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    EXPECT_EQ(hipSuccess, hipStreamIsCapturing(stream_, &status));
    EXPECT_EQ(hipStreamCaptureStatusActive, status);
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hipSuccess, hipStreamEndCapture(stream_, &graph));
    EXPECT_EQ(hipSuccess, hipGraphDestroy(graph));
    synchronize(stream_);
    EXPECT_EQ(4711, read.bytes);
    EXPECT_EQ(4711, write.bytes);
  }
  EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(8192, 0xee)));
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(8192, 1)));
}

// What the library calls to bounce a request (a stream, an event, pinned memory) no graph could
// repeat: in the thread of a global capture, or any other, it would spoil it.
TEST_F(AsyncTest, Rule12_RequestsSpoilNoCapture) {
  RegisteredFile f(file("f"), kMiB, 1);
  Buffer buffer(kMiB);
  Buffer small(4096);
  const auto read = [&] {
    EXPECT_EQ(ssize_t(kMiB - 1), hipFileRead(f.handle(), buffer.data(), kMiB - 1, 1, 0));
  };
  for (const auto mode :
       {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
    ASSERT_EQ(hipSuccess, hipStreamBeginCapture(stream_, mode));
    read();
    std::thread(read).join();
    EXPECT_CODE(hipFileSuccess, hipFileBufRegister(small.data(), 4096, 0));
    EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(small.data()));
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hipSuccess, hipStreamEndCapture(stream_, &graph));
    EXPECT_EQ(hipSuccess, hipGraphDestroy(graph));
  }
}

// Before the call that waits for it the stream has a host function that changes the values.
TEST_F(AsyncTest, BlockingCallTakesTheValuesWhenTheStreamGetsThere) {
  if (calls_are_queued()) GTEST_SKIP() << "calls are queued here";
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  buffer.fill(0xee);
  AsyncCall call{4096};
  const auto change = [](void* context) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    auto* values = static_cast<AsyncCall*>(context);
    values->size = 1000;
    values->file_offset = 3;
    values->buffer_offset = 512;
  };
  EXPECT_EQ(hipSuccess, hipLaunchHostFunc(stream_, change, &call));
  EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
  EXPECT_EQ(1000, call.bytes);
  std::vector<uint8_t> expected(8192, 0xee);
  fill_pattern(expected.data() + 512, 1000, 1, 3);
  EXPECT_EQ("", first_difference(buffer.get(), expected));
}

TEST_F(AsyncTest, CountIsZeroUntilTheStreamGetsThere) {
  if (!calls_are_queued()) GTEST_SKIP() << "calls block here";
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  buffer.fill(0);
  AsyncCall call{8192};
  Pause pause(stream_);
  EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
  EXPECT_EQ(0, std::atomic_ref<ssize_t>(call.bytes).load());
  pause.open();
  synchronize(stream_);
  EXPECT_EQ(8192, call.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(8192, 1)));
}

TEST_F(AsyncTest, DeviceOfTheStreamMustBeThatOfTheBuffer) {
  int count = 0;
  ASSERT_EQ(hipSuccess, hipGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "one device only (HIP_PORTABLE_DEVICES=2 gives two)";
  RegisteredFile f(file("f"), 8192, 1);
  ASSERT_EQ(hipSuccess, hipSetDevice(1));
  Buffer other(8192);
  ASSERT_EQ(hipSuccess, hipSetDevice(0));
  AsyncCall call{4096};
  EXPECT_CODE(hipFileInvalidValue, call.read(f.handle(), other, stream_));
  EXPECT_CODE(hipFileInvalidValue, call.read(f.handle(), other, nullptr));
  ASSERT_EQ(hipSuccess, hipSetDevice(1));
  EXPECT_CODE(hipFileSuccess, call.read(f.handle(), other, nullptr));
  synchronize(nullptr);
  EXPECT_EQ(4096, call.bytes);
  EXPECT_EQ("", first_difference(other.get(0, 4096), make_pattern(4096, 1)));
  ASSERT_EQ(hipSuccess, hipSetDevice(0));
}

TEST_F(AsyncTest, ReadPastTheEndIsShortAndTouchesNothingBehind) {
  RegisteredFile f(file("f"), 5 * kMiB + 77, 3);
  Buffer buffer(16 * kMiB);
  for (const hoff_t at :
       {0, 1000, int(4 * kMiB), int(5 * kMiB), int(5 * kMiB + 77), int(6 * kMiB)}) {
    buffer.fill(0xee);
    AsyncCall call{8 * kMiB, at};
    EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
    synchronize(stream_);
    const ssize_t expected = std::max<ssize_t>(0, ssize_t(5 * kMiB + 77) - at);
    ASSERT_EQ(expected, call.bytes);
    std::vector<uint8_t> bytes(16 * kMiB, 0xee);
    fill_pattern(bytes.data(), size_t(expected), 3, uint64_t(at));
    EXPECT_EQ("", first_difference(buffer.get(), bytes)) << "from " << at;
  }
}

TEST_F(AsyncTest, WriteOnlyDescriptorFailsInTheCount) {
  write_file(file("f"), make_pattern(8192, 1));
  const Fd fd(file("f"), O_WRONLY);
  const hipFileHandle_t handle = register_fd(fd.get());
  Buffer buffer(8192);
  buffer.fill(0xee);
  AsyncCall call{100, 1};
  EXPECT_CODE(hipFileSuccess, call.read(handle, buffer, stream_));
  synchronize(stream_);
  EXPECT_EQ(-1, call.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(8192, 0xee)));
  EXPECT_EQ(hipSuccess, hipStreamQuery(stream_));
}

// Queued or blocking, a count tells the same of the same path.
TEST_F(AsyncTest, FailureOfTheDirectPathIsAnInternalErrorInTheCount) {
  if (has_kernel_rules()) GTEST_SKIP() << "whether the path is had, the kernel says when asked";
  write_file(file("f"), make_pattern(8192, 1));
  const Fd fd(file("f"), O_WRONLY);
  const hipFileHandle_t handle = register_fd(fd.get());
  Buffer buffer(8192);
  AsyncCall call{4096, 0};
  hipFileExtPath_t path{};
  EXPECT_CODE(hipFileSuccess, hipFileExtQueryPath(handle, buffer.data(), 4096, 0, 0,
                                                  hipFileBatchRead, &path));
  EXPECT_CODE(hipFileSuccess, call.read(handle, buffer, stream_));
  synchronize(stream_);
  const bool is_direct = path.backend == hipFileExtBackendFastpath;
  EXPECT_EQ(is_direct ? -hipFileInternalError : -1, call.bytes);
}

TEST_F(AsyncTest, AppendingDescriptorIsRefused) {
  RegisteredFile f(file("f"), 8192, 1, O_RDWR | O_APPEND);
  Buffer buffer(8192);
  AsyncCall call{100, 1};
  EXPECT_CODE(hipFileInvalidFileOpenFlag, call.write(f.handle(), buffer, stream_));
}

TEST_F(AsyncTest, WriteThenReadOnOneStreamGivesTheWrittenBytes) {
  RegisteredFile f(file("f"), 0, 0);
  constexpr size_t kSize = 3 * kMiB + 5;
  Buffer from(kSize);
  Buffer to(kSize);
  from.set(make_pattern(kSize, 8));
  to.fill(0);
  AsyncCall write{kSize, 77};
  AsyncCall read{kSize, 77};
  EXPECT_CODE(hipFileSuccess, write.write(f.handle(), from, stream_));
  EXPECT_CODE(hipFileSuccess, read.read(f.handle(), to, stream_));
  synchronize(stream_);
  EXPECT_EQ(ssize_t(kSize), write.bytes);
  EXPECT_EQ(ssize_t(kSize), read.bytes);
  EXPECT_EQ("", first_difference(to.get(), make_pattern(kSize, 8)));
}

TEST_F(AsyncTest, WorkOfTheProgramIsOrderedAround) {
  RegisteredFile f(file("f"), 0, 0);
  Buffer buffer(4 * kMiB);
  buffer.fill(0);
  AsyncCall write{4 * kMiB};
  ASSERT_EQ(hipSuccess, hipMemsetAsync(buffer.data(), 0x5a, 4 * kMiB, stream_));
  EXPECT_CODE(hipFileSuccess, write.write(f.handle(), buffer, stream_));
  ASSERT_EQ(hipSuccess, hipMemsetAsync(buffer.data(), 0x11, 4 * kMiB, stream_));
  synchronize(stream_);
  EXPECT_EQ(ssize_t(4 * kMiB), write.bytes);
  EXPECT_EQ("", first_difference(read_file(f.path()), std::vector<uint8_t>(4 * kMiB, 0x5a)));
}

// ---- Every memory, with and without the caller's own O_DIRECT.

class AsyncIoTest : public IoTest {
 protected:
  TestStream stream_;
};

TEST_P(AsyncIoTest, SizesAndOffsets) {
  RegisteredFile f(file("f"), 9 * kMiB, 5, O_RDWR | direct_flag());
  Buffer buffer(9 * kMiB, kind());
  const struct {
    size_t size;
    hoff_t file_offset, buffer_offset;
  } cases[] = {{1, 0, 0},           {4096, 4096, 8192}, {4095, 1, 3},        {65536, 512, 0},
               {70000, 4095, 4097}, {kMiB, 4096, 0},    {8 * kMiB, 0, 4096}, {8 * kMiB - 1, 3, 5}};
  for (const auto& c : cases) {
    buffer.fill(0xee);
    AsyncCall read{c.size, c.file_offset, c.buffer_offset};
    EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream_));
    synchronize(stream_);
    ASSERT_EQ(ssize_t(c.size), read.bytes);
    std::vector<uint8_t> expected(9 * kMiB, 0xee);
    fill_pattern(expected.data() + c.buffer_offset, c.size, 5, uint64_t(c.file_offset));
    ASSERT_EQ("", first_difference(buffer.get(), expected)) << "read of " << c.size;

    buffer.set(make_pattern(9 * kMiB, 6));
    AsyncCall write{c.size, c.file_offset, c.buffer_offset};
    EXPECT_CODE(hipFileSuccess, write.write(f.handle(), buffer, stream_));
    synchronize(stream_);
    ASSERT_EQ(ssize_t(c.size), write.bytes);
    expected = make_pattern(9 * kMiB, 5);
    fill_pattern(expected.data() + c.file_offset, c.size, 6, uint64_t(c.buffer_offset));
    ASSERT_EQ("", first_difference(read_file(f.path()), expected)) << "write of " << c.size;
    write_file(f.path(), make_pattern(9 * kMiB, 5));
  }
}

TEST_P(AsyncIoTest, LargerThanTheStaging) {
  constexpr size_t kSize = 40 * kMiB + 4096;
  RegisteredFile f(file("f"), kSize, 7, O_RDWR | direct_flag());
  Buffer buffer(kSize, kind());
  buffer.fill(0xee);
  AsyncCall read{kSize};
  EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream_));
  synchronize(stream_);
  ASSERT_EQ(ssize_t(kSize), read.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(kSize, 7)));
  RegisteredFile g(file("g"), 0, 0, O_RDWR | direct_flag());
  AsyncCall write{kSize};
  EXPECT_CODE(hipFileSuccess, write.write(g.handle(), buffer, stream_));
  synchronize(stream_);
  ASSERT_EQ(ssize_t(kSize), write.bytes);
  EXPECT_EQ("", first_difference(read_file(g.path()), make_pattern(kSize, 7)));
}

INSTANTIATE_TEST_SUITE_P(Io, AsyncIoTest, kEveryIo, io_param_name);

}  // namespace
}  // namespace hipfile::test
