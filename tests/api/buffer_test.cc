// SPDX-License-Identifier: MIT
// Registering and deregistering memory: every row of the tables, for every kind of memory.
#include <cstdint>
#include <limits>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kHuge = std::numeric_limits<size_t>::max();

class BufferTest : public ApiTest {};

class AnyMemoryTest : public ApiTest, public testing::WithParamInterface<MemoryKind> {};

TEST_P(AnyMemoryTest, WholeAllocationIsAccepted) {
  Buffer buffer(4096, GetParam());
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 4096, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
}

TEST_P(AnyMemoryTest, InnerPointerIsAccepted) {
  Buffer buffer(8192, GetParam());
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.at(4096), 4096, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.at(4096)));
}

TEST_P(AnyMemoryTest, LengthThatOverflowsIsARangeError) {
  Buffer buffer(4096, GetParam());
  EXPECT_CODE(hipFileHipPointerRangeError, hipFileBufRegister(buffer.data(), kHuge, 0));
  EXPECT_EQ(1, hipFileUseCount());
}

TEST_P(AnyMemoryTest, SameBaseTwiceIsAlreadyRegistered) {
  Buffer buffer(4096, GetParam());
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 4096, 0));
  EXPECT_CODE(hipFileMemoryAlreadyRegistered, hipFileBufRegister(buffer.data(), 4096, 0));
  EXPECT_CODE(hipFileMemoryAlreadyRegistered, hipFileBufRegister(buffer.data(), 100, 0));
}

TEST_P(AnyMemoryTest, OverlappingRangesWithOtherBasesAreAccepted) {
  Buffer buffer(8192, GetParam());
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 8192, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.at(100), 8000, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.at(100)));
}

TEST_P(AnyMemoryTest, ZeroLengthAndAnyFlagsAreAccepted) {
  Buffer buffer(4096, GetParam());
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 0, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  for (int flags : {HIPFILE_RDMA_REGISTER, HIPFILE_RDMA_RELAXED_ORDERING, -1}) {
    EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 4096, flags));
    EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  }
}

TEST_P(AnyMemoryTest, RegisteredLengthBoundsTransfers) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192, GetParam());
  buffer.fill(0xee);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 1000, 0));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), buffer.data(), 1001, 0, 0));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), buffer.data(), 1, 0, 1000));
  EXPECT_EQ(1000, hipFileRead(f.handle(), buffer.data(), 1000, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(0, 1000), make_pattern(1000, 1)));
  EXPECT_EQ("", first_difference(buffer.get(1000, 7192), std::vector<uint8_t>(7192, 0xee)));
}

TEST_P(AnyMemoryTest, AllocationThatIsLargerThanTheLengthIsNoLongerBoundedAfterDeregistration) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192, GetParam());
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 1000, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  EXPECT_EQ(8192, hipFileRead(f.handle(), buffer.data(), 8192, 0, 0));
}

INSTANTIATE_TEST_SUITE_P(, AnyMemoryTest,
                         testing::Values(MemoryKind::kDevice, MemoryKind::kPinned,
                                         MemoryKind::kManaged, MemoryKind::kHost),
                         [](const auto& kind) { return memory_kind_name(kind.param); });

class AllocatedMemoryTest : public AnyMemoryTest {};

TEST_P(AllocatedMemoryTest, LengthPastTheAllocationIsARangeError) {
  Buffer buffer(4096, GetParam());
  EXPECT_CODE(hipFileHipPointerRangeError, hipFileBufRegister(buffer.data(), 64 << 20, 0));
  EXPECT_CODE(hipFileMemoryNotRegistered, hipFileBufDeregister(buffer.data()));
}

TEST_P(AllocatedMemoryTest, InnerPointerAndLengthPastTheAllocationIsARangeError) {
  Buffer buffer(8192, GetParam());
  EXPECT_CODE(hipFileHipPointerRangeError, hipFileBufRegister(buffer.at(4096), 64 << 20, 0));
}

INSTANTIATE_TEST_SUITE_P(, AllocatedMemoryTest,
                         testing::Values(MemoryKind::kDevice, MemoryKind::kPinned,
                                         MemoryKind::kManaged),
                         [](const auto& kind) { return memory_kind_name(kind.param); });

TEST_F(BufferTest, LengthOneBytePastADeviceAllocationIsARangeError) {
  Buffer buffer(4096);
  EXPECT_CODE(hipFileHipPointerRangeError, hipFileBufRegister(buffer.data(), 4097, 0));
  EXPECT_CODE(hipFileHipPointerRangeError, hipFileBufRegister(buffer.data(), 8192, 0));
  EXPECT_CODE(hipFileHipPointerRangeError, hipFileBufRegister(buffer.at(1), 4096, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.at(1), 4095, 0));
}

TEST_F(BufferTest, NullIsInvalid) {
  EXPECT_CODE(hipFileInvalidValue, hipFileBufRegister(nullptr, 0, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBufRegister(nullptr, 4096, 0));
}

TEST_F(BufferTest, DeregisterWhileClosedIsDriverClosing) {
  Buffer buffer(4096);
  EXPECT_CODE(hipFileDriverClosing, hipFileBufDeregister(buffer.data()));
  EXPECT_CODE(hipFileDriverClosing, hipFileBufDeregister(nullptr));
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(BufferTest, DeregisterOfAnUnknownBaseIsNotRegistered) {
  Buffer buffer(8192);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 8192, 0));
  EXPECT_CODE(hipFileMemoryNotRegistered, hipFileBufDeregister(nullptr));
  EXPECT_CODE(hipFileMemoryNotRegistered, hipFileBufDeregister(buffer.at(4096)));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  EXPECT_CODE(hipFileMemoryNotRegistered, hipFileBufDeregister(buffer.data()));
}

TEST_F(BufferTest, InnerPointerOfARegisteredBufferIsTreatedAsUnregistered) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 4096, 0));
  // The bound is the allocation here, not the registered length.
  EXPECT_EQ(7168, hipFileRead(f.handle(), buffer.at(1024), 7168, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(1024, 7168), make_pattern(7168, 1)));
}

TEST_F(BufferTest, ManyBuffersCanBeRegistered) {
  Buffer buffer(1 << 20);
  for (size_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(hipFileSuccess, hipFileBufRegister(buffer.at(i * 64), 64, 0).err) << i;
  }
  for (size_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(hipFileSuccess, hipFileBufDeregister(buffer.at(i * 64)).err) << i;
    ASSERT_EQ(hipFileMemoryNotRegistered, hipFileBufDeregister(buffer.at(i * 64)).err) << i;
  }
}

TEST_F(BufferTest, StaleRegistrationOfFreedMemoryDoesNoHarm) {
  RegisteredFile f(file("f"), 4096, 1);
  void* freed = nullptr;
  ASSERT_EQ(hipSuccess, hipMalloc(&freed, 4096));
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(freed, 4096, 0));
  ASSERT_EQ(hipSuccess, hipFree(freed));
  EXPECT_LE(hipFileRead(f.handle(), freed, 4096, 0, 0), 4096);  // an error or the old pages
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(freed));
}

TEST_F(BufferTest, Rule8_LastHipErrorIsLeftAsItWas) {
  Buffer buffer(4096);
  (void)hipGetLastError();
  EXPECT_NE(hipSuccess, hipSetDevice(4711));
  const hipError_t before = hipPeekAtLastError();
  EXPECT_NE(hipSuccess, before);
  int local = 0;
  (void)hipFileBufRegister(&local, kHuge, 0).err;
  (void)hipFileBufRegister(buffer.data(), 1 << 30, 0).err;
  (void)hipFileBufRegister(&local, sizeof local, 0).err;
  EXPECT_EQ(before, hipGetLastError());
  (void)hipFileBufRegister(buffer.data(), 1 << 30, 0).err;
  EXPECT_EQ(hipSuccess, hipPeekAtLastError());
}

}  // namespace
}  // namespace hipfile::test
