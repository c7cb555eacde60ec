// SPDX-License-Identifier: MIT
// Files in virtual memory: one range of addresses over the memory of several handles is one buffer.
#include "api_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kPart = 2 << 20;  // the granularity
constexpr size_t kParts = 4;
constexpr size_t kSize = kParts * kPart;

// Reserved addresses with memory of its own behind each part but the last.
class VirtualRange {
 public:
  explicit VirtualRange(hipMemAccessFlags access = hipMemAccessFlagsProtReadWrite) {
    hipMemAllocationProp properties = {};
    properties.type = hipMemAllocationTypePinned;
    properties.location = {hipMemLocationTypeDevice, 0};
    EXPECT_EQ(hipSuccess, hipMemAddressReserve(&start_, kSize + kPart, 0, nullptr, 0));
    for (size_t part = 0; part < kParts; ++part) {
      hipMemGenericAllocationHandle_t handle = nullptr;
      EXPECT_EQ(hipSuccess, hipMemCreate(&handle, kPart, &properties, 0));
      EXPECT_EQ(hipSuccess, hipMemMap(at(part * kPart), kPart, 0, handle, 0));
      EXPECT_EQ(hipSuccess, hipMemRelease(handle));
    }
    allow(access);
  }
  ~VirtualRange() {
    EXPECT_EQ(hipSuccess, hipMemUnmap(start_, kSize));
    EXPECT_EQ(hipSuccess, hipMemAddressFree(start_, kSize + kPart));
  }
  VirtualRange(const VirtualRange&) = delete;
  VirtualRange& operator=(const VirtualRange&) = delete;

  void* data() const { return start_; }
  void* at(size_t offset) const { return static_cast<uint8_t*>(start_) + offset; }

  void allow(hipMemAccessFlags access) const {
    const hipMemAccessDesc all = {{hipMemLocationTypeDevice, 0}, access};
    EXPECT_EQ(hipSuccess, hipMemSetAccess(start_, kSize, &all, 1));
  }
  void set(const std::vector<uint8_t>& bytes, size_t offset = 0) const {
    EXPECT_EQ(hipSuccess, hipMemcpy(at(offset), bytes.data(), bytes.size(), hipMemcpyDefault));
  }
  std::vector<uint8_t> get(size_t offset, size_t size) const {
    std::vector<uint8_t> bytes(size);
    EXPECT_EQ(hipSuccess, hipMemcpy(bytes.data(), at(offset), size, hipMemcpyDefault));
    return bytes;
  }

 private:
  void* start_ = nullptr;
};

class VirtualMemoryTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    void* start = nullptr;
    if (hipMemAddressReserve(&start, kPart, 0, nullptr, 0) == hipErrorNotSupported) {
      GTEST_SKIP() << "the device has no virtual memory";
    }
    EXPECT_EQ(hipSuccess, hipMemAddressFree(start, kPart));
  }
};

TEST_F(VirtualMemoryTest, ReadAndWriteCrossTheBordersOfHandles) {
  for (const bool is_registered : {false, true}) {
    VirtualRange memory;
    if (is_registered) {
      EXPECT_CODE(hipFileSuccess, hipFileBufRegister(memory.data(), kSize, 0));
    }
    RegisteredFile from(file("from"), kSize, 1);
    RegisteredFile to(file("to"), 0, 0);
    EXPECT_EQ(ssize_t{kSize}, hipFileRead(from.handle(), memory.data(), kSize, 0, 0));
    EXPECT_EQ("", first_difference(memory.get(0, kSize), make_pattern(kSize, 1)));
    EXPECT_EQ(ssize_t{kSize}, hipFileWrite(to.handle(), memory.data(), kSize, 0, 0));
    EXPECT_EQ("", first_difference(read_file(to.path()), make_pattern(kSize, 1)));
    if (is_registered) {
      EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(memory.data()));
    }
  }
}

TEST_F(VirtualMemoryTest, UnalignedPiecesCrossTheBordersToo) {
  VirtualRange memory;
  RegisteredFile f(file("f"), kSize, 1);
  constexpr size_t kPiece = kPart + 12345;
  memory.set(std::vector<uint8_t>(kSize, 0xee));
  EXPECT_EQ(ssize_t{kPiece}, hipFileRead(f.handle(), memory.data(), kPiece, 777, kPart - 5));
  EXPECT_EQ("", first_difference(memory.get(kPart - 5, kPiece), make_pattern(kPiece, 1, 777)));
  EXPECT_EQ(std::vector<uint8_t>(100, 0xee), memory.get(kPart - 105, 100));
  EXPECT_EQ(std::vector<uint8_t>(100, 0xee), memory.get(kPart - 5 + kPiece, 100));
  EXPECT_EQ(ssize_t{kPiece}, hipFileWrite(f.handle(), memory.data(), kPiece, 3, kPart - 5));
  std::vector<uint8_t> expected = make_pattern(kSize, 1);
  fill_pattern(expected.data() + 3, kPiece, 1, 777);
  EXPECT_EQ("", first_difference(read_file(f.path()), expected));
}

TEST_F(VirtualMemoryTest, BufferEndsWhereNothingIsMapped) {
  VirtualRange memory;
  RegisteredFile f(file("f"), kSize + kPart, 1);
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), memory.data(), kSize + 1, 0, 0));
  EXPECT_NE(hipFileSuccess, hipFileBufRegister(memory.data(), kSize + kPart, 0).err);
  EXPECT_NE(hipFileSuccess, hipFileBufRegister(memory.at(kSize), kPart, 0).err);
  EXPECT_GT(0, hipFileRead(f.handle(), memory.at(kSize), 4096, 0, 0));
}

TEST_F(VirtualMemoryTest, AccessIsAsked) {
  VirtualRange memory;
  memory.set(make_pattern(kSize, 2));
  memory.allow(hipMemAccessFlagsProtRead);
  RegisteredFile f(file("f"), kSize, 1);
  EXPECT_GT(0, hipFileRead(f.handle(), memory.data(), kPart, 0, kPart / 2));
  EXPECT_EQ("", first_difference(memory.get(0, kSize), make_pattern(kSize, 2)));
  EXPECT_EQ(ssize_t{kPart}, hipFileWrite(f.handle(), memory.data(), kPart, 0, kPart / 2));
  std::vector<uint8_t> expected = make_pattern(kSize, 1);
  fill_pattern(expected.data(), kPart, 2, kPart / 2);
  EXPECT_EQ("", first_difference(read_file(f.path()), expected));
}

TEST_F(VirtualMemoryTest, OtherMemoryBehindTheSameAddressIsUsed) {
  RegisteredFile f(file("f"), kSize, 1);
  VirtualRange memory;
  EXPECT_EQ(ssize_t{kSize}, hipFileRead(f.handle(), memory.data(), kSize, 0, 0));
  EXPECT_EQ(hipSuccess, hipMemUnmap(memory.at(kPart), kPart));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), memory.data(), kSize, 0, 0));
  hipMemAllocationProp properties = {};
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  hipMemGenericAllocationHandle_t handle = nullptr;
  ASSERT_EQ(hipSuccess, hipMemCreate(&handle, kPart, &properties, 0));
  EXPECT_EQ(hipSuccess, hipMemMap(memory.at(kPart), kPart, 0, handle, 0));
  EXPECT_EQ(hipSuccess, hipMemRelease(handle));
  memory.allow(hipMemAccessFlagsProtReadWrite);
  memory.set(std::vector<uint8_t>(kPart), kPart);
  EXPECT_EQ(ssize_t{kSize}, hipFileRead(f.handle(), memory.data(), kSize, 0, 0));
  EXPECT_EQ("", first_difference(memory.get(0, kSize), make_pattern(kSize, 1)));
}

}  // namespace
}  // namespace hipfile::test
