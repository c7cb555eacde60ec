// SPDX-License-Identifier: MIT
// Rule 28: hipAmdFileRead under the kernel's rules on a disk that AMD's driver finds. No such disk
// is here, so /sys tells a tale of the loop disk: that it hangs on a PCI bus.
#include <fcntl.h>
#include <hip/hip_portable.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>

#include "apart.h"
#include "file_systems.h"
#include "modes.h"

namespace hipfile::test {
namespace {

class KernelRulesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (is_on_nvidia()) GTEST_SKIP() << "no direct path there";
    if (::geteuid() != 0) GTEST_SKIP() << "not root";
    const std::string reason = disk_.mount("ext4-512", 64);
    if (!reason.empty()) GTEST_SKIP() << reason;
    path_ = disk_.path() + "/f";
    write_file(path_, make_pattern(12288, 1));
  }

  // In a process of its own.
  void pretend(const std::string& target) const {
    ::setenv("HIP_PORTABLE_DIRECT", "kernel", 1);
    struct stat st {};
    ASSERT_EQ(0, ::stat(path_.c_str(), &st));
    ASSERT_TRUE(enter_private_mounts());
    ASSERT_EQ(0, ::mount("tmpfs", "/sys", "tmpfs", 0, nullptr));
    std::filesystem::create_directories("/sys/dev/block");
    std::filesystem::create_symlink(target, "/sys/dev/block/" + std::to_string(major(st.st_dev)) +
                                                ":" + std::to_string(minor(st.st_dev)));
  }

  struct Outcome {
    uint64_t copied = 77;
    int32_t status = 77;
  };
  Outcome read(int flags, uint64_t size, int64_t offset) const {
    void* function = nullptr;
    EXPECT_EQ(hipSuccess, hipGetProcAddress("hipAmdFileRead", &function, HIP_VERSION, 0, nullptr));
    const Fd fd(path_, flags);
    hipAmdFileHandle_t handle{};
    handle.fd = fd.get();
    const Buffer buffer(65536);
    Outcome outcome;
    EXPECT_EQ(hipSuccess,
              reinterpret_cast<hipAmdFileRead_t>(function)(handle, buffer.data(), size, offset,
                                                           &outcome.copied, &outcome.status));
    return outcome;
  }

  static constexpr const char* kRealDisk = "../../devices/pci0000:00/0000:00:04.0/nvme/nvme0n1";
  FileSystem disk_;
  std::string path_;
};

TEST_F(KernelRulesTest, Rule28_ShortReadIsAnErrorOnARealDisk) {
  EXPECT_APART([this] {
    pretend(kRealDisk);
    const Outcome whole = read(O_RDONLY | O_DIRECT, 12288, 0);
    EXPECT_EQ(0, whole.status);
    EXPECT_EQ(12288u, whole.copied);
    const Outcome across = read(O_RDONLY | O_DIRECT, 16384, 0);
    EXPECT_EQ(EIO, across.status);
    EXPECT_EQ(0u, across.copied);
    EXPECT_EQ(EIO, read(O_RDONLY | O_DIRECT, 4096, 16384).status);
  });
}

TEST_F(KernelRulesTest, Rule28_AlignmentAndDirectAreDemandedOnARealDisk) {
  EXPECT_APART([this] {
    pretend(kRealDisk);
    EXPECT_EQ(EINVAL, read(O_RDONLY, 4096, 0).status);
    EXPECT_EQ(EINVAL, read(O_RDONLY | O_DIRECT, 512, 0).status);
    EXPECT_EQ(EINVAL, read(O_RDONLY | O_DIRECT, 4096, 512).status);
  });
}

TEST_F(KernelRulesTest, Rule28_VirtualDisksAreNotFound) {
  for (const char* name : {"loop0", "md127", "dm-3"}) {
    EXPECT_APART([&] {
      pretend(std::string("../../devices/virtual/block/") + name);
      EXPECT_EQ(ENODEV, read(O_RDONLY | O_DIRECT, 4096, 0).status) << name;
    });
  }
}

// The library meets the kernel's answers and gives the right bytes all the same.
TEST_F(KernelRulesTest, Rule28_LibraryReadsRightOnARealDiskAndOnAVirtualOne) {
  for (const char* target : {kRealDisk, "../../devices/virtual/block/loop0"}) {
    EXPECT_APART([&] {
      pretend(target);
      const Fd fd(path_, O_RDWR | O_DIRECT);
      const hipFileHandle_t handle = register_fd(fd.get());
      expect_reads(handle, 12288, 1);
      expect_writes(handle, 8192, 1);
      expect_reads(handle, 12288, 1);
    });
  }
}

}  // namespace
}  // namespace hipfile::test
