// SPDX-License-Identifier: MIT
//
// Memory of every kind: what it is, a pointer into its middle, and files read into it and written
// from it, by calls, in a stream and in a batch.
#include "memory_kinds.h"

#include <optional>

#include "async_fixture.h"
#include "batch_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kPiece = (3 << 20) + 77;
constexpr hoff_t kFileOffset = 4099;
constexpr uint8_t kAround = 0xee;
constexpr size_t kGuard = 4096;  // of memory on either side of what is moved

class MemoryKindTest : public BatchTest, public testing::WithParamInterface<KindOfMemory> {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    GetParam().make(memory_);
    if (memory_.data == nullptr) GTEST_SKIP() << memory_.reason;
    EXPECT_EQ(hipSuccess, hipMemset(memory_.data, kAround, memory_.size));
    EXPECT_EQ(hipSuccess, hipDeviceSynchronize());
    middle_ = memory_.size / 2 - kPiece / 2 - 5;
    from_.emplace(file("from"), kFileOffset + kPiece, 3);
    to_.emplace(file("to"), 0, 0);
  }

  std::vector<uint8_t> contents(size_t offset, size_t size) const {
    std::vector<uint8_t> bytes(size);
    EXPECT_EQ(hipSuccess, hipMemcpy(bytes.data(), memory_.at(offset), size, hipMemcpyDefault));
    return bytes;
  }

  // The piece, and around it what was there.
  void expect_read() const {
    const std::vector<uint8_t> around(kGuard, kAround);
    EXPECT_EQ("", first_difference(contents(middle_, kPiece), expected_piece()));
    EXPECT_EQ("", first_difference(contents(middle_ - kGuard, kGuard), around));
    EXPECT_EQ("", first_difference(contents(middle_ + kPiece, kGuard), around));
  }
  static void expect_written(const RegisteredFile& file) {
    EXPECT_EQ("", first_difference(read_file(file.path()), expected_piece()));
  }
  static std::vector<uint8_t> expected_piece() { return make_pattern(kPiece, 3, kFileOffset); }

  // By calls, `offset` of the buffer that begins at `base`.
  void read_and_write(void* base, hoff_t offset) {
    EXPECT_EQ(ssize_t{kPiece}, hipFileRead(from_->handle(), base, kPiece, kFileOffset, offset));
    expect_read();
    EXPECT_EQ(ssize_t{kPiece}, hipFileWrite(to_->handle(), base, kPiece, 0, offset));
    expect_written(*to_);
  }

  hoff_t buffer_offset() const { return static_cast<hoff_t>(middle_); }

  Memory memory_;
  size_t middle_ = 0;
  std::optional<RegisteredFile> from_, to_;
};

TEST_P(MemoryKindTest, IsRecognisedWhereverAPointerPoints) {
  for (const size_t offset : {size_t{0}, middle_, memory_.size - 1}) {
    hipPointerAttribute_t attributes = {};
    ASSERT_EQ(hipSuccess, hipPointerGetAttributes(&attributes, memory_.at(offset)));
    EXPECT_EQ(memory_.type, attributes.type) << offset;
    EXPECT_EQ(0, attributes.device) << offset;
    EXPECT_EQ(memory_.at(offset), attributes.devicePointer) << offset;
  }
}

TEST_P(MemoryKindTest, PointerIntoTheMiddleGivesTheWholeRange) {
  for (const size_t offset : {size_t{0}, middle_, memory_.size - 1}) {
    hipDeviceptr_t base = nullptr;
    size_t size = 0;
    const hipError_t error = hipMemGetAddressRange(&base, &size, memory_.at(offset));
    if (!memory_.is_range_known && error != hipSuccess) {
      EXPECT_EQ(hipErrorNotFound, error);
      (void)hipGetLastError();
      continue;
    }
    ASSERT_EQ(hipSuccess, error);
    EXPECT_EQ(memory_.data, base) << offset;
    EXPECT_EQ(memory_.size, size) << offset;
  }
}

TEST_P(MemoryKindTest, ReadsAndWrites) { read_and_write(memory_.data, buffer_offset()); }

TEST_P(MemoryKindTest, ReadsAndWritesByAPointerIntoTheMiddle) {
  read_and_write(memory_.at(middle_), 0);
}

TEST_P(MemoryKindTest, ReadsAndWritesWhenRegistered) {
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(memory_.data, memory_.size, 0));
  read_and_write(memory_.data, buffer_offset());
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(memory_.data));
}

TEST_P(MemoryKindTest, ReadsAndWritesWhenItsMiddleIsRegistered) {
  const size_t before = 1 << 20;
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(memory_.at(middle_ - before), before + kPiece, 0));
  read_and_write(memory_.at(middle_ - before), before);
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(memory_.at(middle_ - before)));
}

TEST_P(MemoryKindTest, NothingIsReadBeyondItsEnd) {
  if (!memory_.is_range_known) return;
  const auto last = static_cast<hoff_t>(memory_.size - kPiece);
  EXPECT_EQ(negated(hipFileInvalidValue),
            hipFileRead(from_->handle(), memory_.data, kPiece, kFileOffset, last + 1));
  EXPECT_NE(hipFileSuccess, hipFileBufRegister(memory_.at(1), memory_.size, 0).err);
  EXPECT_EQ(ssize_t{kPiece}, hipFileRead(from_->handle(), memory_.data, kPiece, kFileOffset, last));
}

TEST_P(MemoryKindTest, ReadsAndWritesInAStream) {
  const TestStream stream;
  AsyncCall read{kPiece, kFileOffset, buffer_offset()}, write{kPiece, 0, buffer_offset()};
  EXPECT_CODE(hipFileSuccess,
              hipFileReadAsync(from_->handle(), memory_.data, &read.size, &read.file_offset,
                               &read.buffer_offset, &read.bytes, stream));
  EXPECT_CODE(hipFileSuccess,
              hipFileWriteAsync(to_->handle(), memory_.data, &write.size, &write.file_offset,
                                &write.buffer_offset, &write.bytes, stream));
  synchronize(stream);
  EXPECT_EQ(ssize_t{kPiece}, read.bytes);
  EXPECT_EQ(ssize_t{kPiece}, write.bytes);
  expect_read();
  expect_written(*to_);
}

TEST_P(MemoryKindTest, ReadsAndWritesInABatch) {
  set_up(1);
  EXPECT_CODE(hipFileSuccess, submit({request(hipFileBatchRead, from_->handle(), memory_.data,
                                              kPiece, kFileOffset, buffer_offset())}));
  EXPECT_EQ(kPiece, collect(1, 1)[1].ret);
  expect_read();
  EXPECT_CODE(hipFileSuccess, submit({request(hipFileBatchWrite, to_->handle(), memory_.data,
                                              kPiece, 0, buffer_offset())}));
  EXPECT_EQ(kPiece, collect(1, 1)[1].ret);
  expect_written(*to_);
}

INSTANTIATE_TEST_SUITE_P(, MemoryKindTest, testing::ValuesIn(memory_kinds()),
                         [](const auto& it) { return it.param.name; });

}  // namespace
}  // namespace hipfile::test

int main(int argc, char** argv) {
  int status = 0;
  if (hipfile::test::lends_memory(argc, argv, &status)) return status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
