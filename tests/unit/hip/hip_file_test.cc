// SPDX-License-Identifier: MIT
//
// hipAmdFileRead and hipAmdFileWrite: bytes straight between files and device memory, and the
// errors that AMD's kernel driver is documented to give.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "hip_test.h"
#include "support/file_systems.h"
#include "support/temp_dir.h"

namespace {

using namespace hip_test;
using hipfile::test::Fd;
using hipfile::test::FileSystem;
using hipfile::test::has_kernel_rules;
using hipfile::test::TempDir;

bool is_on_ext4_disk(const std::string& path) {
  struct statfs facts {};
  return statfs(path.c_str(), &facts) == 0 && facts.f_type == EXT4_SUPER_MAGIC &&
         hipfile::test::direct_flag_of(path) == O_DIRECT;
}

// A folder on ext4: the tests' own if it lies there, else a loop disk.
class DirectFolder {
 public:
  DirectFolder() {
    if (is_on_nvidia()) {
      reason_ = "NVIDIA's driver moves no files";
      return;
    }
    if (is_on_ext4_disk(hipfile::test::test_root())) {
      folder_ = std::make_unique<TempDir>();
      return;
    }
    if (has_kernel_rules()) {
      reason_ = "the only disk would be a loop disk, which the kernel's rules refuse";
      return;
    }
    reason_ = disk_.mount("ext4-512", 64);
    if (reason_.empty()) folder_ = std::make_unique<TempDir>(disk_.path());
  }
  const std::string& reason() const { return reason_; }
  std::string file(const std::string& name) const { return folder_->file(name); }

 private:
  FileSystem disk_;
  std::string reason_;
  std::unique_ptr<TempDir> folder_;
};

struct Outcome {
  hipError_t error = hipErrorUnknown;
  uint64_t copied = 77;
  int32_t status = 77;
};

template <typename Function>
Function find_function(const char* name) {
  void* address = nullptr;
  EXPECT_HIP(hipSuccess, hipGetProcAddress(name, &address, HIP_VERSION, 0, nullptr));
  return reinterpret_cast<Function>(address);
}

Outcome transfer(hipAmdFileRead_t function, int fd, void* device, uint64_t size, int64_t offset) {
  hipAmdFileHandle_t handle{};
  handle.fd = fd;
  Outcome outcome;
  outcome.error = function(handle, device, size, offset, &outcome.copied, &outcome.status);
  return outcome;
}

Outcome read_file(int fd, void* device, uint64_t size, int64_t offset) {
  return transfer(find_function<hipAmdFileRead_t>("hipAmdFileRead"), fd, device, size, offset);
}

Outcome write_file(int fd, void* device, uint64_t size, int64_t offset) {
  return transfer(find_function<hipAmdFileWrite_t>("hipAmdFileWrite"), fd, device, size, offset);
}

void expect_status(int32_t status, const Outcome& outcome) {
  EXPECT_HIP(hipSuccess, outcome.error);
  EXPECT_EQ(outcome.status, status);
  if (status != 0) {
    EXPECT_EQ(outcome.copied, 0U);
  }
}

class HipFile : public testing::Test {
 protected:
  void SetUp() override {
    if (!folder_.reason().empty()) GTEST_SKIP() << "no direct files: " << folder_.reason();
    path_ = folder_.file("data");
    bytes_ = pattern(kSize);
    hipfile::test::write_file(path_, {bytes_.begin(), bytes_.end()});
    direct_ = Fd(path_, O_RDWR | O_DIRECT);
  }

  static constexpr size_t kSize = 3 * kMiB + 4096;
  DirectFolder folder_;
  std::string path_;
  std::vector<char> bytes_;
  Fd direct_;
  DeviceBuffer buffer_{4 * kMiB};
};

// As symbols the calls are always there; whether there is a path, a program learns by their names.
TEST(HipFileCalls, WithoutADirectPathAreNotFoundAndSaySo) {
  const bool has_path = !is_on_nvidia();
  const DeviceBuffer buffer(4096);
  for (const char* name : {"hipAmdFileRead", "hipAmdFileWrite"}) {
    void* found = nullptr;
    EXPECT_HIP(has_path ? hipSuccess : hipErrorNotFound,
               hipGetProcAddress(name, &found, HIP_VERSION, 0, nullptr));
    void* const symbol = dlsym(RTLD_DEFAULT, name);
    ASSERT_NE(symbol, nullptr);
    EXPECT_EQ(found, has_path ? symbol : nullptr);
    const Outcome outcome =
        transfer(reinterpret_cast<hipAmdFileRead_t>(symbol), -1, buffer.data(), 4096, 0);
    EXPECT_HIP(has_path ? hipSuccess : hipErrorNotSupported, outcome.error);
    EXPECT_EQ(outcome.status, has_path ? EBADF : ENODEV);
    EXPECT_EQ(outcome.copied, 0U);
  }
}

TEST_F(HipFile, ReadBringsTheBytes) {
  const Outcome outcome = read_file(direct_.get(), buffer_.data(), kSize, 0);
  expect_status(0, outcome);
  EXPECT_EQ(outcome.copied, kSize);
  EXPECT_EQ(contents(buffer_.data(), kSize), bytes_);
}

TEST_F(HipFile, ReadStartsAtItsOffsets) {
  expect_status(0, read_file(direct_.get(), buffer_.data() + 4096, 8192, 12288));
  EXPECT_EQ(contents(buffer_.data() + 4096, 8192),
            std::vector<char>(bytes_.begin() + 12288, bytes_.begin() + 12288 + 8192));
}

TEST_F(HipFile, WriteBringsTheBytes) {
  const std::vector<char> fresh = pattern(kMiB, 99);
  ASSERT_HIP(hipSuccess, hipMemcpy(buffer_.data(), fresh.data(), kMiB, hipMemcpyHostToDevice));
  const Outcome outcome = write_file(direct_.get(), buffer_.data(), kMiB, 8192);
  expect_status(0, outcome);
  EXPECT_EQ(outcome.copied, kMiB);
  const std::vector<uint8_t> now = hipfile::test::read_file(path_);
  EXPECT_EQ(std::memcmp(now.data() + 8192, fresh.data(), kMiB), 0);
  EXPECT_EQ(std::memcmp(now.data(), bytes_.data(), 8192), 0);
}

TEST_F(HipFile, Rule28_ReadPastTheEndIsShort) {
  const Outcome outcome = read_file(direct_.get(), buffer_.data(), 2 * kMiB, 2 * kMiB);
  expect_status(has_kernel_rules() ? EIO : 0, outcome);
  if (has_kernel_rules()) return;
  EXPECT_EQ(outcome.copied, kSize - 2 * kMiB);
}

TEST_F(HipFile, Rule28_ReadOfAnUnalignedTailIsShort) {
  ASSERT_EQ(truncate(path_.c_str(), 5001), 0);
  const Outcome outcome = read_file(direct_.get(), buffer_.data(), 8192, 0);
  expect_status(has_kernel_rules() ? EIO : 0, outcome);
  if (has_kernel_rules()) return;
  EXPECT_EQ(outcome.copied, 5001U);
  EXPECT_EQ(contents(buffer_.data(), 5001),
            std::vector<char>(bytes_.begin(), bytes_.begin() + 5001));
}

TEST_F(HipFile, NothingIsAlwaysRight) {
  const Outcome outcome = read_file(-1, nullptr, 0, 1);
  expect_status(0, outcome);
  EXPECT_EQ(outcome.copied, 0U);
}

TEST_F(HipFile, Rule28_UnalignedRequestIsInvalid) {
  expect_status(EINVAL, read_file(direct_.get(), buffer_.data(), 4096, 512));
  expect_status(EINVAL, read_file(direct_.get(), buffer_.data(), 512, 0));
  expect_status(EINVAL, read_file(direct_.get(), buffer_.data(), 4096, -4096));
}

TEST_F(HipFile, TooLargeATransferIsAnIllegalSeek) {
  expect_status(ESPIPE, read_file(direct_.get(), buffer_.data(), 0x7ffff000ULL + 4096, 0));
}

TEST_F(HipFile, Rule28_BufferedDescriptorIsInvalid) {
  const Fd buffered(path_, O_RDWR);
  expect_status(EINVAL, read_file(buffered.get(), buffer_.data(), 4096, 0));
}

TEST_F(HipFile, MissingDescriptorIsBad) {
  expect_status(EBADF, read_file(-1, buffer_.data(), 4096, 0));
}

TEST_F(HipFile, WriteThroughAReadOnlyDescriptorIsBad) {
  const Fd reader(path_, O_RDONLY | O_DIRECT);
  expect_status(EBADF, write_file(reader.get(), buffer_.data(), 4096, 0));
}

TEST_F(HipFile, MemoryThatIsNotTheDevicesIsInvalid) {
  const PinnedBuffer pinned(4096);
  expect_status(EINVAL, read_file(direct_.get(), pinned.data(), 4096, 0));
  void* plain = nullptr;
  ASSERT_EQ(posix_memalign(&plain, 4096, 4096), 0);
  expect_status(EINVAL, read_file(direct_.get(), plain, 4096, 0));
  std::free(plain);
}

TEST_F(HipFile, OverrunOfTheAllocationIsInvalid) {
  expect_status(EINVAL, read_file(direct_.get(), buffer_.data() + 4096, 4 * kMiB, 0));
}

TEST_F(HipFile, FileWithoutADiskHasNoDevice) {
  FileSystem memory;
  const std::string reason = memory.mount("tmpfs", 8);
  if (!reason.empty()) GTEST_SKIP() << "no tmpfs: " << reason;
  const std::string path = memory.path() + "/data";
  hipfile::test::write_file(path, std::vector<uint8_t>(4096));
  const int fd = open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
  if (fd < 0) GTEST_SKIP() << "tmpfs refuses O_DIRECT here";
  expect_status(ENODEV, read_file(fd, buffer_.data(), 4096, 0));
  close(fd);
}

class HipPortableFileRead : public HipFile {
 protected:
  void SetUp() override {
    if (has_kernel_rules()) GTEST_SKIP() << "it is not found with the kernel's rules";
    HipFile::SetUp();
  }
  static Outcome read(int fd, void* device, uint64_t size, int64_t offset) {
    Outcome outcome;
    outcome.error = find_function<decltype(&hipPortableFileRead)>("hipPortableFileRead")(
        fd, device, size, offset, &outcome.copied, &outcome.status);
    return outcome;
  }
};

TEST_F(HipPortableFileRead, TakesEveryOffsetAndSizeOfABufferedDescriptor) {
  const Fd buffered(path_, O_RDONLY);
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{4097}}) {
    const size_t size = kMiB + 3;
    const Outcome outcome =
        read(buffered.get(), buffer_.data() + 5, size, static_cast<int64_t>(offset));
    expect_status(0, outcome);
    EXPECT_EQ(outcome.copied, size);
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    EXPECT_EQ(contents(buffer_.data() + 5, size),
              std::vector<char>(begin, begin + static_cast<std::ptrdiff_t>(size)));
  }
}

TEST_F(HipPortableFileRead, EndsWithTheFile) {
  const Fd buffered(path_, O_RDONLY);
  ASSERT_EQ(truncate(path_.c_str(), 5001), 0);
  const Outcome outcome = read(buffered.get(), buffer_.data(), 8192, 1);
  expect_status(0, outcome);
  EXPECT_EQ(outcome.copied, 5000U);
}

TEST_F(HipPortableFileRead, WhatTheSystemRefusesIsTheStatus) {
  const Fd writer(path_, O_WRONLY);
  expect_status(EBADF, read(writer.get(), buffer_.data(), 4096, 0));
  expect_status(EBADF, read(-1, buffer_.data(), 4096, 0));
  expect_status(EINVAL, read(direct_.get(), buffer_.data(), 4096, -4096));
}

TEST_F(HipPortableFileRead, MemoryIsTheDevicesAndNoOther) {
  const PinnedBuffer pinned(4096);
  const Fd buffered(path_, O_RDONLY);
  expect_status(EINVAL, read(buffered.get(), pinned.data(), 4096, 0));
  expect_status(EINVAL, read(buffered.get(), buffer_.data() + 4096, 4 * kMiB, 0));
}

TEST_F(HipFile, ReadOfOursIsFoundWhereAmdsRulesAreNotPlayed) {
  void* address = nullptr;
  EXPECT_HIP(has_kernel_rules() ? hipErrorNotFound : hipSuccess,
             hipGetProcAddress("hipPortableFileRead", &address, HIP_VERSION, 0, nullptr));
}

TEST_F(HipFile, NullResultsAreRefused) {
  hipAmdFileHandle_t handle{};
  handle.fd = direct_.get();
  int32_t status = 0;
  const auto function = find_function<hipAmdFileRead_t>("hipAmdFileRead");
  EXPECT_HIP(hipErrorInvalidValue, function(handle, buffer_.data(), 4096, 0, nullptr, &status));
}

}  // namespace
