// SPDX-License-Identifier: MIT
// ais-stats as people run it: launch, attach, refusals, exit codes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hipfile-stats.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "pattern.h"
#include "process.h"
#include "temp_dir.h"

namespace hipfile::test {
namespace {

constexpr char kTool[] = TEST_AIS_STATS;
constexpr char kTarget[] = TEST_STATS_TARGET;

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// A target that runs beside the test.
class Target {
 public:
  Target(const std::string& file, const char* word) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(kTarget, kTarget, file.c_str(), word, nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  ~Target() {
    kill();
    ::close(output_);
  }
  pid_t pid() const { return pid_; }
  std::string number() const { return std::to_string(pid_); }
  // True once it said that it is ready.
  bool is_ready() const {
    char byte = 0;
    return ::read(output_, &byte, 1) == 1 && byte == 'r';
  }
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

class AisStatsTest : public testing::Test {
 protected:
  void SetUp() override { write_file(file_, make_pattern(65536, 1)); }

  ProcessResult tool(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kTool);
    return run_process(arguments);
  }
  static void expect_report(const ProcessResult& result, size_t processes = 1) {
    EXPECT_EQ(0, result.exit_code) << result.err;
    EXPECT_EQ("", result.err);
    EXPECT_EQ(processes, count_of(result.out, "AIS-STATS Version: 1\n")) << result.out;
    EXPECT_EQ(processes, count_of(result.out, "File Handle Registrations: 1\n")) << result.out;
    EXPECT_EQ(processes, count_of(result.out, "Read Size (B): 8192\n")) << result.out;
    EXPECT_EQ(processes, count_of(result.out, "GPU 0:\n")) << result.out;
  }
  static void expect_refusal(const ProcessResult& result, const std::string& why) {
    EXPECT_EQ(1, result.exit_code);
    EXPECT_EQ("", result.out);
    EXPECT_NE(std::string::npos, result.err.find(why)) << result.err;
  }

  TempDir dir_;
  const std::string file_ = dir_.file("f");
};

TEST_F(AisStatsTest, LaunchReportsAtTheEnd) {
  for (int i = 0; i < 20; ++i) {  // one that ends at once is never missed
    const ProcessResult result = tool({kTarget, file_, "once"});
    EXPECT_EQ(0u, result.out.find("ready\n"));
    expect_report(result);
  }
}

TEST_F(AisStatsTest, LaunchReportsOnEachProcess) {
  const ProcessResult result = tool({kTarget, file_, "twice"});
  expect_report(result, 2);
  EXPECT_EQ(2u, count_of(result.out, "Process ")) << result.out;
}

TEST_F(AisStatsTest, LaunchThroughAShell) {
  expect_report(tool({"sh", "-c", std::string(kTarget) + " " + file_ + " once; exit 7"}));
}

TEST_F(AisStatsTest, LaunchWatchesWhileTheProgramRuns) {
  const ProcessResult result = tool({"--watch", "0.1", kTarget, file_, "late"});
  expect_report(result);
  EXPECT_GE(count_of(result.out, "s: read "), 2u) << result.out;
}

TEST_F(AisStatsTest, LaunchRefusals) {
  expect_refusal(tool({"/nowhere/program"}), "cannot run '/nowhere/program'");
  expect_refusal(tool({"true"}), "has not used hipFile");
  const ProcessResult off = tool({"env", "HIPFILE_STATS_LEVEL=0", kTarget, file_, "once"});
  EXPECT_EQ(1, off.exit_code);
  EXPECT_NE(std::string::npos, off.err.find("counts nothing")) << off.err;
}

TEST_F(AisStatsTest, WrongUsage) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"-p"},
                                                    {"-p", "0"},
                                                    {"-p", "x"},
                                                    {"-p", "1", "true"},
                                                    {"-i", "true"},
                                                    {"-w", "-1", "true"},
                                                    {"-p", "1", "-i", "-w", "1"}}) {
    const ProcessResult result = tool(arguments);
    EXPECT_EQ(1, result.exit_code) << testing::PrintToString(arguments);
    EXPECT_NE("", result.err);
  }
  EXPECT_EQ(0, tool({"--help"}).exit_code);
  EXPECT_EQ("ais-stats (hipFile) 0.5.0\n", tool({"--version"}).out);
}

TEST_F(AisStatsTest, AttachReportsAtOnce) {
  Target target(file_, "hold");
  ASSERT_TRUE(target.is_ready());
  expect_report(tool({"-p", target.number(), "-i"}));
  expect_report(tool({"-i", "-p", target.number()}));
}

TEST_F(AisStatsTest, AttachWaitsAndReportsOnAKilledProcess) {
  Target target(file_, "hold");
  ASSERT_TRUE(target.is_ready());
  const auto begin = std::chrono::steady_clock::now();
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(800));  // the tool has begun
    ::kill(target.pid(), SIGKILL);
  });
  expect_report(tool({"-p", target.number()}));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(800));
  killer.join();
}

TEST_F(AisStatsTest, AttachWaitsForTheFirstUse) {
  Target target(file_, "late-hold");
  std::thread killer([&] {
    EXPECT_TRUE(target.is_ready());
    std::this_thread::sleep_for(std::chrono::milliseconds(600));  // longer than any pause
    ::kill(target.pid(), SIGKILL);
  });
  expect_report(tool({"-p", target.number()}));
  killer.join();
}

TEST_F(AisStatsTest, AttachRefusals) {
  expect_refusal(tool({"-p", "99999999"}), "no such process");
  Target target(file_, "idle");
  ASSERT_TRUE(target.is_ready());
  expect_refusal(tool({"-p", target.number(), "-i"}), "has not used hipFile");
}

// The program is run by its descriptor: another user need not reach the folder it lies in.
TEST_F(AisStatsTest, AnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Target target(file_, "hold");
  ASSERT_TRUE(target.is_ready());
  const std::string output = dir_.file("output");
  Fd out(output, O_RDWR | O_CREAT);
  const Fd program(kTool, O_RDONLY);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(out.get(), STDOUT_FILENO);
    ::dup2(out.get(), STDERR_FILENO);
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(100);
    const std::string number = target.number();
    char name[] = "ais-stats", p[] = "-p", i[] = "-i";
    char* arguments[] = {name, p, const_cast<char*>(number.c_str()), i, nullptr};
    ::fexecve(program.get(), arguments, environ);
    ::_exit(101);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  const std::vector<uint8_t> bytes = read_file(output);
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_EQ(1, WEXITSTATUS(status)) << text;
  EXPECT_NE(std::string::npos, text.find("belongs to another user")) << text;
}

TEST_F(AisStatsTest, OutputThatCannotBeWrittenIsAFailure) {
  Target target(file_, "hold");
  ASSERT_TRUE(target.is_ready());
  const ProcessResult result =
      run_process({"sh", "-c", std::string(kTool) + " -p " + target.number() + " -i > /dev/full"});
  EXPECT_EQ(1, result.exit_code);
  EXPECT_NE(std::string::npos, result.err.find("cannot be written")) << result.err;
}

TEST_F(AisStatsTest, FunctionsOfTheHeader) {
  EXPECT_EQ(hipFileStatsInvalidArgument, hipFileStatsCreateContext(nullptr, 1));
  hipFileStatsContext_t* context = nullptr;
  EXPECT_EQ(hipFileStatsInvalidArgument, hipFileStatsCreateContext(&context, 0));
  EXPECT_EQ(hipFileStatsInvalidArgument, hipFileStatsConnectToTargetProcess(nullptr));
  hipFileStatsCloseContext(nullptr);
  ASSERT_EQ(hipFileStatsSuccess, hipFileStatsCreateContext(&context, 99999999));
  EXPECT_EQ(hipFileStatsTargetProcessNotFound, hipFileStatsConnectToTargetProcess(context));
  EXPECT_EQ(hipFileStatsInvalidArgument, hipFileStatsGenerateReport(context, 1));
  EXPECT_EQ(hipFileStatsInvalidArgument, hipFileStatsPollTargetProcess(context, false));
  hipFileStatsCloseContext(context);

  Target idle(file_, "idle"), target(file_, "hold");
  ASSERT_TRUE(idle.is_ready() && target.is_ready());
  ASSERT_EQ(hipFileStatsSuccess, hipFileStatsCreateContext(&context, idle.pid()));
  EXPECT_EQ(hipFileStatsTargetProcessNotAccessible, hipFileStatsConnectToTargetProcess(context));
  hipFileStatsCloseContext(context);

  ASSERT_EQ(hipFileStatsSuccess, hipFileStatsCreateContext(&context, target.pid()));
  ASSERT_EQ(hipFileStatsSuccess, hipFileStatsConnectToTargetProcess(context));
  EXPECT_EQ(hipFileStatsSuccess, hipFileStatsPollTargetProcess(context, false));
  target.kill();
  EXPECT_EQ(hipFileStatsSuccess, hipFileStatsPollTargetProcess(context, true));
  Fd out(dir_.file("report"), O_RDWR | O_CREAT);
  EXPECT_EQ(hipFileStatsSuccess, hipFileStatsGenerateReport(context, out.get()));
  EXPECT_EQ(hipFileStatsReportGenerationFailed, hipFileStatsGenerateReport(context, -1));
  const std::vector<uint8_t> bytes = read_file(dir_.file("report"));
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_NE(std::string::npos, text.find("Read Size (B): 8192\n")) << text;
  hipFileStatsCloseContext(context);
}

}  // namespace
}  // namespace hipfile::test
