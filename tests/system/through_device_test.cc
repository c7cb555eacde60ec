// SPDX-License-Identifier: MIT
// Copies really go through device memory, and reading overlaps writing: shown by a runtime that
// changes data on its way to the device, and by the order of logged events.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "copy_programs.h"
#include "event_log.h"
#include "modes.h"
#include "pattern.h"
#include "temp_dir.h"

namespace hipfile::test {
namespace {

const std::string kRuntime = std::string("HIPFILE_HIP_LIBRARY=") + TEST_TAMPER_RUNTIME;
const std::string kTamper = "HIPFILE_TEST_TAMPER=1";
const std::string kForceBounce = "HIPFILE_FORCE_COMPAT_MODE=true";

class ThroughDeviceTest : public testing::TestWithParam<CopyProgram> {
 protected:
  // The tool looks the runtime up by its name. The example is linked to the portable one and meets
  // the front under that name.
  std::string runtime() {
    if (GetParam().name == "Tool") return kRuntime;
    const std::string library = TEST_TAMPER_RUNTIME;
    const std::string folder = library.substr(0, library.rfind('/'));
    std::error_code ignored;
    std::filesystem::create_symlink(library, dir_.file("libhip_portable.so.0"), ignored);
    return "LD_LIBRARY_PATH=" + dir_.path() + ":" + folder;
  }

  // How a copy by a changed environment differs from its source; "" if it does not.
  std::string difference(const std::vector<std::string>& environment) {
    const std::vector<uint8_t> source = make_pattern((3 << 20) + 17, 1);
    write_file(dir_.file("from"), source);
    std::remove(dir_.file("to").c_str());
    const ProcessResult result = copy(GetParam(), dir_.file("from"), dir_.file("to"), environment);
    EXPECT_EQ(0, result.exit_code) << result.err;
    if (result.exit_code != 0) return "failed";
    EXPECT_EQ(source, read_file(dir_.file("from"))) << "the source changed";
    return first_difference(read_file(dir_.file("to")), source);
  }

  TempDir dir_;
};

TEST_P(ThroughDeviceTest, FrontRuntimeThatChangesNothingCopiesRight) {
  EXPECT_EQ("", difference({runtime()}));
  EXPECT_EQ("", difference({runtime(), kForceBounce}));
}

TEST_P(ThroughDeviceTest, RuntimeThatChangesDeviceDataChangesTheCopy) {
  const std::string where = difference({runtime(), kTamper});
  EXPECT_NE("", where);
  EXPECT_NE(std::string::npos, where.find("is 0xa5")) << where;
}

TEST_P(ThroughDeviceTest, RuntimeThatChangesDeviceDataChangesTheBouncedCopy) {
  for (const char* engine : {"HIPFILE_ENGINE=uring", "HIPFILE_ENGINE=threads"}) {
    const std::string where = difference({runtime(), kTamper, kForceBounce, engine});
    EXPECT_NE(std::string::npos, where.find("is 0xa5")) << engine << ": " << where;
  }
}

INSTANTIATE_TEST_SUITE_P(, ThroughDeviceTest, testing::ValuesIn(copy_programs()),
                         [](const auto& program) { return program.param.name; });

class OverlapTest : public testing::Test {
 protected:
  static constexpr uint64_t kChunk = 1 << 20;
  static constexpr uint64_t kChunks = 64;

  struct Order {
    std::map<uint64_t, size_t> read_begin;  // chunk -> line of its first read's begin
    std::map<uint64_t, size_t> write_end;   // chunk -> line of its last write's end
  };

  Order order_of(const std::string& log) {
    Order order;
    size_t line = 0;
    for (const Event& event : read_events(log)) {
      for (uint64_t chunk = event.offset / kChunk; chunk * kChunk < event.end(); ++chunk) {
        if (event.what == "read-begin") order.read_begin.emplace(chunk, line);
        if (event.what == "write-end") order.write_end[chunk] = line;
      }
      ++line;
    }
    return order;
  }

  static std::vector<std::string> through_the_ring() {
    return {"HIPFILE_ENGINE=threads", std::string("LD_PRELOAD=") + TEST_IO_TRACE};
  }

  void expect_overlap(std::vector<std::string> environment) {
    make_large_file(dir_.file("from"), kChunk * kChunks);
    const std::string log = dir_.file("events");
    environment.push_back("HIPFILE_TEST_EVENTS=" + log);
    const ProcessResult result = copy(copy_programs()[0], dir_.file("from"), dir_.file("to"),
                                      environment, {"--chunk-size=1M"});
    ASSERT_EQ(0, result.exit_code) << result.err;
    ASSERT_EQ("", compare_files(dir_.file("to"), dir_.file("from")));
    const Order order = order_of(log);
    ASSERT_EQ(kChunks, order.write_end.size()) << "not every chunk's write was seen";
    ASSERT_LE(kChunks, order.read_begin.size()) << "not every chunk's read was seen";
    uint64_t overlapping = 0;
    for (uint64_t k = 0; k + 1 < kChunks; ++k) {
      if (order.read_begin.at(k + 1) < order.write_end.at(k)) ++overlapping;
    }
    // One after another would be none; a busy machine takes some of them away.
    EXPECT_GE(overlapping * 2, kChunks - 1) << overlapping << " of " << kChunks - 1;
  }

  TempDir dir_;
};

TEST_F(OverlapTest, NextChunkIsReadBeforeTheLastIsWrittenOnTheFastpath) {
  if (is_on_nvidia()) GTEST_SKIP() << "no direct path there";
  // The kernel's rules lead to the ring here, so the engine's calls are what can be seen.
  expect_overlap(has_kernel_rules() ? through_the_ring() : std::vector{kRuntime});
}

TEST_F(OverlapTest, NextChunkIsReadBeforeTheLastIsWrittenThroughTheRing) {
  std::vector<std::string> environment = through_the_ring();
  environment.push_back(kForceBounce);
  expect_overlap(environment);
}

}  // namespace
}  // namespace hipfile::test
