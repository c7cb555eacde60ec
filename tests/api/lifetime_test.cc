// SPDX-License-Identifier: MIT
//
// The library in the life of a process (lifetime_probe.cc): when a runtime is bound, what it is
// asked for, and how the library is left. The runtime is named like AMD's (rocm_runtime.cc), or is
// the portable one.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "pattern.h"
#include "process.h"
#include "temp_dir.h"

namespace hipfile::test {
namespace {

const std::string kLinked = LINKED_PROBE;
const std::string kDlopened = DLOPENED_PROBE;
const std::string kRocm = ROCM_RUNTIME;
const std::string kPortable = PORTABLE_RUNTIME;

// What a call answers once the runtime is gone, and what it answers as long as it is there.
const std::string kClosing = ": read -5006 errno 0 buffer 5006 open 5006 close 5006\n";
const std::string kWorking = ": read 4096 errno 0 buffer 0 open 0 close 0\n";
const std::string kWorkingAgain = ": read 4096 errno 0 buffer 5023 open 0 close 0\n";

struct Seen : ProcessResult {
  std::string events;
};

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class LifetimeTest : public testing::Test {
 protected:
  void SetUp() override { write_file(dir_.file("f"), make_pattern(1 << 20, 1)); }

  Seen run(const std::string& program, const std::string& runtime,
           const std::vector<std::string>& steps, std::vector<std::string> environment = {}) const {
    std::vector<std::string> command{program, dir_.file("f"), LIBRARY, runtime};
    command.insert(command.end(), steps.begin(), steps.end());
    ProcessOptions options;
    options.environment = {"HIPFILE_HIP_LIBRARY", "ROCM_PATH", "HIP_PORTABLE_BACKEND=emulated",
                           "HIPFILE_TEST_EVENTS=" + dir_.file("events")};
    options.environment.insert(options.environment.end(), environment.begin(), environment.end());
    options.timeout_s = 120;
    write_file(dir_.file("events"), {});
    Seen seen;
    static_cast<ProcessResult&>(seen) = run_process(command, options);
    const std::vector<uint8_t> events = read_file(dir_.file("events"));
    seen.events.assign(events.begin(), events.end());
    return seen;
  }

  TempDir dir_;
};

class ExitTest : public LifetimeTest, public testing::WithParamInterface<std::string> {
 protected:
  const std::string& program() const { return GetParam(); }
};

// Both orders: the program's handler before and behind that of the library.
TEST_P(ExitTest, Rule6_CallsAfterTheRuntimeIsGoneSayThatTheDriverCloses) {
  for (const char* first : {"library", "runtime"}) {
    const std::string second = first == std::string("library") ? "runtime" : "library";
    const Seen seen = run(program(), kRocm,
                          {"static", "early", first, second, "register", "memory", "read", "late"});
    EXPECT_EQ(seen.out,
              "register 0\nread 4096\nlate" + kWorking + "early" + kClosing + "static" + kClosing)
        << first;
    EXPECT_EQ(seen.exit_code, 0) << seen.err;
    EXPECT_EQ(seen.err, "");
  }
}

TEST_P(ExitTest, Rule6_EmulatedDeviceWorksToTheVeryEnd) {
  const Seen seen =
      run(program(), kPortable,
          {"static", "early", "library", "runtime", "register", "memory", "read", "late"});
  EXPECT_EQ(seen.out, "register 0\nread 4096\nlate" + kWorking + "early" + kWorkingAgain +
                          "static" + kWorkingAgain);
  EXPECT_EQ(seen.exit_code, 0) << seen.err;
}

TEST_P(ExitTest, Rule6_ExitWaitsTwoSecondsForWhatHangs) {
  const Seen seen =
      run(program(), kRocm, {"clock", "early", "library", "runtime", "register", "memory", "hang"},
          {"HIPFILE_TEST_HANG=hipStreamSynchronize", "HIPFILE_FORCE_COMPAT_MODE=true"});
  EXPECT_EQ(seen.exit_code, 0) << seen.err;
  const std::string begin = "register 0\nearly" + kClosing + "waited ";
  ASSERT_EQ(seen.out.substr(0, begin.size()), begin);
  const int waited_ms = std::stoi(seen.out.substr(begin.size()));
  EXPECT_GE(waited_ms, 1900);
  EXPECT_LT(waited_ms, 20000);  // of a busy machine, and not for ever
}

TEST_P(ExitTest, Rule6_NothingIsUnloaded) {
  const Seen unused = run(program(), kPortable, {"library", "runtime", "unload", "maps"});
  EXPECT_EQ(unused.out, "mapped: libhipfile libhip_portable\n");
  for (const std::string& runtime : {kRocm, kPortable}) {
    const Seen seen = run(
        program(), runtime,
        {"library", "runtime", "register", "memory", "read", "unload", "read", "library", "read"});
    EXPECT_EQ(seen.out, "register 0\nread 4096\nread 4096\nread 4096\n");
    EXPECT_EQ(seen.exit_code, 0) << seen.err;
  }
}

TEST_P(ExitTest, Rule6_ThousandReloadsLeaveNothing) {
  const Seen seen =
      run(program(), kPortable, {"library", "runtime", "register", "memory", "reload"});
  EXPECT_EQ(seen.exit_code, 0) << seen.err;
  long threads = 0, descriptors = 0, kib = 0;
  ASSERT_EQ(3,
            std::sscanf(seen.out.c_str(), "register 0\ngrown: threads %ld descriptors %ld KiB %ld",
                        &threads, &descriptors, &kib))
      << seen.out;
  EXPECT_LE(threads, long(std::thread::hardware_concurrency()));  // as many as the pool may have
  EXPECT_EQ(descriptors, 0);
  EXPECT_LT(kib, 1024);
}

// As ctypes and other languages see it.
TEST_P(ExitTest, Rule7_NegatedCodeIsANegativeNumberForCallersWithoutTheHeader) {
  const Seen seen = run(program(), kPortable, {"library", "register", "read"});  // no memory: NULL
  EXPECT_EQ(seen.out, "register 0\nread -5022\n");
}

TEST_P(ExitTest, Rule3_RuntimeIsNotBoundBeforeTheFirstPointer) {
  const Seen seen =
      run(program(), kPortable, {"library", "register", "maps", "memory", "read", "maps"});
  EXPECT_EQ(seen.out,
            "register 0\nmapped: libhipfile\nread 4096\nmapped: libhipfile libhip_portable\n")
      << seen.err;
}

TEST_P(ExitTest, Rule3_WorkersThatAreForkedAfterRegistrationLoadTheirRuntime) {
  for (const std::string& runtime : {kRocm, kPortable}) {
    const Seen seen = run(program(), runtime,
                          {"library", "register", "fork", "register", "runtime", "memory", "read"});
    EXPECT_EQ(seen.out, "register 0\nregister 0\nread 4096\n");
    EXPECT_EQ(seen.exit_code, 0) << seen.err;
  }
}

INSTANTIATE_TEST_SUITE_P(, ExitTest, testing::Values(kLinked, kDlopened), [](const auto& program) {
  return program.param == kLinked ? "Linked" : "Dlopened";
});

class RuntimeUseTest : public LifetimeTest {
 protected:
  Seen bounce(const std::vector<std::string>& more, std::vector<std::string> environment = {}) {
    std::vector<std::string> steps{"library", "register", "runtime", "memory"};
    steps.insert(steps.end(), more.begin(), more.end());
    environment.emplace_back("HIPFILE_FORCE_COMPAT_MODE=true");
    return run(kLinked, kRocm, steps, environment);
  }
};

TEST_F(RuntimeUseTest, Rule14_CopiesRunOnOneNonBlockingStreamOfTheHighestPriority) {
  const Seen seen = bounce({"read", "read", "read-all"});
  EXPECT_EQ(seen.out, "register 0\nread 4096\nread 4096\nread 1048576\n");
  EXPECT_EQ(count_of(seen.events, "stream 1 1 "), 1u) << seen.events;  // priorities: 1 to -1
  EXPECT_EQ(count_of(seen.events, "stream "), 1u) << seen.events;
  EXPECT_EQ(count_of(seen.events, "plain-"), 0u) << seen.events;
  EXPECT_GE(count_of(seen.events, "copy 0 "), 3u) << seen.events;
  EXPECT_EQ(count_of(seen.events, "copy 1 "), 0u) << "on the null stream: " << seen.events;
  EXPECT_EQ(count_of(seen.events, "synchronize-device"), 0u) << seen.events;
}

TEST_F(RuntimeUseTest, Rule14_StreamsAreMadeAtFirstUse) { EXPECT_EQ(bounce({}).events, ""); }

TEST_F(RuntimeUseTest, Rule13_FirstSlabIsEightMebibytesRegisteredAsPortable) {
  const Seen seen = bounce({"read", "read"});
  EXPECT_EQ(count_of(seen.events, "register 1 8388608 "), 1u) << seen.events;
  EXPECT_EQ(count_of(seen.events, "register "), 1u) << seen.events;
}

TEST_F(RuntimeUseTest, Rule13_WithoutRegistrationTheRingIsPageableAndWorks) {
  const Seen seen = bounce({"read", "read-all"}, {"HIPFILE_TEST_FAIL=hipHostRegister"});
  EXPECT_EQ(seen.out, "register 0\nread 4096\nread 1048576\n") << seen.err;
  EXPECT_EQ(count_of(seen.events, "register "), 0u);
}

class FailureTest : public RuntimeUseTest, public testing::WithParamInterface<const char*> {};

// Of AMD's runtime the last error cannot be set, but a success can be restored.
TEST_P(FailureTest, Rule8_FailingCallOfOursIsNotTheThreadsLastError) {
  const Seen seen =
      bounce({"read", "read-all", "last-error"}, {std::string("HIPFILE_TEST_FAIL=") + GetParam()});
  EXPECT_EQ(seen.exit_code, 0) << seen.err;
  EXPECT_EQ(count_of(seen.out, "last error 0\n"), 1u) << seen.out;
  const bool is_needed = GetParam() != std::string("hipHostRegister");
  EXPECT_EQ(count_of(seen.out, "read -5011\n"), is_needed ? 2u : 0u) << seen.out;
}

INSTANTIATE_TEST_SUITE_P(, FailureTest,
                         testing::Values("hipPointerGetAttributes", "hipStreamCreateWithPriority",
                                         "hipMemcpyAsync", "hipStreamSynchronize",
                                         "hipHostRegister"),
                         [](const auto& function) { return std::string(function.param); });

// The portable runtime can be given back any error.
TEST_F(RuntimeUseTest, Rule8_ErrorOfTheProgramSurvivesAFailingCallOfOurs) {
  const std::vector<std::string> steps{"library",   "register", "runtime",   "memory",
                                       "set-error", "read",     "last-error"};
  for (const char* function : {"hipPointerGetAttributes", "hipMemcpyAsync"}) {
    const Seen seen = run(kLinked, FAULTY_RUNTIME, steps,
                          {"HIPFILE_TEST_HIP_FAULT=" + std::string(function) + ":1:1",
                           "HIPFILE_FORCE_COMPAT_MODE=true"});
    EXPECT_EQ(seen.out, "register 0\nread -5011\nlast error 101\n") << function << seen.err;
  }
}

class HangTest : public RuntimeUseTest,
                 public testing::WithParamInterface<std::pair<const char*, const char*>> {};

// A hang in the runtime: the log says where, once.
TEST_P(HangTest, Rule34_WatchdogNamesTheStage) {
  const auto& [function, stage] = GetParam();
  const Seen seen =
      run(kLinked, kRocm, {"library", "runtime", "register", "memory", "hang", "quit"},
          {std::string("HIPFILE_TEST_HANG=") + function, "HIPFILE_WATCHDOG_MS=200",
           "HIPFILE_LOGGING_LEVEL=warning", "HIPFILE_FORCE_COMPAT_MODE=true"});
  EXPECT_EQ(seen.exit_code, 0) << seen.err;
  EXPECT_EQ(count_of(seen.err, "ms for " + std::string(stage)), 1u) << seen.err;
}

INSTANTIATE_TEST_SUITE_P(
    , HangTest,
    testing::Values(std::pair("hipStreamSynchronize", "the copies of a request"),
                    std::pair("hipMemcpyAsync", "a copy to be queued"),
                    std::pair("hipPointerGetAttributes", "the HIP runtime to know a pointer"),
                    std::pair("hipHostRegister", "the registration of host memory")),
    [](const auto& instance) { return std::string(instance.param.first); });

}  // namespace
}  // namespace hipfile::test
