// SPDX-License-Identifier: MIT
//
// Operations whose values stay as they are, under all combinations of the stream's flags and on
// each backend; requests of many pieces through host memory (specification 12.3).
#include "async_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kPage = 4096;
constexpr unsigned kAllFixed = HIPFILE_STREAM_FIXED_BUF_OFFSET | HIPFILE_STREAM_FIXED_FILE_OFFSET |
                               HIPFILE_STREAM_FIXED_FILE_SIZE;

// Reads and then writes one region of a file, each byte beside it being watched.
class RegionTest : public ApiTest {
 protected:
  void expect_moved(size_t size, hoff_t file_offset, hoff_t buffer_offset) {
    expect_read(size, file_offset, buffer_offset);
    expect_written(size, file_offset, buffer_offset);
  }

  void expect_read(size_t size, hoff_t file_offset, hoff_t buffer_offset) {
    RegisteredFile f(file("read"), kWhole, 1, O_RDWR | direct_flag_of(dir_.path()));
    Buffer buffer(kWhole);
    buffer.fill(0xee);
    AsyncCall call{size, file_offset, buffer_offset};
    EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
    synchronize(stream_);
    EXPECT_EQ(ssize_t(size), call.bytes);
    std::vector<uint8_t> expected(kWhole, 0xee);
    fill_pattern(expected.data() + buffer_offset, size, 1, uint64_t(file_offset));
    EXPECT_EQ("", first_difference(buffer.get(), expected));
    hipFileHandleDeregister(f.handle());
  }

  void expect_written(size_t size, hoff_t file_offset, hoff_t buffer_offset) {
    RegisteredFile f(file("written"), kWhole, 1, O_RDWR | direct_flag_of(dir_.path()));
    Buffer buffer(kWhole);
    buffer.set(make_pattern(kWhole, 2));
    AsyncCall call{size, file_offset, buffer_offset};
    EXPECT_CODE(hipFileSuccess, call.write(f.handle(), buffer, stream_));
    synchronize(stream_);
    EXPECT_EQ(ssize_t(size), call.bytes);
    std::vector<uint8_t> expected = make_pattern(kWhole, 1);
    fill_pattern(expected.data() + file_offset, size, 2, uint64_t(buffer_offset));
    EXPECT_EQ("", first_difference(read_file(f.path()), expected));
    hipFileHandleDeregister(f.handle());
  }

  static constexpr size_t kWhole = kMiB + 4 * kPage;
  TestStream stream_;
};

// ---- Every combination of flags.

class FlagsTest : public RegionTest, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    RegionTest::SetUp();
    EXPECT_CODE(hipFileSuccess, hipFileStreamRegister(stream_, GetParam()));
  }
  void TearDown() override {
    EXPECT_CODE(hipFileSuccess, hipFileStreamDeregister(stream_));
    RegionTest::TearDown();
  }
};

TEST_P(FlagsTest, ZeroOffsets) { expect_moved(kMiB, 0, 0); }
TEST_P(FlagsTest, SizeOffTheAlignment) { expect_moved(kMiB - 1, 0, 0); }
TEST_P(FlagsTest, FileOffsetAndSizeOffTheAlignment) { expect_moved(kMiB - 1, 77, 0); }
TEST_P(FlagsTest, BufferOffsetAndSizeOffTheAlignment) { expect_moved(kMiB - 1, 0, 77); }
TEST_P(FlagsTest, ZeroSize) { expect_moved(0, 0, 0); }

TEST_P(FlagsTest, ReadPastTheEndIsShort) {
  RegisteredFile f(file("f"), 3 * kPage + 5, 1);
  Buffer buffer(4 * kPage);
  AsyncCall call{3 * kPage, kPage};
  EXPECT_CODE(hipFileSuccess, call.read(f.handle(), buffer, stream_));
  synchronize(stream_);
  EXPECT_EQ(ssize_t(2 * kPage + 5), call.bytes);
  EXPECT_EQ("",
            first_difference(buffer.get(0, 2 * kPage + 5), make_pattern(2 * kPage + 5, 1, kPage)));
}

// Each lies over half of the one before, so the order shows.
TEST_P(FlagsTest, ReadsOfOneStreamRunOneAfterTheOther) {
  RegisteredFile f(file("f"), 5 * kMiB, 1);
  Buffer buffer(5 * kMiB);
  AsyncCall calls[4];
  std::vector<uint8_t> expected(5 * kMiB);
  for (size_t at = 0; at < 4; ++at) {
    calls[at] = {2 * kMiB, hoff_t((3 - at) * kMiB), hoff_t(at * kMiB)};
    EXPECT_CODE(hipFileSuccess, calls[at].read(f.handle(), buffer, stream_));
    fill_pattern(expected.data() + at * kMiB, 2 * kMiB, 1, (3 - at) * kMiB);
  }
  synchronize(stream_);
  for (const AsyncCall& call : calls) EXPECT_EQ(ssize_t(2 * kMiB), call.bytes);
  EXPECT_EQ("", first_difference(buffer.get(), expected));
}

INSTANTIATE_TEST_SUITE_P(All, FlagsTest, testing::Range(0u, kAllFixed + 1),
                         [](const auto& flags) { return std::to_string(flags.param); });

// ---- Each backend, and no other.

class BackendForcedTest : public RegionTest,
                          public testing::WithParamInterface<hipFileExtBackend_t> {
 protected:
  void SetUp() override {
    RegionTest::SetUp();
    const bool is_bounce = GetParam() == hipFileExtBackendBounce;
    EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamForceCompatMode, is_bounce));
    EXPECT_CODE(hipFileSuccess,
                hipFileSetParameterBool(hipFileParamPropertiesAllowCompatMode, is_bounce));
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
    if (!is_taken()) GTEST_SKIP() << "no fast path here";
  }

  bool is_taken() {
    RegisteredFile f(file("asked"), kPage, 1, O_RDWR | direct_flag_of(dir_.path()));
    Buffer buffer(kPage);
    hipFileExtPath_t path{};
    EXPECT_CODE(hipFileSuccess, hipFileExtQueryPath(f.handle(), buffer.data(), kPage, 0, 0,
                                                    hipFileBatchRead, &path));
    // A backend may be offered and not be had: the kernel knows when it is asked.
    const bool moves = hipFileRead(f.handle(), buffer.data(), kPage, 0, 0) == ssize_t(kPage);
    hipFileHandleDeregister(f.handle());
    return path.backend == GetParam() && moves;
  }
};

TEST_P(BackendForcedTest, ZeroOffsets) { expect_moved(kMiB, 0, 0); }
TEST_P(BackendForcedTest, BufferOffsetOnTheAlignment) { expect_moved(kMiB, 0, 2 * kPage); }
TEST_P(BackendForcedTest, FileOffsetOnTheAlignment) { expect_moved(kMiB, 3 * kPage, 0); }

INSTANTIATE_TEST_SUITE_P(Each, BackendForcedTest,
                         testing::Values(hipFileExtBackendFastpath, hipFileExtBackendBounce),
                         [](const auto& one) { return hipFileExtBackendName(one.param); });

// ---- Requests of many pieces, through host memory.

class ManyPiecesTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamForceCompatMode, true));
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  }
  TestStream stream_;
};

TEST_F(ManyPiecesTest, LargeRequestIsWhole) {
  constexpr size_t kSize = 64 * kMiB;
  RegisteredFile from(file("from"), kSize, 1);
  RegisteredFile to(file("to"), 0, 0);
  Buffer buffer(kSize);
  AsyncCall read{kSize}, write{kSize};
  EXPECT_CODE(hipFileSuccess, read.read(from.handle(), buffer, stream_));
  EXPECT_CODE(hipFileSuccess, write.write(to.handle(), buffer, stream_));
  synchronize(stream_);
  EXPECT_EQ(ssize_t(kSize), read.bytes);
  EXPECT_EQ(ssize_t(kSize), write.bytes);
  EXPECT_EQ("", first_difference(read_file(to.path()), make_pattern(kSize, 1)));
}

TEST_F(ManyPiecesTest, RequestThatShrinksMovesWhatIsLeft) {
  if (!calls_are_queued()) GTEST_SKIP() << "calls block here";
  constexpr size_t kSize = 24 * kMiB;
  constexpr size_t kLeft = kMiB + 5;
  RegisteredFile f(file("f"), kSize, 1);
  Buffer buffer(kSize);
  buffer.fill(0xee);
  AsyncCall read{kSize}, write{kSize, hoff_t(kSize)};
  {
    Pause pause(stream_);
    EXPECT_CODE(hipFileSuccess, read.read(f.handle(), buffer, stream_));
    EXPECT_CODE(hipFileSuccess, write.write(f.handle(), buffer, stream_));
    read.size = kLeft;
    write.size = kLeft + 1;
  }
  EXPECT_EQ(ssize_t(kLeft), read.bytes);
  EXPECT_EQ(ssize_t(kLeft + 1), write.bytes);
  std::vector<uint8_t> expected(kSize, 0xee);
  fill_pattern(expected.data(), kLeft, 1);
  EXPECT_EQ("", first_difference(buffer.get(), expected));
  std::vector<uint8_t> bytes = make_pattern(kSize, 1);
  bytes.insert(bytes.end(), expected.begin(), expected.begin() + kLeft + 1);
  EXPECT_EQ("", first_difference(read_file(f.path()), bytes));
}

}  // namespace
}  // namespace hipfile::test
