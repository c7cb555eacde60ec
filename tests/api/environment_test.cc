// SPDX-License-Identifier: MIT
// Environment variables, each in a process of its own.
#include <string>

#include "api_fixture.h"
#include "probes.h"

namespace hipfile::test {
namespace {

class EnvironmentTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    write_file(file("f"), make_pattern(65536, 1));
  }

  // The environment of this variant of the suite is cleared of what the tests set.
  ProcessResult run(const std::string& name, const std::string& kind, const std::string& size,
                    const std::string& offset, std::vector<std::string> environment) {
    std::vector<std::string> all{"HIPFILE_FORCE_COMPAT_MODE", "HIPFILE_ALLOW_COMPAT_MODE",
                                 "HIPFILE_HOST"};
    all.insert(all.end(), environment.begin(), environment.end());
    ProcessResult result = probe(name, {file("f"), kind, size, offset}, all);
    EXPECT_EQ(0, result.exit_code) << result.out << result.err;
    return result;
  }
  ProcessResult aligned(const std::vector<std::string>& environment) {
    return run("read", "device", "65536", "0", environment);
  }
  ProcessResult unaligned(const std::vector<std::string>& environment) {
    return run("read", "device", "1000", "3", environment);
  }
  ProcessResult host(const std::vector<std::string>& environment) {
    return run("read", "host", "65536", "0", environment);
  }

  // The word after `key` in the probe's output.
  static std::string value(const ProcessResult& result, const std::string& key) {
    const size_t at = result.out.find(key + " ");
    if (at == std::string::npos) return "";
    const size_t start = at + key.size() + 1;
    return result.out.substr(start, result.out.find_first_of(" \n", start) - start);
  }
  static std::string backend(const ProcessResult& result) { return value(result, "backend"); }

  // What a word means, on the emulated device: on a GPU each process waits for a context.
  ProcessResult with_word(const std::string& variable, const std::string& word) {
    return aligned({variable + "=" + word, "HIP_PORTABLE_BACKEND=emulated"});
  }

  static void expect_read(const ProcessResult& result, const std::string& count) {
    EXPECT_EQ(count, value(result, "read")) << result.out << result.err;
    if (count[0] != '-') {
      EXPECT_EQ("right", value(result, "data")) << result.out;
    }
  }
};

std::string refusal(hipFileExtRefusal_t value) { return std::to_string(static_cast<int>(value)); }

TEST_F(EnvironmentTest, ForceCompatModeSwitchesTheFastpathOff) {
  const auto expect_off = [](const ProcessResult& result) {
    expect_read(result, "65536");
    EXPECT_EQ("bounce", backend(result)) << result.out;
    EXPECT_EQ(refusal(hipFileExtRefusalForcedCompat), value(result, "fastpath")) << result.out;
  };
  expect_off(aligned({"HIPFILE_FORCE_COMPAT_MODE=true"}));
  for (const char* word : {"TRUE", "True", "1", "yes", "on"}) {
    SCOPED_TRACE(word);
    expect_off(with_word("HIPFILE_FORCE_COMPAT_MODE", word));
  }
}

TEST_F(EnvironmentTest, BooleansAlsoTakeTheUsualWords) {
  for (const char* word : {"0", "no", "off"}) {
    const ProcessResult result = with_word("HIPFILE_FORCE_COMPAT_MODE", word);
    EXPECT_NE(refusal(hipFileExtRefusalForcedCompat), value(result, "fastpath")) << word;
  }
}

TEST_F(EnvironmentTest, GarbageIsIgnored) {
  for (const char* word : {"", "maybe", "truefalse", "2", " true"}) {
    const ProcessResult result = with_word("HIPFILE_FORCE_COMPAT_MODE", word);
    expect_read(result, "65536");
    EXPECT_NE(refusal(hipFileExtRefusalForcedCompat), value(result, "fastpath")) << word;
  }
}

TEST_F(EnvironmentTest, CompatModeDisallowedRefusesWhatTheFastpathCannotTake) {
  const ProcessResult result = unaligned({"HIPFILE_ALLOW_COMPAT_MODE=false"});
  expect_read(result, "-5030");
  EXPECT_EQ(refusal(hipFileExtRefusalCompatDisallowed), value(result, "bounce")) << result.out;
}

TEST_F(EnvironmentTest, CompatModeDisallowedKeepsTheFastpath) {
  // With nothing in the way of the fast path: whether it takes an aligned request here.
  if (backend(aligned({})) != "fastpath") return;  // nothing to keep on this file system
  const ProcessResult result = aligned({"HIPFILE_ALLOW_COMPAT_MODE=false"});
  expect_read(result, "65536");
  EXPECT_EQ("fastpath", backend(result));
}

TEST_F(EnvironmentTest, ForcedAndDisallowedTogetherKeepTheFallback) {
  const ProcessResult result =
      aligned({"HIPFILE_ALLOW_COMPAT_MODE=false", "HIPFILE_FORCE_COMPAT_MODE=true"});
  expect_read(result, "65536");
  EXPECT_EQ("bounce", backend(result)) << result.out;
}

TEST_F(EnvironmentTest, HostBackendCanBeSwitchedOff) {
  expect_read(host({"HIPFILE_HOST=true"}), "65536");
  const ProcessResult result = host({"HIPFILE_HOST=false"});
  EXPECT_EQ(refusal(hipFileExtRefusalHostDisabled), value(result, "host")) << result.out;
  expect_read(result, "-5030");
}

TEST_F(EnvironmentTest, UnsupportedFileSystemsStillGiveTheRightBytes) {
  const TempDir shm("/dev/shm");
  write_file(shm.file("f"), make_pattern(65536, 1));
  const ProcessResult result = probe("read", {shm.file("f"), "device", "65536", "0"},
                                     {"HIPFILE_UNSUPPORTED_FILE_SYSTEMS=true"});
  expect_read(result, "65536");
}

TEST_F(EnvironmentTest, EngineCanBeForced) {
  for (const char* engine : {"uring", "threads"}) {
    const ProcessResult result = aligned({std::string("HIPFILE_ENGINE=") + engine});
    expect_read(result, "65536");
    EXPECT_EQ(engine, value(result, "engine"));
    expect_read(unaligned({std::string("HIPFILE_ENGINE=") + engine}), "1000");
  }
}

TEST_F(EnvironmentTest, UnknownEngineStillWorks) {
  expect_read(unaligned({"HIPFILE_ENGINE=steam"}), "1000");
}

TEST_F(EnvironmentTest, LaterChangesHaveNoEffect) {
  expect_read(run("late-setenv", "device", "1000", "3", {}), "1000");
  expect_read(run("late-setenv", "host", "1000", "3", {}), "1000");
}

TEST_F(EnvironmentTest, StatsLevelTakesAnyText) {
  for (const char* text : {"0", "1", "99999999999999999999", "-1", "x", ""}) {
    expect_read(with_word("HIPFILE_STATS_LEVEL", text), "65536");
  }
}

TEST_F(EnvironmentTest, RuntimeNamedButNotTheOneMappedIsAnError) {
  const ProcessResult result =
      probe("register", {"device"}, {"HIPFILE_HIP_LIBRARY=/nowhere/libamdhip64.so.6"});
  EXPECT_EQ(std::to_string(hipFileHipDriverError), value(result, "register"))
      << result.out << result.err;
}

TEST_F(EnvironmentTest, WorksWithoutHomePathOrLocale) {
  expect_read(aligned({"PATH", "HOME", "LANG", "LC_ALL=xx_YY.nonsense"}), "65536");
}

}  // namespace
}  // namespace hipfile::test
