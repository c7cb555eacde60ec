// SPDX-License-Identifier: MIT
//
// When AMD's runtime and NVIDIA's driver are looked for, and what becomes of a ROCm that is there
// but of no use: Debian's, which is HIP 5 (package libamdhip64-5).
#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>

#include "loader_probing.h"
#include "temp_dir.h"

namespace hipfile {
namespace {

constexpr const char* kDebian = "libamdhip64.so.5";

bool have_debians() {
  return test::run_process({"sh", "-c", "ldconfig -p | grep -qF " + std::string(kDebian)})
             .exit_code == 0;
}

#define SKIP_WITHOUT_DEBIANS_ROCM() \
  if (!have_debians()) GTEST_SKIP() << "the package libamdhip64-5 is not installed"

TEST(DebiansRocm, Rule1_IsNamedAndPassedOver) {
  SKIP_WITHOUT_DEBIANS_ROCM();
  const std::string answer = probe({std::string("load=") + kDebian, "bind", "describe"});
  EXPECT_EQ(answer.find("libhip_portable.so.0\n"), 0u) << answer;
  EXPECT_TRUE(contains(answer, "passed over: ")) << answer;
  EXPECT_TRUE(contains(answer, kDebian)) << answer;
}

TEST(DebiansRocm, Rule1_IsAnErrorWhereItIsWished) {
  SKIP_WITHOUT_DEBIANS_ROCM();
  const std::string answer = probe({"bind"}, kDebian);
  EXPECT_TRUE(contains(answer, "error ")) << answer;
  EXPECT_TRUE(contains(answer, std::string("HIPFILE_HIP_LIBRARY: ") + kDebian)) << answer;
}

// In front of the steps: a shell that makes a /dev of its own, with a kfd that can be opened.
std::vector<std::string> with_kfd() {
  return {"unshare",
          "-m",
          "sh",
          "-c",
          "mount -t tmpfs none /dev && : >/dev/kfd && exec \"$0\" \"$@\"",
          LOADER_PROBE};
}

bool may_unshare() {
  return geteuid() == 0 && test::run_process({"unshare", "-m", "true"}).exit_code == 0;
}

class KfdTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_unshare()) GTEST_SKIP() << "no mount namespace to be had";
    std::filesystem::create_directory(rocm_.file("lib"));
  }
  std::string bind_and_describe() const {
    return run_probe(with_kfd(), {"bind", "describe"}, {"ROCM_PATH=" + rocm_.path()}).out;
  }
  const test::TempDir rocm_;
};

TEST_F(KfdTest, Rule4_RocmIsTakenWhereItsDeviceIs) {
  std::filesystem::create_symlink(kCurrent, rocm_.file("lib/libamdhip64.so.7"));
  EXPECT_EQ(bind_and_describe().find("libamdhip64.so.7\n"), 0u);
}

TEST_F(KfdTest, Rule4_RocmThatIsOfNoUseIsNamedAndPassedOver) {
  SKIP_WITHOUT_DEBIANS_ROCM();
  std::filesystem::create_symlink(std::filesystem::path("/usr/lib/x86_64-linux-gnu") / kDebian,
                                  rocm_.file("lib/libamdhip64.so"));
  const std::string answer = bind_and_describe();
  EXPECT_EQ(answer.find("libhip_portable.so.0\n"), 0u) << answer;
  EXPECT_TRUE(contains(answer, rocm_.file("lib/libamdhip64.so"))) << answer;
}

// The dynamic loader tells every library that it is asked for.
std::string libraries_asked_for(const std::vector<std::string>& command,
                                const std::vector<std::string>& environment) {
  std::vector<std::string> all{"LD_DEBUG=libs", "HIP_PORTABLE_BACKEND=auto",
                               "HIP_PORTABLE_CUDA_LIBRARY"};
  all.insert(all.end(), environment.begin(), environment.end());
  return run_probe(command, {"bind"}, all).err;
}

TEST(NoGpu, Rule4_NeitherRocmNorTheNvidiaDriverIsLookedFor) {
  if (access("/dev/kfd", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
      access("/proc/driver/nvidia/version", F_OK) == 0) {
    GTEST_SKIP() << "a GPU is here";
  }
  const std::string asked = libraries_asked_for({LOADER_PROBE}, {"ROCM_PATH=/opt/rocm"});
  EXPECT_TRUE(contains(asked, "libhip_portable.so.0")) << "the trace shows nothing";
  EXPECT_FALSE(contains(asked, "libamdhip64")) << asked;
  EXPECT_FALSE(contains(asked, "libcuda")) << asked;
}

// The opposite, so that the test above means something.
TEST_F(KfdTest, Rule4_RocmIsLookedForWhereItsDeviceIs) {
  EXPECT_TRUE(contains(libraries_asked_for(with_kfd(), {}), "libamdhip64"));
}

}  // namespace
}  // namespace hipfile
