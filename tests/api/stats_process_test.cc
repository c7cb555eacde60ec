// SPDX-License-Identifier: MIT
// Statistics of whole processes: idle ones, those that count nothing, children of fork, devices
// beyond the sixteenth.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "api_fixture.h"
#include "probes.h"

namespace hipfile::test {
namespace {

class StatsProcessTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    write_file(file("f"), make_pattern(65536, 1));
  }
  // What a fresh process tells about itself after a read into memory of `device` (-1: no read).
  std::string tell(const std::string& device, const std::vector<std::string>& environment = {}) {
    const ProcessResult result = probe("stats", {file("f"), device}, environment);
    EXPECT_EQ(0, result.exit_code) << result.err;
    return result.out;
  }
};

constexpr char kNothing[] = "reads 0 bytes 0 files 0 writes 0 gpus 0\n";

TEST_F(StatsProcessTest, IdleProcessShowsZeros) { EXPECT_EQ(kNothing, tell("-1")); }

TEST_F(StatsProcessTest, LevelZeroCountsNothing) {
  EXPECT_EQ(kNothing, tell("0", {"HIPFILE_STATS_LEVEL=0"}));
}

TEST_F(StatsProcessTest, AnyOtherLevelCounts) {
  for (const char* level : {"1", "2", "7", "nonsense"}) {
    EXPECT_EQ("reads 1 bytes 8192 files 1 writes 0 gpus 1\nGPU 0 8192\n",
              tell("0", {std::string("HIPFILE_STATS_LEVEL=") + level,
                         "HIP_PORTABLE_BACKEND=emulated"}))  // a context for each takes long
        << level;
  }
}

TEST_F(StatsProcessTest, DeviceBeyondTheSixteenthCountsInTheSumsOnly) {
  EXPECT_EQ("reads 1 bytes 8192 files 1 writes 0 gpus 0\n",
            tell("16", {"HIP_PORTABLE_DEVICES=17", "HIP_PORTABLE_BACKEND=emulated"}));
  EXPECT_EQ("reads 1 bytes 8192 files 1 writes 0 gpus 1\nGPU 15 8192\n",
            tell("15", {"HIP_PORTABLE_DEVICES=17", "HIP_PORTABLE_BACKEND=emulated"}));
}

TEST_F(StatsProcessTest, Rule33ChildOfForkCountsForItself) {
  RegisteredFile f(file("g"), 65536, 1);
  Buffer buffer(65536, MemoryKind::kHost);
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  hipFileStatsLevel1_t before;
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL1(&before));
  EXPECT_EQ(0, step_of_child([&] {
              hipFileStatsLevel1_t level;
              if (hipFileGetStatsL1(&level).err != hipFileSuccess) return 1;
              if (level.read_ops.ok != 0) return 2;
              hipFileDescr_t descr = describe(f.fd());
              hipFileHandle_t handle = nullptr;
              if (hipFileHandleRegister(&handle, &descr).err != hipFileSuccess) return 3;
              (void)hipFileRead(nullptr, buffer.data(), 65536, 0, 0);
              if (hipFileGetStatsL1(&level).err != hipFileSuccess) return 4;
              return level.hdl_register_ops.ok == 1 && level.read_ops.err == 1 ? 0 : 5;
            }));
  hipFileStatsLevel1_t after;
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL1(&after));
  EXPECT_EQ(before.hdl_register_ops.ok, after.hdl_register_ops.ok);
  EXPECT_EQ(before.read_ops.err, after.read_ops.err);
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL1(&after));
  EXPECT_EQ(1u, after.read_ops.ok - before.read_ops.ok);
}

}  // namespace
}  // namespace hipfile::test
