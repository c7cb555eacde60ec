// SPDX-License-Identifier: MIT
// Operations and batches in flight while their process forks, becomes another program, or ends.
#include "in_flight.h"

#include <sys/wait.h>
#include <unistd.h>

#include "modes.h"
#include "probes.h"

namespace hipfile::test {
namespace {

class InFlightTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (!calls_are_queued()) GTEST_SKIP() << "calls block here";
    write_file(file("f"), make_pattern(InFlight::kCount * InFlight::kSize, 1));
  }
  std::string tell(const std::string& name, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), file("f"));
    // What ends in the middle of its work leaves that behind.
    const ProcessResult result =
        probe(name, arguments, {"HIPFILE_STATS_LEVEL=3", "ASAN_OPTIONS=detect_leaks=0"});
    EXPECT_EQ(0, result.exit_code) << result.err;
    EXPECT_EQ("", result.err);
    return result.out;
  }
};

// The first answer is that of a library that was not open; it is then, and knows nothing.
int use_what_is_inherited(InFlight& flight) {
  if (hipFileUseCount() != 0) return 1;
  AsyncCall call{4096};
  const auto read = [&] { return call.read(flight.file(), flight.buffer(), flight.paused()).err; };
  const auto write = [&] { return call.write(flight.file(), flight.buffer(), nullptr).err; };
  if (read() != hipFileInvalidValue || hipFileUseCount() != 1) return 2;
  if (read() != hipFileHandleNotRegistered || write() != hipFileHandleNotRegistered) return 3;
  if (call.bytes != 4711) return 4;
  if (hipFileStreamDeregister(flight.running()).err != hipFileInvalidValue) return 5;
  if (hipFileStreamRegister(flight.running(), 0).err != hipFileHipDriverError) return 6;
  hipFileIOParams_t params = {};
  hipFileIOEvents_t event = {};
  unsigned count = 1;
  const hipFileBatchHandle_t batch = flight.batch();
  if (hipFileBatchIOSubmit(batch, 1, &params, 0).err != hipFileInvalidValue) return 7;
  const auto status = hipFileBatchIOGetStatus(batch, 1, &count, &event, nullptr).err;
  if (status != hipFileInvalidValue || count != 1) return 8;
  if (hipFileBatchIOCancel(batch).err != hipFileInvalidValue) return 9;
  hipFileBatchIODestroy(batch);
  hipFileHandleDeregister(flight.file());
  return 0;
}

// A batch and a file are made anew; what needs the runtime of the parent gets its error.
int begin_anew(InFlight& flight) {
  hipFileBatchHandle_t batch = nullptr;
  if (hipFileBatchIOSetUp(&batch, 4).err != hipFileSuccess || batch == flight.batch()) return 11;
  const Fd fd("/proc/self/exe", O_RDONLY);
  hipFileDescr_t descr = describe(fd.get());
  hipFileHandle_t handle = nullptr;
  if (hipFileHandleRegister(&handle, &descr).err != hipFileSuccess) return 12;
  AsyncCall call{4096};
  if (call.read(handle, flight.buffer(), flight.running()).err != hipFileHipDriverError) return 13;
  if (hipFileRead(handle, flight.buffer().data(), 4096, 0, 0) >= 0) return 14;
  hipFileBatchIODestroy(batch);
  if (hipFileDriverClose().err != hipFileSuccess || hipFileUseCount() != 0) return 15;
  return 0;
}

TEST_F(InFlightTest, Rule33_WhatIsInheritedIsDeadAndTheParentGoesOn) {
  InFlight flight(file("f"));
  EXPECT_CODE(hipFileSuccess, hipFileStreamRegister(flight.running(), 0));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(0, step_of_child([&] {
                const int step = use_what_is_inherited(flight);
                return step != 0 ? step : begin_anew(flight);
              }));
  }
  EXPECT_CODE(hipFileSuccess, hipFileStreamDeregister(flight.running()));
  EXPECT_EQ("", flight.finish());
}

TEST_F(InFlightTest, Rule33_ChildThatEndsAsAProgramDoesLeavesTheParentAlone) {
  EXPECT_EQ("child 0\nflight right\n", tell("fork-exit"));
}

TEST_F(InFlightTest, Rule33_ChildOfAParentWithoutGpuDoesEverything) {
  EXPECT_EQ("flight right\n", tell("fork-flight"));
}

TEST_F(InFlightTest, ExecInTheMiddleHandsOnNoDescriptor) {
  const std::string fresh = tell("after-exec");
  EXPECT_NE(std::string::npos, fresh.find("flight right")) << fresh;
  EXPECT_EQ(fresh, tell("exec-flight"));
}

TEST_F(InFlightTest, Rule34_CloseInAHostFunctionBeforeARuntimeIsBoundHasNothingToWaitFor) {
  EXPECT_EQ("closed 0 count 0\nflight right\n", tell("close-in-host-function"));
}

class ExitInFlightTest : public InFlightTest, public testing::WithParamInterface<unsigned> {};

// What is waited for in vain is waited for each time; what is only slow, on a busy machine, is not.
constexpr int kPatienceMs = 2000;
constexpr int kMostTurns = 5;

int ms_of(const std::string& out) {
  const size_t at = out.find("ms ");
  return at == std::string::npos ? -1 : std::stoi(out.substr(at + 3));
}

template <typename Exit>
void expect_to_end_at_once(Exit exit) {
  int ms = kPatienceMs;
  for (int turn = 0; turn < kMostTurns && ms >= kPatienceMs; ++turn) {
    const std::string out = exit();
    ms = ms_of(out);
    EXPECT_GE(ms, 0) << out;
  }
  EXPECT_LT(ms, kPatienceMs);
}

TEST_P(ExitInFlightTest, Rule6_ProcessEndsAtOnce) {
  expect_to_end_at_once([this] { return tell("exit-flight", {std::to_string(GetParam()), "0"}); });
}

TEST_P(ExitInFlightTest, Rule6_HandlersAndDestructorsMayCall) {
  expect_to_end_at_once([this] {
    const std::string out = tell("exit-flight", {std::to_string(GetParam()), "0", "calls"});
    for (const char* who : {"late", "middle", "early", "static"}) {
      EXPECT_NE(std::string::npos, out.find(std::string(who) + " right\n")) << out;
    }
    return out;
  });
}

std::string name_of_parts(const testing::TestParamInfo<unsigned>& parts) {
  if (parts.param == InFlight::kPaused) return "Paused";
  if (parts.param == InFlight::kRunning) return "Running";
  return parts.param == InFlight::kBatch ? "Batch" : "All";
}

// The streams drop what they hold before that handler runs: what is half done ends all the same. A
// GPU's runtime is gone by then, and the library with it.
TEST_F(InFlightTest, Rule6_DriverClosesAtExitWhileARequestIsHalfDone) {
  ASSERT_EQ(0, truncate(file("f").c_str(), InFlight::kLongSize));
  for (const char* ms : {"2", "5", "10"}) {
    expect_to_end_at_once([&] {
      const std::string out = tell("exit-flight", {std::to_string(InFlight::kLong), ms, "close"});
      EXPECT_EQ(is_on_nvidia() ? "closed 5006\n" : "closed 0\n", out.substr(0, out.find("ms ")));
      return out;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(, ExitInFlightTest,
                         testing::Values(unsigned{InFlight::kPaused}, unsigned{InFlight::kRunning},
                                         unsigned{InFlight::kBatch}, unsigned{InFlight::kAll}),
                         name_of_parts);

}  // namespace
}  // namespace hipfile::test
