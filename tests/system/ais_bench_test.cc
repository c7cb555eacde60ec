// SPDX-License-Identifier: MIT
// ais-bench as people run it: figures beside their partners, wrong bytes, refusals, exit codes.
// Nothing here depends on how fast anything is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "modes.h"
#include "pattern.h"
#include "process.h"
#include "temp_dir.h"

namespace hipfile::test {
namespace {

constexpr char kTool[] = TEST_AIS_BENCH;
constexpr size_t kSize = size_t{1} << 20;

class AisBenchTest : public testing::Test {
 protected:
  ProcessResult tool(std::vector<std::string> arguments, const ProcessOptions& options = {}) {
    arguments.insert(arguments.begin(), kTool);
    return run_process(arguments, options);
  }

  // Runs on a new file of 1 MiB with two pairs; each of `words` stands in the table.
  void expect_table(std::vector<std::string> arguments, const std::vector<std::string>& words) {
    for (const char* word : {"--size", "1M", "--runs", "2"}) arguments.push_back(word);
    arguments.push_back(dir_.path());
    const ProcessResult result = tool(arguments);
    EXPECT_EQ(0, result.exit_code) << result.err;
    EXPECT_EQ("", result.err);
    for (const std::string& word : words) {
      EXPECT_NE(std::string::npos, result.out.find(word)) << word << " in\n" << result.out;
    }
  }
  static void expect_refusal(const ProcessResult& result, int exit_code, const std::string& why) {
    EXPECT_EQ(exit_code, result.exit_code);
    EXPECT_EQ("", result.out);
    EXPECT_NE(std::string::npos, result.err.find(why)) << result.err;
  }

  TempDir dir_;
};

TEST_F(AisBenchTest, CeilingsOfEachPart) {
  expect_table({"ceilings"}, {"| pinned memory to device ", "| pread, 1 thread of 1 MiB ",
                              "| pwrite, 1 thread", "| pread and copy by hand, ",
                              "| hipMemcpy and pwrite, 16 MiB of pageable memory "});
}

TEST_F(AisBenchTest, ReadsBesideACeiling) {
  expect_table({"read", "--threads", "1,3", "--call", "64K"},
               {"| hipFileRead, cached, 1 thread ", "| hipFileRead, cached, 3 threads ",
                "| pread, 1 thread of 1 MiB ", "| ratio (95 %) "});
  expect_table({"read", "--cold", "--unregistered"}, {"| hipFileRead, cold, 1 thread "});
  expect_table({"read", "--beside", "hand", "--call", "4K"},
               {"| pread and copy by hand, 1 thread of 4 KiB "});
}

TEST_F(AisBenchTest, WritesBesideACeiling) {
  expect_table({"write"}, {"| hipFileWrite, cached, 1 thread ", "| pwrite, 1 thread of 1 MiB "});
  expect_table(
      {"write", "--threads", "2", "--beside", "hand", "--call", "256K"},
      {"| hipFileWrite, cached, 2 threads ", "| copy and pwrite by hand, 2 threads of 256 KiB "});
}

TEST_F(AisBenchTest, AsyncBesideTheSynchronousCall) {
  expect_table({"async", "--streams", "3", "--call", "100K", "--beside", "sync"},
               {"| hipFileReadAsync, cached, 3 streams ", "| hipFileRead, cached, 3 threads "});
  expect_table({"async", "--write", "--queue", "1", "--call", "64K"},
               {"| hipFileWriteAsync, cached, 8 streams ", "| pwrite, 1 thread of 1 MiB "});
}

TEST_F(AisBenchTest, StartOfAProcess) {
  expect_table({"start"}, {"| start to main() ", "| start to a device and its memory ",
                           "| start to 4096 bytes in device memory ", "| by hand "});
}

TEST_F(AisBenchTest, JsonHasEverySample) {
  const ProcessResult result = tool({"read", "--json", "--size", "1M", "--runs", "3", dir_.path()});
  EXPECT_EQ(0, result.exit_code) << result.err;
  EXPECT_EQ('{', result.out[0]);
  EXPECT_NE(std::string::npos, result.out.find("\"bytes\": 1048576"));
  size_t samples = 0;
  for (size_t at = 0; (at = result.out.find("\"cpu_seconds\"", at)) != std::string::npos; ++at) {
    ++samples;
  }
  EXPECT_EQ(1u + 3 + 3, samples) << result.out;  // the first run, and three pairs
}

TEST_F(AisBenchTest, NothingIsLeftInTheDirectory) {
  expect_table({"read"}, {});
  EXPECT_EQ("", run_process({"ls", "-A", dir_.path()}).out);
}

TEST_F(AisBenchTest, AnExistingFileIsOnlyWrittenWhenAsked) {
  const std::vector<uint8_t> bytes = make_pattern(kSize, 7);
  const std::string file = dir_.file("f");
  write_file(file, bytes);
  EXPECT_EQ(0, tool({"read", "--runs", "1", file}).exit_code);
  EXPECT_EQ(0, tool({"ceilings", "--runs", "1", file}).exit_code);
  expect_refusal(tool({"write", "--runs", "1", file}), 1, "--overwrite");
  expect_refusal(tool({"async", "--write", "--runs", "1", file}), 1, "--overwrite");
  EXPECT_EQ("", first_difference(read_file(file), bytes));
  EXPECT_EQ(0, tool({"write", "--overwrite", "--runs", "1", file}).exit_code);
  EXPECT_NE("", first_difference(read_file(file), bytes));
  EXPECT_EQ(static_cast<off_t>(kSize), file_size(file));
}

TEST_F(AisBenchTest, WrongUsage) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"sideways", "/tmp"},
                                                    {"read"},
                                                    {"read", "/nowhere/at/all"},
                                                    {"read", "--size", "much", "/tmp"},
                                                    {"read", "--threads", "0", "/tmp"},
                                                    {"read", "--threads", "65", "/tmp"},
                                                    {"read", "--runs", "0", "/tmp"},
                                                    {"read", "--call", "0x7ffff001", "/tmp"},
                                                    {"read", "--beside", "sync", "/tmp"},
                                                    {"read", "--busy", "--beside", "hand", "/tmp"},
                                                    {"async", "--busy", "/tmp"},
                                                    {"ceilings", "--threads", "1", "/tmp"},
                                                    {"async", "--streams", "0", "/tmp"}}) {
    const ProcessResult result = tool(arguments);
    EXPECT_EQ(2, result.exit_code) << testing::PrintToString(arguments);
    EXPECT_EQ("", result.out);
    EXPECT_NE("", result.err);
  }
  EXPECT_EQ(0, tool({"--help"}).exit_code);
  EXPECT_EQ("ais-bench (hipFile) 0.5.0\n", tool({"--version"}).out);
}

TEST_F(AisBenchTest, Refusals) {
  const std::string file = dir_.file("f");
  write_file(file, make_pattern(kSize, 1));
  expect_refusal(tool({"read", "--size", "2M", file}), 1, "shorter than --size");
  expect_refusal(tool({"read", "/dev/null"}), 1, "neither a file nor a directory");
  expect_refusal(tool({"read", "--gpu", "77", file}), 1, "hipErrorInvalidDevice");
  const ProcessOptions no_gpu = {{"HIP_PORTABLE_BACKEND=cuda", "LD_LIBRARY_PATH="}, "", 120};
  if (::access("/dev/nvidiactl", F_OK) != 0) {
    const ProcessResult result = tool({"read", file}, no_gpu);
    EXPECT_EQ(1, result.exit_code);
    EXPECT_NE("", result.err);
  }
  const ProcessResult full =
      run_process({"sh", "-c", std::string(kTool) + " read --runs 1 " + file + " > /dev/full"});
  EXPECT_EQ(1, full.exit_code);
}

// A kernel that has ended, as those of the fake driver do at once, is none to measure beside.
TEST_F(AisBenchTest, BusyNeedsAKernelThatRuns) {
  const std::vector<std::string> arguments = {"read",   "--busy", "--size",   "1M",
                                              "--runs", "1",      dir_.path()};
  if (is_on_nvidia()) {
    const ProcessResult result = tool(arguments);
    EXPECT_EQ(0, result.exit_code) << result.err;
    EXPECT_NE(std::string::npos, result.out.find("1 thread, beside a kernel ")) << result.out;
    return;
  }
  expect_refusal(tool(arguments), 1, "no kernel can run here");
  const ProcessOptions fake = {
      {"HIP_PORTABLE_CUDA_LIBRARY=" TEST_FAKE_CUDA, "HIP_PORTABLE_BACKEND=cuda"}, "", 120};
  expect_refusal(tool(arguments, fake), 1, "the kernel ended before the run beside it");
}

// The runtime of the tests changes bytes on their way into device memory: those of a file call, of
// the ring's copies, of late-bound copies, each on both devices.
TEST_F(AisBenchTest, AWrongByteIsNoFigure) {
  const std::string runtime = TEST_TAMPER_RUNTIME;
  if (runtime.empty()) GTEST_SKIP() << "no such runtime in this build";
  const std::vector<std::string> places[] = {
      {"HIPFILE_FORCE_COMPAT_MODE=false"},
      {"HIPFILE_FORCE_COMPAT_MODE=true"},
      {"HIP_PORTABLE_CUDA_LIBRARY=" TEST_FAKE_CUDA, "HIP_PORTABLE_BACKEND=cuda"}};
  for (const std::vector<std::string>& place : places) {
    ProcessOptions tampered = {
        {"HIPFILE_HIP_LIBRARY=" + runtime, "HIPFILE_TEST_TAMPER=1"}, "", 120};
    tampered.environment.insert(tampered.environment.end(), place.begin(), place.end());
    SCOPED_TRACE(place.back());
    for (const char* verb : {"read", "async"}) {
      expect_refusal(tool({verb, "--size", "1M", "--runs", "1", dir_.path()}, tampered), 1,
                     "file and device differ");
    }
    expect_refusal(tool({"start", "--runs", "1", dir_.path()}, tampered), 1, "the bytes are wrong");
  }
}

}  // namespace
}  // namespace hipfile::test
