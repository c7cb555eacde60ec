// SPDX-License-Identifier: MIT
//
// Which runtime is bound, and what is said where none can be. Each case is a process of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "gpu/numa.h"
#include "loader_probing.h"
#include "temp_dir.h"

namespace hipfile {
namespace {

const std::string kOld = FAKE_OLD;      // HIP 5 with a device
const std::string kIdle = FAKE_IDLE;    // HIP 5 without one
const std::string kSplit = FAKE_SPLIT;  // without hipMemcpyAsync

TEST(Loader, OursIsFoundBesideTheProgramAndNothingIsPassedOver) {
  const std::string answer = probe({"bind", "describe"});
  EXPECT_EQ(answer.find("libhip_portable.so"), 0u) << answer;
  EXPECT_FALSE(contains(answer, "passed over")) << answer;
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

TEST(Loader, Rule1_RuntimeOfSeveralObjectsIsRefused) {
  const std::string answer = probe({"bind"}, FAKE_MIXED);
  EXPECT_TRUE(contains(answer, "come from several objects")) << answer;
}

// As package managers rename what they put into Python wheels.
TEST(Loader, Rule1_RuntimeIsFoundUnderAnyNameThatBeginsLikeOne) {
  const test::TempDir folder;
  for (const char* name : {"libamdhip64-0a1b2c3d.so.7.1.25424", "libhip_portable-9f8e7d6c.so.0"}) {
    std::filesystem::copy_file(kCurrent, folder.file(name));
    EXPECT_EQ(probe({"load=" + folder.file(name), "bind"}), name + std::string("\n"));
  }
}

TEST(Loader, Rule1_GlobalRuntimeInFrontOfOursChangesNothing) {
  const std::string fake = base_name(kCurrent) + "\n";
  const std::string answer = probe({"global=" + kCurrent, "load=" + kPortable, "own=" + kPortable,
                                    "stream=" + kPortable, "own=" + kCurrent});
  const std::string ours = base_name(kPortable);
  EXPECT_EQ(answer.find(ours), 0u) << answer;
  EXPECT_NE(answer.rfind(ours), 0u) << answer;  // the stream too
  EXPECT_EQ(answer.rfind(fake), answer.size() - fake.size()) << answer;
}

TEST(Loader, Rule1_ProgramThatContainsARuntimeIsOne) {
  EXPECT_EQ(probe_with(STATIC_PROBE, {"bind"}), base_name(STATIC_PROBE) + "\n");
}

TEST(Loader, Rule1_RuntimeThatLacksAFunctionIsRefused) {
  const std::string answer = probe({"bind"}, kSplit);
  EXPECT_TRUE(contains(answer, "hipMemcpyAsync")) << answer;
}

TEST(Loader, Rule2_OfTwoTheOneThatKnowsThePointer) {
  const std::string fake = base_name(kCurrent) + "\n";
  const std::string answer = probe(
      {"load=" + kCurrent, "load=" + kPortable, "own=" + kPortable, "own=" + kCurrent, "host"});
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
  const std::string answer = probe({"load=" + kCurrent, "load=" + kPortable, "stream=" + kCurrent,
                                    "stream=" + kPortable, "stream=" + kCurrent});
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
