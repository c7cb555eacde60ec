// SPDX-License-Identifier: MIT
// hipfile.json and the environment, each in a process of its own: what they set, in which order,
// and how what is wrong is told.
#include <string>

#include "api_fixture.h"
#include "probes.h"

namespace hipfile::test {
namespace {

class ConfigFileTest : public ApiTest {
 protected:
  // The parameters of a process that meets this file and this environment.
  ProcessResult run(const std::string& json, std::vector<std::string> environment = {}) {
    write_file(path(), std::vector<uint8_t>(json.begin(), json.end()));
    environment.push_back("HIPFILE_ENV_PATH_JSON=" + path());
    environment.push_back("HIPFILE_FORCE_COMPAT_MODE");
    ProcessResult result = probe("parameters", {}, environment);
    EXPECT_EQ(0, result.exit_code) << result.err;
    return result;
  }
  std::string path() const { return file("hipfile.json"); }

  static std::string value(const ProcessResult& result, const char* kind, int id) {
    const std::string name = std::string("\n") + kind + " " + std::to_string(id) + " ";
    const std::string out = "\n" + result.out;
    const size_t at = out.find(name);
    if (at == std::string::npos) return "missing";
    const size_t start = at + name.size();
    return out.substr(start, out.find('\n', start) - start);
  }
  // The log names the file, the line and the word.
  void expect_told(const ProcessResult& result, int line, const std::string& word) {
    const std::string place = path() + ":" + std::to_string(line) + ": ";
    const size_t at = result.err.find(place);
    ASSERT_NE(std::string::npos, at) << result.err;
    const std::string rest = result.err.substr(at, result.err.find('\n', at) - at);
    EXPECT_NE(std::string::npos, rest.find(word)) << rest;
  }
};

TEST_F(ConfigFileTest, EveryKeyIsTaken) {
  const ProcessResult result = run(R"({
    // as in cuFile's own file, comments are allowed
    "logging": {"level": "WARNING", "file": "", "dir": "/tmp"},
    "profile": {"stats": 3, "nvtx": true},
    "execution": {"max_io_queue_depth": 11, "max_io_threads": 12, "min_io_threshold_size_kb": 13,
      "max_request_parallelism": 14, "parallel_io": false, "prefer_io_uring": true,
      "stream_memops_bypass": true, "async_buffer_size": 65536},
    "properties": {"max_direct_io_size_kb": 640, "max_device_cache_size_kb": 16384,
      "per_buffer_cache_size_kb": 8192, "max_device_pinned_mem_size_kb": 32768,
      "io_batchsize": 15, "poll_threshold_size_kb": 16, "batch_io_timeout_ms": 17,
      "use_poll_mode": true, "allow_compat_mode": false, "force_compat_mode": false,
      "fs_misc_api_check_aggressive": true, "allow_system_memory": false,
      "use_pci_p2pdma": true, "force_odirect_mode": true, "skip_topology_detection": true,
      "unsupported_file_systems": false}
  })");
  EXPECT_EQ("", result.err);
  const std::string sizes[] = {"3",     "11",   "12",    "13", "14", "640",
                               "16384", "8192", "32768", "15", "16", "17"};
  for (int id = 0; id < 12; ++id) EXPECT_EQ(sizes[id], value(result, "size", id)) << id;
  const std::string bools[] = {"1", "0", "0", "1", "0", "1", "0", "1", "1", "1", "1", "1"};
  for (int id = 0; id < 12; ++id) EXPECT_EQ(bools[id], value(result, "bool", id)) << id;
  EXPECT_EQ("WARNING", value(result, "string", 0));
  EXPECT_EQ("/tmp", value(result, "string", 2));
}

TEST_F(ConfigFileTest, TheEnvironmentGoesBeforeTheFile) {
  const char* json = R"({"execution": {"max_io_threads": 2, "max_io_queue_depth": 3}})";
  const ProcessResult result = run(json, {"HIPFILE_MAX_IO_THREADS=5"});
  EXPECT_EQ("5", value(result, "size", hipFileParamExecutionMaxIOThreads));
  EXPECT_EQ("3", value(result, "size", hipFileParamExecutionMaxIOQueueDepth));
}

TEST_F(ConfigFileTest, UnknownNamesAreToldWithTheirLineAndTheRestHolds) {
  const ProcessResult result =
      run("{\n"
          "  \"execution\": {\n"
          "    \"max_io_thread\": 4,\n"
          "    \"max_io_queue_depth\": 9\n"
          "  },\n"
          "  \"properti\": {\"io_batchsize\": 5},\n"
          "  \"profile\": 3\n"
          "}\n");
  expect_told(result, 3, "\"execution.max_io_thread\"");
  expect_told(result, 6, "\"properti\"");
  expect_told(result, 7, "\"profile\"");
  EXPECT_EQ("9", value(result, "size", hipFileParamExecutionMaxIOQueueDepth));
  EXPECT_EQ("128", value(result, "size", hipFileParamPropertiesIOBatchsize));
}

TEST_F(ConfigFileTest, WrongTypesAndRangesAreToldWithTheirLineAndTheRestHolds) {
  const ProcessResult result = run(R"({"properties": {
"io_batchsize": "many",
"poll_threshold_size_kb": 3,
"max_direct_io_size_kb": -64,
"use_poll_mode": 1,
"allow_compat_mode": null,
"batch_io_timeout_ms": 1.5,
"force_odirect_mode": [true],
"max_device_cache_size_kb": {"deep": {"deeper": [1, {"a": 2}]}},
"per_buffer_cache_size_kb": 128
}, "logging": {
"level": "LOUD",
"dir": 7
}, "execution": [1, {"max_io_threads": 3}]})");
  expect_told(result, 2, "io_batchsize");
  expect_told(result, 3, "poll_threshold_size_kb");
  expect_told(result, 3, "in steps of 4");
  expect_told(result, 4, "max_direct_io_size_kb");
  expect_told(result, 5, "must be true or false");
  expect_told(result, 6, "allow_compat_mode");
  expect_told(result, 7, "batch_io_timeout_ms");
  expect_told(result, 8, "force_odirect_mode");
  expect_told(result, 9, "max_device_cache_size_kb");
  expect_told(result, 12, "level");
  expect_told(result, 13, "must be a text");
  expect_told(result, 14, "\"execution\"");
  EXPECT_EQ("128", value(result, "size", hipFileParamPropertiesPerBufferCacheSizeKB));
  EXPECT_EQ("128", value(result, "size", hipFileParamPropertiesIOBatchsize));
  EXPECT_EQ("16384", value(result, "size", hipFileParamPropertiesMaxDirectIOSizeKB));
  EXPECT_EQ("0", value(result, "size", hipFileParamExecutionMaxIOThreads));
  EXPECT_EQ("1", value(result, "bool", hipFileParamPropertiesAllowCompatMode));
}

TEST_F(ConfigFileTest, TextThatIsNoJsonIsToldAndChangesNothing) {
  const ProcessResult result = run("{\"execution\": {\"max_io_threads\": 3},\n\n  oops\n}");
  expect_told(result, 3, "the whole file is ignored");
  EXPECT_EQ("0", value(result, "size", hipFileParamExecutionMaxIOThreads));
  expect_told(run(""), 1, "ignored");
  expect_told(run("[1, 2]"), 1, "must hold an object");
  expect_told(run("17"), 1, "must hold an object");
  expect_told(run("{} {}"), 1, "ignored");
}

TEST_F(ConfigFileTest, FileThatCannotBeReadIsTold) {
  for (const std::string& named : {file("missing"), dir_.path(), std::string("/dev/zero")}) {
    const ProcessResult result = probe("parameters", {}, {"HIPFILE_ENV_PATH_JSON=" + named});
    EXPECT_EQ(0, result.exit_code);
    EXPECT_NE(std::string::npos, result.err.find(named + " cannot be read")) << result.err;
  }
  EXPECT_EQ("", probe("parameters", {}, {"HIPFILE_ENV_PATH_JSON="}).err);
}

TEST_F(ConfigFileTest, EnvironmentValuesThatDoNotFitAreToldByName) {
  const ProcessResult result =
      run("{}", {"HIPFILE_MAX_IO_THREADS=x", "HIPFILE_POLL_THRESHOLD_SIZE_KB=3",
                 "HIPFILE_USE_POLL_MODE=maybe", "HIPFILE_LOGGING_LEVEL=LOUD",
                 "HIPFILE_STATS_LEVEL=99999999999999999999"});
  for (const char* name : {"HIPFILE_MAX_IO_THREADS='x' must be a number",
                           "HIPFILE_POLL_THRESHOLD_SIZE_KB='3' must lie between",
                           "HIPFILE_USE_POLL_MODE='maybe' must be true or false",
                           "HIPFILE_LOGGING_LEVEL='LOUD' must be"}) {
    EXPECT_NE(std::string::npos, result.err.find(name)) << name << "\n" << result.err;
  }
  EXPECT_EQ("0", value(result, "size", hipFileParamExecutionMaxIOThreads));
  EXPECT_EQ("3", value(result, "size", hipFileParamProfileStats)) << "clamped, without a word";
  EXPECT_EQ(std::string::npos, result.err.find("STATS")) << result.err;
}

TEST_F(ConfigFileTest, TheLogOfTheFileTellsOfTheFile) {
  const std::string log = file("log");
  const ProcessResult result = run("{\"logging\": {\"file\": \"" + log + "\"},\n\"nonsense\": 1}");
  EXPECT_EQ("", result.err);
  const std::vector<uint8_t> bytes = read_file(log);
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_NE(std::string::npos, text.find(path() + ":2: unknown section \"nonsense\"")) << text;
}

TEST_F(ConfigFileTest, EachUnknownSectionIsToldOnceEmptyOnesToo) {
  const ProcessResult result =
      run("{\"empty\": {},\n \"full\": {\"a\": 1,\n \"b\": 2}, \"log\": []}");
  const auto times = [&result](const std::string& what) {
    size_t count = 0;
    for (size_t at = 0; (at = result.err.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(1u, times(path() + ":1: unknown section \"empty\"")) << result.err;
  EXPECT_EQ(1u, times(path() + ":2: unknown section \"full\"")) << result.err;
  EXPECT_EQ(3u, times("\n")) << result.err;
}

TEST_F(ConfigFileTest, TheExampleFileIsValidAndHoldsTheDefaults) {
  const ProcessResult before = run("{}");
  const ProcessResult result =
      probe("parameters", {}, {"HIPFILE_ENV_PATH_JSON=" HIPFILE_EXAMPLE_JSON});
  EXPECT_EQ("", result.err);
  EXPECT_EQ(before.out, result.out);
}

}  // namespace
}  // namespace hipfile::test
