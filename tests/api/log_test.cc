// SPDX-License-Identifier: MIT
// The log: level, target, reasons, and that it is in nobody's way.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "api_fixture.h"
#include "probes.h"

namespace hipfile::test {
namespace {

class LogTest : public ApiTest {
 protected:
  static void set(hipFileStringConfigParameter_t param, const std::string& text) {
    EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(param, text.c_str()));
  }
  static void force_compat(bool allow = true) {
    EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamForceCompatMode, allow));
    EXPECT_CODE(hipFileSuccess,
                hipFileSetParameterBool(hipFileParamPropertiesAllowCompatMode, allow));
  }
  std::string own_log() const { return file("hipfile_" + std::to_string(::getpid()) + ".log"); }
  static std::string text_of(const std::string& path) {
    if (!std::filesystem::exists(path)) return "";
    const std::vector<uint8_t> bytes = read_file(path);
    return std::string(bytes.begin(), bytes.end());
  }
  static size_t count(const std::string& text, const std::string& word) {
    size_t number = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      ++number;
    }
    return number;
  }

  // Opens the library by registering, reads `times` times, and closes it.
  void read(int times = 1, ssize_t expected = 4096) {
    write_file(file("f"), make_pattern(4096, 3));
    const Fd fd(file("f"), O_RDWR);
    Buffer buffer(4096);
    hipFileHandle_t handle = register_fd(fd.get());
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(expected, hipFileRead(handle, buffer.data(), 4096, 0, 0));
    }
    close_library();
  }
};

TEST_F(LogTest, LogDirTakesAFileOfTheProcess) {
  set(hipFileParamLoggingLevel, "DEBUG");
  set(hipFileParamLogDir, dir_.path());
  force_compat();
  read();
  const std::string text = text_of(own_log());
  EXPECT_NE(std::string::npos,
            text.find("hipfile [debug] fastpath refuses a request: HIPFILE_FORCE_COMPAT_MODE"))
      << text;
  EXPECT_NE(std::string::npos, text.find(std::to_string(::getpid()))) << "the process is named";
  const size_t size = text.size();
  read();
  EXPECT_EQ(size, text_of(own_log()).size()) << "the final close drops the log file";
}

TEST_F(LogTest, LogfilePathGoesBeforeLogDir) {
  set(hipFileParamLoggingLevel, "DEBUG");
  set(hipFileParamLogDir, dir_.path());
  set(hipFileParamEnvLogfilePath, file("own.log"));
  force_compat();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the reason may be said again
  read();
  EXPECT_EQ("", text_of(own_log()));
  EXPECT_NE(std::string::npos, text_of(file("own.log")).find("refuses a request"));
}

TEST_F(LogTest, FirstMessageOfAProcessGoesToItsFileToo) {
  write_file(file("f"), make_pattern(4096, 1));
  const std::string log = file("log");
  const ProcessResult result = probe("read", {file("f"), "host", "4096", "0"},
                                     {"HIPFILE_LOGGING_LEVEL=info", "HIPFILE_LOGFILE_PATH=" + log});
  EXPECT_EQ("", result.err);
  EXPECT_NE(std::string::npos, text_of(log).find("engine ")) << text_of(log);
}

TEST_F(LogTest, LevelHoldsBackWhatIsBelow) {
  for (const char* level : {"OFF", "ERROR", "WARNING", "INFO"}) {
    set(hipFileParamLoggingLevel, level);
    set(hipFileParamLogDir, dir_.path());
    force_compat();
    read();
    EXPECT_EQ(0u, count(text_of(own_log()), "[debug]")) << level;
  }
}

TEST_F(LogTest, RequestThatNobodyTakesIsAnErrorWithEveryReason) {
  set(hipFileParamLogDir, dir_.path());
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamForceCompatMode, false));
  EXPECT_CODE(hipFileSuccess,
              hipFileSetParameterBool(hipFileParamPropertiesAllowCompatMode, false));
  write_file(file("f"), make_pattern(4096, 3));
  const Fd fd(file("f"), O_RDWR);
  Buffer buffer(4096);
  hipFileHandle_t handle = register_fd(fd.get());
  EXPECT_EQ(negated(hipFileInternalError), hipFileRead(handle, buffer.data(), 100, 1, 0));
  const std::string text = text_of(own_log());
  EXPECT_EQ(1u, count(text, "[error] no backend takes a request")) << text;
  EXPECT_EQ(1u, count(text, "[error] bounce refuses a request: HIPFILE_ALLOW_COMPAT_MODE")) << text;
  EXPECT_EQ(1u, count(text, "[error] fastpath refuses a request")) << text;
}

TEST_F(LogTest, CallThatFailsIsToldWithItsReason) {
  set(hipFileParamLoggingLevel, "INFO");
  set(hipFileParamLogDir, dir_.path());
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileMemoryNotRegistered, hipFileBufDeregister(&dir_));
  EXPECT_NE(std::string::npos, text_of(own_log()).find("[info] a call fails: ")) << own_log();
}

TEST_F(LogTest, ReasonIsToldOnceASecondWithTheCountOfTheRest) {
  set(hipFileParamLoggingLevel, "DEBUG");
  set(hipFileParamLogDir, dir_.path());
  force_compat();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  read(1000);
  const std::string reason = "fastpath refuses a request";
  const size_t lines = count(text_of(own_log()), reason);
  EXPECT_GE(lines, 1u);
  EXPECT_LE(lines, 20u) << "1000 reads in as many seconds as the machine takes";
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  set(hipFileParamLoggingLevel, "DEBUG");
  set(hipFileParamLogDir, dir_.path());
  force_compat();
  read();
  EXPECT_NE(std::string::npos, text_of(own_log()).find(" more like this)"));
}

TEST_F(LogTest, LogThatCannotBeWrittenFailsNoIO) {
  for (const std::string& target : {std::string("/dev/full"), file("missing/log"), dir_.path()}) {
    set(hipFileParamLoggingLevel, "DEBUG");
    set(hipFileParamEnvLogfilePath, target);
    force_compat();
    read();
  }
}

TEST_F(LogTest, LogKeepsNoDescriptor) {
  const size_t before = open_descriptors();
  set(hipFileParamLoggingLevel, "DEBUG");
  set(hipFileParamLogDir, dir_.path());
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileMemoryNotRegistered, hipFileBufDeregister(&dir_));
  EXPECT_EQ(before, open_descriptors());
}

// The rules of AMD's kernel refuse a loop disk at the first transfer.
TEST_F(LogTest, FailoverIsAWarningWithItsReason) {
  write_file(file("f"), make_pattern(65536, 1));
  const ProcessResult result = probe(
      "read", {file("f"), "device", "65536", "0"},
      {"HIPFILE_FORCE_COMPAT_MODE", "HIP_PORTABLE_DIRECT=kernel", "HIPFILE_LOGGING_LEVEL=warning"});
  EXPECT_NE(std::string::npos, result.out.find("read 65536\ndata right")) << result.out;
  const int failed = hipFileExtRefusalFailedBefore;
  if (result.out.find("fastpath " + std::to_string(failed) + " ") == std::string::npos) {
    GTEST_SKIP() << "the direct path did not fail here: " << result.out;
  }
  EXPECT_NE(std::string::npos, result.err.find("hipfile [warning] fastpath failed with errno"))
      << result.err;
  EXPECT_NE(std::string::npos, result.err.find("the request goes to bounce")) << result.err;
}

TEST_F(LogTest, MissingLogDirIsToldOnce) {
  write_file(file("f"), make_pattern(4096, 1));
  const ProcessResult result =
      probe("exit-open", {file("f")}, {"HIPFILE_LOG_DIR=" + file("missing")});
  EXPECT_EQ(1u, count(result.err, "missing' is no directory")) << result.err;
}

}  // namespace
}  // namespace hipfile::test
