// SPDX-License-Identifier: MIT
// Rule 26: the emulated device's memory in a small cgroup, in /proc/self/smaps, and where mremap is
// refused.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>

#include "apart.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

// A memory cgroup (version 1) of this process and its children, until it is dropped.
class MemoryGroup {
 public:
  MemoryGroup() = default;
  ~MemoryGroup() {
    if (!path_.empty()) (void)::rmdir(path_.c_str());
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  // Empty, or why there is none.
  std::string make(size_t limit) {
    const std::string path = "/sys/fs/cgroup/memory/hipfile-rules-" + std::to_string(::getpid());
    if (::mkdir(path.c_str(), 0755) != 0) return "no memory controller of cgroup version 1";
    path_ = path;
    return put("memory.limit_in_bytes", limit) ? "" : "the memory cgroup takes no limit";
  }
  bool join() const { return put("cgroup.procs", static_cast<size_t>(::getpid())); }

 private:
  bool put(const char* name, size_t value) const {
    std::ofstream file(path_ + "/" + name);
    file << value << std::flush;
    return file.good();
  }
  std::string path_;
};

class SmallGroupTest : public ApartTest {
 protected:
  void SetUp() override {
    ApartTest::SetUp();
    if (IsSkipped()) return;
    const std::string reason = group_.make(kLimit);
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  static constexpr size_t kLimit = 64 * kMiB;

  static void* touched(size_t size) {
    void* block = nullptr;
    const hipError_t error = hipMalloc(&block, size);
    if (error != hipSuccess) {
      EXPECT_EQ(hipErrorOutOfMemory, error);
      return nullptr;
    }
    EXPECT_EQ(hipSuccess, hipMemset(block, 1, size));
    EXPECT_EQ(hipSuccess, hipDeviceSynchronize());
    return block;
  }
  static size_t free_bytes() {
    size_t free = 0, total = 0;
    EXPECT_EQ(hipSuccess, hipMemGetInfo(&free, &total));
    return free;
  }

  MemoryGroup group_;
};

TEST_F(SmallGroupTest, Rule26_MoreThanHalfIsRefusedInsteadOfKilled) {
  EXPECT_APART([this] {
    ASSERT_TRUE(group_.join());
    size_t free = 0, total = 0;
    ASSERT_EQ(hipSuccess, hipMemGetInfo(&free, &total));
    EXPECT_LE(total, kLimit / 2);
    EXPECT_GE(total, kLimit / 4) << "less is promised than there is";
    size_t count = 0;
    while (touched(kMiB) != nullptr) ++count;
    EXPECT_LE(total - 2 * kMiB, count * kMiB) << "refused before what was promised";
    EXPECT_GE(total, count * kMiB);
    EXPECT_GT(kMiB, free_bytes());
    // Pinned memory is there at once: refused as well.
    void* pinned = nullptr;
    EXPECT_EQ(hipErrorOutOfMemory, hipHostMalloc(&pinned, kLimit, 0));
  });
}

TEST_F(SmallGroupTest, Rule26_MemoryThatIsKeptForLaterCountsToo) {
  EXPECT_APART([this] {
    ASSERT_TRUE(group_.join());
    std::mt19937 random(26);
    std::vector<void*> blocks;
    for (int step = 0; step < 3000; ++step) {
      const size_t size = (random() % 8 == 0 ? 8 * kMiB : 512 << 10) - random() % 65536;
      void* block = touched(size);
      if (block != nullptr) {
        blocks.push_back(block);
        continue;
      }
      // Full: free every other block, so that what is freed lies in pieces.
      std::vector<void*> kept;
      for (size_t at = 0; at < blocks.size(); ++at) {
        if (random() % 2 == 0) {
          kept.push_back(blocks[at]);
        } else {
          ASSERT_EQ(hipSuccess, hipFree(blocks[at]));
        }
      }
      blocks.swap(kept);
    }
  });
}

TEST_F(SmallGroupTest, Rule26_LibraryStaysWithinTheGroup) {
  write_file(file("f"), make_pattern(64 * kMiB, 1));
  for (const char* compat : {"false", "true"}) {
    EXPECT_APART([&] {
      ASSERT_TRUE(group_.join());
      ::setenv("HIPFILE_FORCE_COMPAT_MODE", compat, 1);
      const Fd fd(file("f"), O_RDWR | direct_flag_of(dir_.path()));
      const hipFileHandle_t handle = register_fd(fd.get());
      const size_t size = std::min<size_t>(free_bytes() / 2 / kMiB * kMiB, 64 * kMiB);
      void* device = nullptr;
      ASSERT_EQ(hipSuccess, hipMalloc(&device, size));
      const auto count = static_cast<ssize_t>(size);
      EXPECT_EQ(count, hipFileRead(handle, device, size, 0, 0)) << strerror(errno);
      EXPECT_EQ(count, hipFileWrite(handle, device, size, 0, 0)) << strerror(errno);
    });
  }
}

// One mapping of /proc/self/smaps.
struct Mapping {
  uintptr_t begin = 0, end = 0;
  std::string inode, name, flags;
};

std::vector<Mapping> read_mappings() {
  std::vector<Mapping> mappings;
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);) {
    Mapping mapping;
    char dash = 0;
    std::string rights, offset, device;
    std::istringstream words(line);
    if (line.rfind("VmFlags:", 0) == 0) {
      mappings.back().flags = line + " ";
    } else if (words >> std::hex >> mapping.begin >> dash >> mapping.end && dash == '-') {
      words >> rights >> offset >> device >> mapping.inode >> mapping.name;
      mappings.push_back(mapping);
    }
  }
  return mappings;
}

// All views of the memory that a device pointer lies in.
std::vector<Mapping> views_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::vector<Mapping> all = read_mappings();
  std::string inode;
  for (const Mapping& mapping : all) {
    if (address >= mapping.begin && address < mapping.end) inode = mapping.inode;
  }
  std::vector<Mapping> views;
  for (const Mapping& mapping : all) {
    if (mapping.inode == inode) views.push_back(mapping);
  }
  return views;
}

class ViewsTest : public ApartTest {
 protected:
  void SetUp() override {
    if (is_on_nvidia()) GTEST_SKIP() << "the driver's memory has no second view";
    ApartTest::SetUp();
  }
  static void expect_views(const std::string& name) {
    void* device = nullptr;
    ASSERT_EQ(hipSuccess, hipMalloc(&device, kMiB));
    const std::vector<uint8_t> bytes = make_pattern(kMiB, 1);
    std::vector<uint8_t> back(kMiB);
    ASSERT_EQ(hipSuccess, hipMemcpy(device, bytes.data(), kMiB, hipMemcpyHostToDevice));
    ASSERT_EQ(hipSuccess, hipMemcpy(back.data(), device, kMiB, hipMemcpyDeviceToHost));
    EXPECT_EQ("", first_difference(back, bytes));
    const std::vector<Mapping> views = views_of(device);
    EXPECT_LE(2u, views.size());
    for (const Mapping& view : views) {
      EXPECT_NE(std::string::npos, view.name.find(name)) << view.name;
      EXPECT_NE(std::string::npos, view.flags.find(" dc ")) << "inherited by children";
      EXPECT_NE(std::string::npos, view.flags.find(" dd ")) << "dumped";
    }
  }
};

TEST_F(ViewsTest, Rule26_BothViewsStayOutOfChildrenAndDumps) {
  EXPECT_APART([] { expect_views("/dev/zero"); });
}

TEST_F(ViewsTest, Rule26_WhereMremapIsRefusedADescriptorIsMappedTwice) {
  EXPECT_APART([] {
    ASSERT_TRUE(refuse_calls({{SYS_mremap, EINVAL, 1, 0}}));
    expect_views("/memfd:hip-device");
  });
}

}  // namespace
}  // namespace hipfile::test
