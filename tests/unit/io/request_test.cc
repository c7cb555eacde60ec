// SPDX-License-Identifier: MIT
//
// Validation by table: io/request does no I/O, so every row is a call.
#include "io/request.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace hipfile {
namespace {

constexpr off_t kLargest = std::numeric_limits<off_t>::max();

class RequestTest : public ::testing::Test {
 protected:
  RequestTest() : stream_(std::tmpfile()), file_(File::open(fileno(stream_))) {}
  ~RequestTest() override { std::fclose(stream_); }

  Result<Request> make(size_t size, off_t file_offset, off_t buffer_offset, size_t length,
                       Direction direction = Direction::kRead) {
    memory_.base = base_;
    memory_.length = length;
    return make_request({base_, size, file_offset, buffer_offset, direction}, *file_.value(),
                        memory_);
  }

  char base_[16] = {};
  std::FILE* stream_;
  Result<std::unique_ptr<File>> file_;
  Memory memory_;
};

TEST_F(RequestTest, NullBaseIsInvalidValue) {
  const Status status = check_arguments({nullptr, 1, 0, 0, Direction::kRead});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, hipFileInvalidValue);
}

TEST_F(RequestTest, NegativeOffsetsAreEinval) {
  for (const Arguments& arguments : {Arguments{base_, 1, -1, 0, Direction::kRead},
                                     Arguments{base_, 1, 0, -1, Direction::kWrite}}) {
    const Status status = check_arguments(arguments);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().sys_errno, EINVAL);
  }
}

TEST_F(RequestTest, RangeInsideTheMemoryIsAccepted) {
  const Result<Request> request = make(100, 4096, 28, 128);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().address, base_ + 28);
  EXPECT_EQ(request.value().size, 100u);
  EXPECT_EQ(request.value().file_offset, 4096);
}

TEST_F(RequestTest, RangePastTheMemoryIsInvalidValue) {
  struct Row {
    size_t size;
    off_t offset;
    size_t length;
  };
  for (const Row& row :
       {Row{129, 0, 128}, Row{1, 128, 128}, Row{0, 128, 128}, Row{1, 129, 128},
        Row{SIZE_MAX, 1, 128}, Row{1, kLargest, 128}, Row{SIZE_MAX, 0, SIZE_MAX}}) {
    const Result<Request> request = make(row.size, 0, row.offset, row.length);
    ASSERT_FALSE(request.ok()) << row.size << " at " << row.offset;
    EXPECT_EQ(request.error().code, hipFileInvalidValue);
  }
}

TEST_F(RequestTest, SizeIsCappedAfterTheRangeCheck) {
  const size_t beyond = kMaxTransfer + 1;
  EXPECT_FALSE(make(beyond, 0, 0, kMaxTransfer).ok());
  const Result<Request> request = make(beyond, 0, 0, beyond);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().size, kMaxTransfer);
}

TEST_F(RequestTest, FileRangeEndsAtTheLargestOffset) {
  const Result<Request> request = make(100, kLargest - 10, 0, 128);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().size, 10u);
  const Result<Request> write = make(1, kLargest, 0, 128, Direction::kWrite);
  ASSERT_FALSE(write.ok());
  EXPECT_EQ(write.error().sys_errno, EFBIG);
}

TEST(Split, CutsAtMultiplesOfTheAlignment) {
  const Split split = split_at(100, 10000, 4096);
  EXPECT_EQ(split.middle_begin, 4096);
  EXPECT_EQ(split.middle_end, 8192);
  EXPECT_TRUE(split.has_middle());
  EXPECT_TRUE(split.has_edges());
}

TEST(Split, AlignedRangeHasNoEdges) { EXPECT_FALSE(split_at(4096, 8192, 4096).has_edges()); }

TEST(Split, RangeInsideOneBlockHasNoMiddle) { EXPECT_FALSE(split_at(1, 4097, 4096).has_middle()); }

TEST(Join, CountsOnlyWithoutAGap) {
  const Split split = {100, 4096, 8192, 10000};
  const Outcome head = Outcome::moved(3996);
  const Outcome middle = Outcome::moved(4096);
  const Outcome tail = Outcome::moved(1808);
  EXPECT_EQ(join(split, head, middle, tail).done, 9900u);
  EXPECT_EQ(join(split, Outcome::moved(10), middle, tail).done, 10u);
  EXPECT_EQ(join(split, head, Outcome::moved(512), tail).done, 3996u + 512u);
  const Outcome failed = join(split, Outcome::failure(Error::from_errno(EIO)), middle, tail);
  EXPECT_EQ(failed.done, 0u);
  EXPECT_EQ(failed.error.sys_errno, EIO);
}

}  // namespace
}  // namespace hipfile
