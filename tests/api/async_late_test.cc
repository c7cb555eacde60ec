// SPDX-License-Identifier: MIT
//
// Values that change between the call and the moment when the stream gets there, under all
// combinations of the stream's flags (specification 5.1, 5.3, 12.3 "UnfixedPaused").
#include "async_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

TEST(StreamRegistrationTest, FlagsAndRepetition) {
  TestStream stream;
  for (hipStream_t any : {hipStream_t(stream), hipStream_t(nullptr)}) {
    EXPECT_CODE(hipFileInvalidValue, hipFileStreamRegister(any, 0x10));
    EXPECT_CODE(hipFileInvalidValue, hipFileStreamDeregister(any));
    EXPECT_CODE(hipFileSuccess, hipFileStreamRegister(any, 0xf));
    EXPECT_CODE(hipFileInvalidValue, hipFileStreamRegister(any, 0));
    EXPECT_CODE(hipFileSuccess, hipFileStreamDeregister(any));
    EXPECT_CODE(hipFileInvalidValue, hipFileStreamDeregister(any));
    EXPECT_CODE(hipFileSuccess, hipFileStreamRegister(any, 0));
    EXPECT_CODE(hipFileSuccess, hipFileStreamDeregister(any));
  }
  EXPECT_EQ(0, hipFileUseCount());
}

TEST(StreamRegistrationTest, HandleThatIsNoStream) {
  int not_a_stream = 0;
  const hipFileError_t error =
      hipFileStreamRegister(reinterpret_cast<hipStream_t>(&not_a_stream), 0);
  EXPECT_EQ(hipFileHipDriverError, error.err);
  EXPECT_NE(hipSuccess, error.hip_drv_err);
  EXPECT_EQ(hipSuccess, hipPeekAtLastError());
}

TEST(StreamRegistrationTest, SurvivesTheClosingOfTheDriver) {
  TestStream stream;
  EXPECT_CODE(hipFileSuccess, hipFileStreamRegister(stream, 7));
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  EXPECT_CODE(hipFileInvalidValue, hipFileStreamRegister(stream, 7));
  EXPECT_CODE(hipFileSuccess, hipFileStreamDeregister(stream));
}

class LateTest : public ApiTest, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (!calls_are_queued()) GTEST_SKIP() << "calls block here";
    // Flags 0 behave as no registration, and the other way round: every second one is not made.
    if (GetParam() != 0) EXPECT_CODE(hipFileSuccess, hipFileStreamRegister(stream_, GetParam()));
  }
  void TearDown() override {
    if (calls_are_queued() && GetParam() != 0) {
      EXPECT_CODE(hipFileSuccess, hipFileStreamDeregister(stream_));
    }
    ApiTest::TearDown();
  }
  bool is_fixed(unsigned flag) const { return (GetParam() & flag) != 0; }

  TestStream stream_;
};

TEST_P(LateTest, ChangedValuesCountUnlessTheyAreFixed) {
  RegisteredFile f(file("f"), 9 * kMiB, 4);
  Buffer buffer(9 * kMiB);
  buffer.fill(0xee);
  AsyncCall call{3 * kMiB, 100, 200};
  {
    Pause pause(stream_);
    EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
    call.size = kMiB + 1;
    call.file_offset = 5000;
    call.buffer_offset = 300;
  }
  const size_t size = is_fixed(HIPFILE_STREAM_FIXED_FILE_SIZE) ? 3 * kMiB : kMiB + 1;
  const uint64_t from = is_fixed(HIPFILE_STREAM_FIXED_FILE_OFFSET) ? 100 : 5000;
  const size_t to = is_fixed(HIPFILE_STREAM_FIXED_BUF_OFFSET) ? 200 : 300;
  EXPECT_EQ(ssize_t(size), call.bytes);
  std::vector<uint8_t> expected(9 * kMiB, 0xee);
  fill_pattern(expected.data() + to, size, 4, from);
  EXPECT_EQ("", first_difference(buffer.get(), expected));
}

TEST_P(LateTest, ChangedValuesOfAWrite) {
  RegisteredFile f(file("f"), 9 * kMiB, 4);
  Buffer buffer(9 * kMiB);
  buffer.set(make_pattern(9 * kMiB, 9));
  AsyncCall call{3 * kMiB, 4096, 8192};
  {
    Pause pause(stream_);
    EXPECT_CODE(hipFileSuccess, call.write(f.handle(), buffer, stream_));
    call.size = kMiB;
    call.file_offset = 12288;
    call.buffer_offset = 4096;
  }
  const size_t size = is_fixed(HIPFILE_STREAM_FIXED_FILE_SIZE) ? 3 * kMiB : kMiB;
  const size_t to = is_fixed(HIPFILE_STREAM_FIXED_FILE_OFFSET) ? 4096 : 12288;
  const uint64_t from = is_fixed(HIPFILE_STREAM_FIXED_BUF_OFFSET) ? 8192 : 4096;
  EXPECT_EQ(ssize_t(size), call.bytes);
  std::vector<uint8_t> expected = make_pattern(9 * kMiB, 4);
  fill_pattern(expected.data() + to, size, 9, from);
  EXPECT_EQ("", first_difference(read_file(f.path()), expected));
}

TEST_P(LateTest, IncreasedSizeIsInvalid) {
  RegisteredFile f(file("f"), 8192, 4);
  Buffer buffer(8192);
  buffer.fill(0xee);
  AsyncCall read{4096};
  AsyncCall write{4096};
  {
    Pause pause(stream_);
    EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream_));
    EXPECT_CODE(hipFileSuccess, write.write(f.handle(), buffer, stream_));
    read.size = 4097;
    write.size = 4097;
  }
  const bool is_used = !is_fixed(HIPFILE_STREAM_FIXED_FILE_SIZE);
  EXPECT_EQ(is_used ? negated(hipFileInvalidValue) : 4096, read.bytes);
  EXPECT_EQ(is_used ? negated(hipFileInvalidValue) : 4096, write.bytes);
  if (is_used) {
    EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(8192, 0xee)));
  }
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(8192, 4)));
}

TEST_P(LateTest, ChangedBufferOffsetCanLeaveTheBuffer) {
  RegisteredFile f(file("f"), 8192, 4);
  Buffer buffer(8192);
  AsyncCall read{4096};
  AsyncCall write{4096};
  {
    Pause pause(stream_);
    EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream_));
    EXPECT_CODE(hipFileSuccess, write.write(f.handle(), buffer, stream_));
    read.buffer_offset = 4097;
    write.buffer_offset = 4097;
  }
  const bool is_used = !is_fixed(HIPFILE_STREAM_FIXED_BUF_OFFSET);
  EXPECT_EQ(is_used ? negated(hipFileInvalidValue) : 4096, read.bytes);
  EXPECT_EQ(is_used ? negated(hipFileInvalidValue) : 4096, write.bytes);
}

TEST_P(LateTest, NegativeLateOffsetsAreInvalid) {
  RegisteredFile f(file("f"), 8192, 4);
  Buffer buffer(8192);
  AsyncCall file_call{4096};
  AsyncCall buffer_call{4096};
  {
    Pause pause(stream_);
    EXPECT_CODE(hipFileSuccess, file_call.read(f.handle(), buffer, stream_));
    EXPECT_CODE(hipFileSuccess, buffer_call.write(f.handle(), buffer, stream_));
    file_call.file_offset = -1;
    buffer_call.buffer_offset = -5;
  }
  const bool has_file_offset = !is_fixed(HIPFILE_STREAM_FIXED_FILE_OFFSET);
  const bool has_buffer_offset = !is_fixed(HIPFILE_STREAM_FIXED_BUF_OFFSET);
  EXPECT_EQ(has_file_offset ? negated(hipFileInvalidValue) : 4096, file_call.bytes);
  EXPECT_EQ(has_buffer_offset ? negated(hipFileInvalidValue) : 4096, buffer_call.bytes);
}

TEST_P(LateTest, ShrinkingBelowTheStagingTouchesNothingBehind) {
  RegisteredFile f(file("f"), 24 * kMiB, 4);
  Buffer buffer(24 * kMiB);
  buffer.fill(0xee);
  AsyncCall call{24 * kMiB};
  {
    Pause pause(stream_);
    EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
    call.size = 5 * kMiB + 3;
  }
  const size_t size = is_fixed(HIPFILE_STREAM_FIXED_FILE_SIZE) ? 24 * kMiB : 5 * kMiB + 3;
  EXPECT_EQ(ssize_t(size), call.bytes);
  std::vector<uint8_t> expected(24 * kMiB, 0xee);
  fill_pattern(expected.data(), size, 4);
  EXPECT_EQ("", first_difference(buffer.get(), expected));
}

TEST_P(LateTest, LateSizeOfZeroMovesNothing) {
  RegisteredFile f(file("f"), 8192, 4);
  Buffer buffer(8192);
  buffer.fill(0xee);
  AsyncCall call{4096};
  {
    Pause pause(stream_);
    EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
    call.size = 0;
  }
  EXPECT_EQ(is_fixed(HIPFILE_STREAM_FIXED_FILE_SIZE) ? 4096 : 0, call.bytes);
}

TEST_P(LateTest, OperationsOfOneStreamRunOneAfterTheOther) {
  RegisteredFile f(file("f"), 0, 0);
  constexpr size_t kSize = 2 * kMiB;
  Buffer buffers[] = {Buffer(kSize), Buffer(kSize), Buffer(kSize), Buffer(kSize)};
  AsyncCall calls[4];
  for (size_t at = 0; at < 4; ++at) {
    buffers[at].set(make_pattern(kSize, 20 + at));
    calls[at].size = kSize;
    calls[at].file_offset = hoff_t(at * kMiB);
    EXPECT_CODE(hipFileSuccess, calls[at].write(f.handle(), buffers[at], stream_));
  }
  synchronize(stream_);
  std::vector<uint8_t> expected(5 * kMiB);
  for (size_t at = 0; at < 4; ++at) {
    EXPECT_EQ(ssize_t(kSize), calls[at].bytes);
    fill_pattern(expected.data() + at * kMiB, kSize, 20 + at);
  }
  EXPECT_EQ("", first_difference(read_file(f.path()), expected));
}

std::string flags_name(const testing::TestParamInfo<unsigned>& info) {
  return "Flags" + std::to_string(info.param);
}
INSTANTIATE_TEST_SUITE_P(Flags, LateTest, testing::Range(0u, 8u), flags_name);

}  // namespace
}  // namespace hipfile::test
