// SPDX-License-Identifier: MIT
//
// Rule 13: what the ring's memory is to the kernel. There is no runtime here, so it stays pageable.
#include "gpu/pinned_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hipfile {
namespace {

constexpr size_t kSize = 4 << 20;
constexpr size_t kHugePage = 2 << 20;

class PinnedMemoryTest : public ::testing::Test {
 protected:
  Gpu gpu_;
  const PinnedMemory memory_ = PinnedMemory::allocate(gpu_, kSize, 0);
};

// The VmFlags of the mapping that holds an address.
std::string flags_of(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool is_inside = false;
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream words(line);
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      is_inside = wanted >= begin && wanted < end;
    }
    if (is_inside && line.rfind("VmFlags:", 0) == 0) return line + " ";
  }
  return {};
}

TEST_F(PinnedMemoryTest, Rule13_ChildOfForkHasNoMappingOfIt) {
  memory_.data()[0] = 1;
  const pid_t pid = fork();
  if (pid == 0) {
    unsigned char page = 0;
    const bool is_absent = mincore(memory_.data(), 4096, &page) != 0 && errno == ENOMEM;
    _exit(is_absent ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(PinnedMemoryTest, Rule13_BeginsAtAHugePageAndIsPopulated) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory_.data()) % kHugePage, 0u);
  std::vector<unsigned char> pages(kSize / 4096);
  ASSERT_EQ(mincore(memory_.data(), kSize, pages.data()), 0);
  for (const unsigned char page : pages) ASSERT_EQ(page & 1, 1);
  const std::string flags = flags_of(memory_.data());
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;  // huge pages
  EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;  // not in core files
}

TEST_F(PinnedMemoryTest, Rule13_IsPreferredOnTheNodeOfTheDevice) {
  int policy = -1;
  unsigned long nodes[16] = {};
  constexpr unsigned long kByAddress = 2;  // MPOL_F_ADDR
  constexpr int kPreferred = 1;            // MPOL_PREFERRED
  if (syscall(SYS_get_mempolicy, &policy, nodes, 8 * sizeof nodes, memory_.data(), kByAddress) !=
      0) {
    GTEST_SKIP() << "get_mempolicy is refused here, errno " << errno;
  }
  EXPECT_EQ(policy, kPreferred);
  EXPECT_EQ(nodes[0], 1ul);
}

}  // namespace
}  // namespace hipfile
