// SPDX-License-Identifier: MIT
// HIP calls that never come back: the watchdog says where, and a signal still ends aiscp, which
// leaves nothing half-written under a name.
#include <gtest/gtest.h>

#include "system/aiscp_fixture.h"

namespace hipfile::test {
namespace {

using HangTest = AiscpTest;

// Slow by nature, since the watchdog is patient for ten seconds: both programs wait together.
TEST_F(HangTest, Rule34_WatchdogNamesTheStageAndSignalsEndTheCopy) {
  make("from", 3 << 20);
  make("to", 1000, 2);
  make("other", 8 << 20, 3);
  const ProcessResult result = shell(
      "export HIPFILE_FORCE_COMPAT_MODE=true HIPFILE_LOGGING_LEVEL=warning\n"
      "HIPFILE_HIP_LIBRARY=" FAULTY_RUNTIME
      " HIPFILE_TEST_HIP_FAULT=hipStreamSynchronize:1:hang env --default-signal=INT $AISCP from to "
      "2>copy.log & copy=$!\n"
      "HIPFILE_TEST_HIP_FAULT=hipEventSynchronize:1:hang " FAULT_PROBE
      " from other 2>probe.log >probe.out & probe=$!\n"
      "for i in $(seq 200); do grep -q waited copy.log && grep -q waited probe.log && break;"
      " sleep 0.1; done\n"
      "kill -KILL $probe; kill -INT $copy; wait $copy; echo $?");
  EXPECT_EQ("130\n", result.out) << result.err;
  const std::vector<uint8_t> copy = read_file(at("copy.log")), probe = read_file(at("probe.log"));
  const std::string of_copy(copy.begin(), copy.end()), of_probe(probe.begin(), probe.end());
  EXPECT_NE(std::string::npos, of_copy.find("for the copies of a request")) << of_copy;
  EXPECT_NE(std::string::npos, of_probe.find("for a copy between host and device")) << of_probe;
  expect_content("to", 1000, 2);
  EXPECT_EQ((std::vector<std::string>{"copy.log", "from", "other", "probe.log", "probe.out", "to"}),
            names());
}

}  // namespace
}  // namespace hipfile::test
