// SPDX-License-Identifier: MIT
//
// Which runtime is bound, and what is said where none can be. Each case is a process of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gpu/numa.h"
#include "process.h"
#include "temp_dir.h"

namespace hipfile {
namespace {

const std::string kCurrent = FAKE_CURRENT;  // HIP 7 with a device
const std::string kOld = FAKE_OLD;  // HIP 5 with a device
const std::string kIdle = FAKE_IDLE;  // HIP 5 without one
const std::string kSplit = FAKE_SPLIT;  // without hipMemcpyAsync
const std::string kPortable = PORTABLE;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string probe(const std::vector<std::string>& steps, const std::string& wish = "") {
  std::vector<std::string> arguments = {LOADER_PROBE};
  arguments.insert(arguments.end(), steps.begin(), steps.end());
  test::ProcessOptions options;
  options.environment = {"HIP_PORTABLE_BACKEND=emulated", "ROCM_PATH",
                         wish.empty() ? "HIPFILE_HIP_LIBRARY" : "HIPFILE_HIP_LIBRARY=" + wish};
  const test::ProcessResult result = test::run_process(arguments, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Loader, OursIsFoundBesideTheProgram) {
  EXPECT_TRUE(contains(probe({"bind"}), "libhip_portable.so")) << probe({"bind"});
}

TEST(Loader, Rule1_MappedRuntimeWins) {
  EXPECT_EQ(probe({"load=" + kCurrent, "bind"}), base_name(kCurrent) + "\n");
}

TEST(Loader, Rule2_WishIsHeard) {
  EXPECT_EQ(probe({"bind"}, kCurrent), base_name(kCurrent) + "\n");
}

TEST(Loader, Rule2_WishThatDoesNotLoadIsAnError) {
  const std::string answer = probe({"bind"}, "/nonexistent/libamdhip64.so");
  EXPECT_TRUE(contains(answer, "error ")) << answer;
  EXPECT_TRUE(contains(answer, "HIPFILE_HIP_LIBRARY")) << answer;
  EXPECT_TRUE(contains(answer, "/nonexistent/libamdhip64.so")) << answer;
}

TEST(Loader, Rule2_WishAgainstAMappedRuntimeIsAnErrorThatNamesBoth) {
  const std::string answer = probe({"load=" + kCurrent, "bind"}, kPortable);
  EXPECT_TRUE(contains(answer, "error ")) << answer;
  EXPECT_TRUE(contains(answer, base_name(kCurrent))) << answer;
  EXPECT_TRUE(contains(answer, "libhip_portable")) << answer;
}

TEST(Loader, Rule2_WishForThatWhichIsMappedIsFine) {
  EXPECT_EQ(probe({"load=" + kCurrent, "bind"}, kCurrent), base_name(kCurrent) + "\n");
}

TEST(Loader, Rule1_OldRuntimeIsRefusedWithItsVersion) {
  const std::string answer = probe({"bind"}, kOld);
  EXPECT_TRUE(contains(answer, "HIP 5, older than 6")) << answer;
}

TEST(Loader, Rule1_NothingStandsInForAMappedOldRuntimeWithDevices) {
  const std::string answer = probe({"load=" + kOld, "bind"});
  EXPECT_TRUE(contains(answer, "error ")) << answer;
  EXPECT_TRUE(contains(answer, "older than 6")) << answer;
}

TEST(Loader, Rule1_MappedOldRuntimeWithoutDevicesIsPassedOver) {
  const std::string answer = probe({"load=" + kIdle, "bind"});
  EXPECT_TRUE(contains(answer, "libhip_portable.so")) << answer;
}

TEST(Loader, Rule1_RuntimeThatLacksAFunctionIsRefused) {
  const std::string answer = probe({"bind"}, kSplit);
  EXPECT_TRUE(contains(answer, "hipMemcpyAsync")) << answer;
}

TEST(Loader, Rule2_OfTwoTheOneThatKnowsThePointer) {
  const std::string fake = base_name(kCurrent) + "\n";
  const std::string answer = probe({"load=" + kCurrent, "load=" + kPortable, "own=" + kPortable,
                                    "own=" + kCurrent, "host"});
  EXPECT_TRUE(contains(answer, "libhip_portable.so")) << answer;
  EXPECT_TRUE(contains(answer, fake + fake)) << answer;  // plain host memory: the first
}

TEST(Loader, Rule3_RuntimeThatIsLoadedLaterIsFound) {
  const std::string answer = probe({"bind", "load=" + kCurrent, "own=" + kCurrent});
  EXPECT_TRUE(contains(answer, "libhip_portable.so")) << answer;
  EXPECT_TRUE(contains(answer, base_name(kCurrent) + "\n")) << answer;
}

TEST(Loader, Rule2_StreamsBelongToTheRuntimeOfTheMemory) {
  const std::string fake = base_name(kCurrent) + "\n";
  const std::string answer =
      probe({"load=" + kCurrent, "load=" + kPortable, "stream=" + kCurrent, "stream=" + kPortable,
             "stream=" + kCurrent});
  EXPECT_EQ(answer.find(fake), 0u) << answer;
  EXPECT_TRUE(contains(answer, "libhip_portable.so")) << answer;
  EXPECT_EQ(answer.rfind(fake), answer.size() - fake.size()) << answer;
}

TEST(Numa, Rule13_NodeOfAPciDeviceIsReadInLowerCase) {
  const test::TempDir root;
  const std::string folder = root.path() + "/sys/bus/pci/devices/0000:3b:00.0";
  std::filesystem::create_directories(folder);
  test::write_file(folder + "/numa_node", {'1', '\n'});
  EXPECT_EQ(gpu::numa_node_of_pci("0000:3B:00.0", root.path()), 1);
  EXPECT_EQ(gpu::numa_node_of_pci("0000:ff:00.0", root.path()), -1);
  EXPECT_EQ(gpu::numa_node_of_pci("", root.path()), -1);
  EXPECT_EQ(gpu::numa_node_of_pci("../..", root.path()), -1);
}

}  // namespace
}  // namespace hipfile
