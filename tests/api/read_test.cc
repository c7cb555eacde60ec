// SPDX-License-Identifier: MIT
// hipFileRead: every row of its table, for every kind of memory and with the file opened with and
// without O_DIRECT.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <limits>

#include "api_fixture.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr int64_t kFarthest = std::numeric_limits<int64_t>::max();

class ReadTest : public IoTest {
 protected:
  // Registers plain host memory: otherwise nobody knows where it ends.
  void bound(const Buffer& buffer) {
    if (kind() == MemoryKind::kHost) {
      EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), buffer.size(), 0));
    }
  }
  static void expect_untouched(const Buffer& buffer) {
    const std::vector<uint8_t> guard(buffer.size(), 0xee);
    EXPECT_EQ("", first_difference(buffer.get(), guard));
  }
};

TEST_P(ReadTest, WholeFile) {
  RegisteredFile f(file("f"), 100000, 1, O_RDWR | direct_flag());
  Buffer buffer(100000, kind());
  EXPECT_EQ(100000, hipFileRead(f.handle(), buffer.data(), 100000, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(100000, 1)));
}

TEST_P(ReadTest, RegisteredBuffer) {
  RegisteredFile f(file("f"), 65536, 1, O_RDONLY | direct_flag());
  Buffer buffer(65536, kind());
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 65536, 0));
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(65536, 1)));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
}

TEST_P(ReadTest, LargerThanTheRingsChunks) {
  const size_t size = (40 << 20) + 4096 + 77;
  RegisteredFile f(file("f"), size, 1, O_RDWR | direct_flag());
  Buffer buffer(size, kind());
  EXPECT_EQ(static_cast<ssize_t>(size), hipFileRead(f.handle(), buffer.data(), size, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(size, 1)));
}

TEST_P(ReadTest, AtFileAndBufferOffset) {
  RegisteredFile f(file("f"), 65536, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  buffer.fill(0xee);
  EXPECT_EQ(8192, hipFileRead(f.handle(), buffer.data(), 8192, 16384, 4096));
  EXPECT_EQ("", first_difference(buffer.get(0, 4096), std::vector<uint8_t>(4096, 0xee)));
  EXPECT_EQ("", first_difference(buffer.get(4096, 8192), make_pattern(8192, 1, 16384)));
  EXPECT_EQ("", first_difference(buffer.get(12288, 53248), std::vector<uint8_t>(53248, 0xee)));
}

// Bytes of the request past the count are unspecified: an O_DIRECT read of the kernel clears them.
TEST_P(ReadTest, PastEofReturnsShortCount) {
  constexpr size_t kRequest = 65536, kSlack = 4096;
  for (size_t size : {1ul, 511ul, 4095ul, 4096ul, 5000ul, 8192ul}) {
    RegisteredFile f(file("f"), size, 1, O_RDWR | direct_flag());
    Buffer buffer(kRequest + 2 * kSlack, kind());
    buffer.fill(0xee);
    const ssize_t n = hipFileRead(f.handle(), buffer.data(), kRequest, 0, kSlack);
    EXPECT_EQ(static_cast<ssize_t>(size), n);
    EXPECT_EQ("", first_difference(buffer.get(kSlack, size), make_pattern(size, 1)));
    const std::vector<uint8_t> guard(kSlack, 0xee);
    EXPECT_EQ("", first_difference(buffer.get(0, kSlack), guard)) << size;
    EXPECT_EQ("", first_difference(buffer.get(kSlack + kRequest, kSlack), guard)) << size;
    for (uint8_t byte : buffer.get(kSlack + size, kRequest - size)) {
      ASSERT_TRUE(byte == 0xee || byte == 0) << "stale bytes of another transfer";
    }
    hipFileHandleDeregister(f.handle());
  }
}

TEST_P(ReadTest, AtOrBeyondEofReturnsZero) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(8192, kind());
  buffer.fill(0xee);
  for (hoff_t offset : {4096l, 4097l, 8192l, 1l << 40}) {
    EXPECT_EQ(0, hipFileRead(f.handle(), buffer.data(), 8192, offset, 0)) << offset;
  }
  expect_untouched(buffer);
}

TEST_P(ReadTest, EmptyFileReturnsZero) {
  RegisteredFile f(file("f"), 0, 1, O_RDWR | direct_flag());
  Buffer buffer(4096, kind());
  EXPECT_EQ(0, hipFileRead(f.handle(), buffer.data(), 4096, 0, 0));
}

TEST_P(ReadTest, HoleReadsZeros) {
  RegisteredFile f(file("f"), 0, 1, O_RDWR | direct_flag());
  ASSERT_EQ(0, ::ftruncate(f.fd(), 1 << 20));
  Buffer buffer(1 << 20, kind());
  buffer.fill(0xee);
  EXPECT_EQ(1 << 20, hipFileRead(f.handle(), buffer.data(), 1 << 20, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(1 << 20)));
}

TEST_P(ReadTest, ZeroSizeReturnsZero) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(4096, kind());
  buffer.fill(0xee);
  for (hoff_t offset : {0l, 1l, 4096l, 8192l, 1l << 40}) {
    EXPECT_EQ(0, hipFileRead(f.handle(), buffer.data(), 0, offset, 0)) << offset;
  }
  expect_untouched(buffer);
}

TEST_P(ReadTest, Rule21_SeesWhatTheProgramJustWrote) {
  RegisteredFile f(file("f"), 65536, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  for (uint64_t seed = 2; seed < 8; ++seed) {
    write_file(f.path(), make_pattern(65536, seed));
    EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
    EXPECT_EQ("", first_difference(buffer.get(), make_pattern(65536, seed)));
  }
}

TEST_P(ReadTest, FilePositionIsUntouched) {
  RegisteredFile f(file("f"), 16384, 1, O_RDWR | direct_flag());
  ASSERT_EQ(4096, ::lseek(f.fd(), 4096, SEEK_SET));
  Buffer buffer(8192, kind());
  EXPECT_EQ(8192, hipFileRead(f.handle(), buffer.data(), 8192, 0, 0));
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(8192, 1)));
  EXPECT_EQ(4096, ::lseek(f.fd(), 0, SEEK_CUR));
}

TEST_P(ReadTest, UnknownHandle) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(4096, kind());
  buffer.fill(0xee);
  int local = 0;
  for (void* handle :
       {static_cast<void*>(nullptr), static_cast<void*>(&local), buffer.data(),
        reinterpret_cast<void*>(uintptr_t{1}), reinterpret_cast<void*>(~uintptr_t{0})}) {
    EXPECT_EQ(negated(hipFileHandleNotRegistered), hipFileRead(handle, buffer.data(), 4096, 0, 0));
  }
  expect_untouched(buffer);
}

TEST_P(ReadTest, NullBuffer) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), nullptr, 4096, 0, 0));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), nullptr, 4096, 0, 8192));
}

TEST_P(ReadTest, NegativeOffsetsAreEinval) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(4096, kind());
  buffer.fill(0xee);
  for (hoff_t offset : {-1l, -4096l, std::numeric_limits<hoff_t>::min()}) {
    EXPECT_ERRNO(EINVAL, hipFileRead(f.handle(), buffer.data(), 4096, offset, 0));
    EXPECT_ERRNO(EINVAL, hipFileRead(f.handle(), buffer.data(), 4096, 0, offset));
    EXPECT_ERRNO(EINVAL, hipFileRead(f.handle(), buffer.data(), 4096, offset, offset));
  }
  expect_untouched(buffer);
}

TEST_P(ReadTest, RangeOutsideTheBufferIsInvalid) {
  RegisteredFile f(file("f"), 65536, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  buffer.fill(0xee);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 65536, 0));
  const ssize_t invalid = negated(hipFileInvalidValue);
  EXPECT_EQ(invalid, hipFileRead(f.handle(), buffer.data(), 1, 0, 65536));
  EXPECT_EQ(invalid, hipFileRead(f.handle(), buffer.data(), 4096, 0, 65536 - 4095));
  EXPECT_EQ(invalid, hipFileRead(f.handle(), buffer.data(), 65537, 0, 0));
  EXPECT_EQ(invalid, hipFileRead(f.handle(), buffer.data(), SIZE_MAX, 0, 0));
  EXPECT_EQ(invalid, hipFileRead(f.handle(), buffer.data(), SIZE_MAX, 0, 4096));
  EXPECT_EQ(invalid, hipFileRead(f.handle(), buffer.data(), 4096, 0, kFarthest));
  EXPECT_EQ(invalid, hipFileRead(f.handle(), buffer.data(), SIZE_MAX - 100, 0, kFarthest));
  expect_untouched(buffer);
}

TEST_P(ReadTest, SizeAboveTheCapIsStillCheckedAgainstTheBuffer) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  buffer.fill(0xee);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 65536, 0));
  for (size_t size : {kSizeCap, kSizeCap + 1, kSizeCap * 2, size_t{1} << 40}) {
    EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), buffer.data(), size, 0, 0));
  }
  expect_untouched(buffer);
}

TEST_P(ReadTest, FarthestFileOffsetDoesNoHarm) {
  RegisteredFile f(file("f"), 4096, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  buffer.fill(0xee);
  for (hoff_t offset : {kFarthest, kFarthest - 1, kFarthest - 4095, kFarthest - 65535}) {
    EXPECT_LE(hipFileRead(f.handle(), buffer.data(), 65536, offset, 0), 0) << offset;
  }
  expect_untouched(buffer);
}

TEST_P(ReadTest, LastHipErrorIsLeftAsItWas) {
  RegisteredFile f(file("f"), 65536, 1, O_RDWR | direct_flag());
  Buffer buffer(65536, kind());
  (void)hipGetLastError();
  EXPECT_NE(hipSuccess, hipSetDevice(4711));
  const hipError_t before = hipPeekAtLastError();
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_EQ(before, hipGetLastError());
  EXPECT_EQ(1000, hipFileRead(f.handle(), buffer.data(), 1000, 7, 3));
  EXPECT_EQ(hipSuccess, hipGetLastError());
}

INSTANTIATE_TEST_SUITE_P(, ReadTest, kEveryIo, io_param_name);

class ReadPointerTest : public ApiTest {};

TEST_F(ReadPointerTest, UnregisteredDeviceRangeIsBoundedByItsAllocation) {
  RegisteredFile f(file("f"), 16384, 1);
  Buffer buffer(8192);
  EXPECT_EQ(4096, hipFileRead(f.handle(), buffer.data(), 4096, 0, 4096));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), buffer.data(), 8193, 0, 0));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), buffer.data(), 8192, 0, 1));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), buffer.data(), 1, 0, 8192));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), buffer.at(4096), 4097, 0, 0));
  EXPECT_EQ(4096, hipFileRead(f.handle(), buffer.at(4096), 4096, 0, 0));
}

TEST_F(ReadPointerTest, AddressesThatAreNoMemoryFail) {
  RegisteredFile f(file("f"), 16384, 1);
  void* unmapped = ::mmap(nullptr, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, unmapped);
  EXPECT_LT(hipFileRead(f.handle(), unmapped, 8192, 0, 0), 0);
  EXPECT_LT(hipFileRead(f.handle(), unmapped, 100, 3, 1), 0);
  EXPECT_LT(hipFileWrite(f.handle(), unmapped, 8192, 0, 0), 0);
  ASSERT_EQ(0, ::munmap(unmapped, 16384));
  EXPECT_LT(hipFileRead(f.handle(), unmapped, 8192, 0, 0), 0);
  EXPECT_LT(hipFileRead(f.handle(), reinterpret_cast<void*>(uintptr_t{4096}), 8192, 0, 0), 0);
  EXPECT_LT(hipFileRead(f.handle(), reinterpret_cast<void*>(~uintptr_t{4095}), 4096, 0, 0), 0);
  EXPECT_LT(hipFileWrite(f.handle(), reinterpret_cast<void*>(~uintptr_t{0}), 4096, 0, 0), 0);
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(16384, 1)));
}

TEST_F(ReadPointerTest, Rule23_ReadOnlyMemoryFailsWithEfault) {
  RegisteredFile f(file("f"), 16384, 1);
  void* memory = ::mmap(nullptr, 16384, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  EXPECT_ERRNO(EFAULT, hipFileRead(f.handle(), memory, 8192, 0, 0));
  EXPECT_ERRNO(EFAULT, hipFileRead(f.handle(), memory, 100, 1, 1));
  EXPECT_EQ(0, static_cast<uint8_t*>(memory)[1]);
  ::munmap(memory, 16384);
}

TEST_F(ReadPointerTest, Rule23_MemoryThatEndsInTheMiddleGivesAPartialCountOrEfault) {
  RegisteredFile f(file("f"), 65536, 1);
  uint8_t* memory = static_cast<uint8_t*>(
      ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(MAP_FAILED, static_cast<void*>(memory));
  ASSERT_EQ(0, ::mprotect(memory + 32768, 32768, PROT_NONE));
  errno = 0;
  const ssize_t n = hipFileRead(f.handle(), memory, 65536, 0, 0);
  if (n < 0) {
    EXPECT_EQ(-1, n);
    EXPECT_EQ(EFAULT, errno);
  } else {
    EXPECT_LE(n, 32768);
    const std::vector<uint8_t> got(memory, memory + n);
    EXPECT_EQ("", first_difference(got, make_pattern(static_cast<size_t>(n), 1)));
  }
  ::munmap(memory, 65536);
}

// Where the processor can load from device memory, lines that it holds must not be stale.
TEST_F(ReadPointerTest, DeviceMemoryIsSeenByTheProcessor) {
  if (is_on_nvidia()) GTEST_SKIP() << "the processor cannot touch device memory";
  if (is_strict()) GTEST_SKIP() << "the program cannot touch device memory";
  RegisteredFile f(file("f"), 65536, 1, O_RDWR | direct_flag_of(dir_.path()));
  Buffer buffer(65536);
  buffer.fill(0xee);
  const volatile uint8_t* loads = buffer.at(0);
  for (size_t at = 0; at < 65536; ++at) ASSERT_EQ(0xee, loads[at]);
  ASSERT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_EQ("",
            first_difference(std::vector<uint8_t>(loads, loads + 65536), make_pattern(65536, 1)));
}

TEST_F(ReadPointerTest, FreedDeviceMemoryIsNotWrittenThrough) {
  RegisteredFile f(file("f"), 65536, 1);
  void* freed = nullptr;
  ASSERT_EQ(hipSuccess, hipMalloc(&freed, 65536));
  ASSERT_EQ(hipSuccess, hipFree(freed));
  EXPECT_LT(hipFileRead(f.handle(), freed, 65536, 0, 0), 0);
}

}  // namespace
}  // namespace hipfile::test
