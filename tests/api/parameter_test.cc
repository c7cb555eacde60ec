// SPDX-License-Identifier: MIT
// hipFileGet/SetParameter*: staged while closed, in force from open to the last close
// (specification 7.2 and 12.2).
#include <climits>
#include <cstring>
#include <string>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

constexpr auto kThreads = hipFileParamExecutionMaxIOThreads;

size_t size_of(hipFileSizeTConfigParameter_t param) {
  size_t value = 4711;
  EXPECT_CODE(hipFileSuccess, hipFileGetParameterSizeT(param, &value));
  return value;
}
bool bool_of(hipFileBoolConfigParameter_t param) {
  bool value = false;
  EXPECT_CODE(hipFileSuccess, hipFileGetParameterBool(param, &value));
  return value;
}
std::string string_of(hipFileStringConfigParameter_t param) {
  char value[PATH_MAX] = "unchanged";
  EXPECT_CODE(hipFileSuccess, hipFileGetParameterString(param, value, sizeof value));
  return value;
}

// What is staged lives until the next open: no test leaves any behind.
class ParameterTest : public ApiTest {
 protected:
  void TearDown() override {
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
    ApiTest::TearDown();
  }
};

TEST_F(ParameterTest, DefaultsAreThoseOfTheSpecification) {
  EXPECT_EQ(0u, size_of(kThreads));
  EXPECT_EQ(128u, size_of(hipFileParamExecutionMaxIOQueueDepth));
  EXPECT_EQ(16384u, size_of(hipFileParamPropertiesMaxDirectIOSizeKB));
  EXPECT_EQ(33554432u, size_of(hipFileParamPropertiesMaxDevicePinnedMemSizeKB));
  EXPECT_EQ(128u, size_of(hipFileParamPropertiesIOBatchsize));
  EXPECT_EQ(4u, size_of(hipFileParamPollthresholdSizeKB));
  EXPECT_FALSE(bool_of(hipFileParamUsePcip2pdma));
  EXPECT_FALSE(bool_of(hipFileParamPropertiesUsePollMode));
  EXPECT_TRUE(bool_of(hipFileParamPropertiesAllowCompatMode));
  EXPECT_TRUE(bool_of(hipFileParamExecutionParallelIO));
  EXPECT_EQ("", string_of(hipFileParamLogDir));
  EXPECT_EQ("", string_of(hipFileParamEnvLogfilePath));
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(ParameterTest, SetStagesTheValue) {
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(kThreads, 10));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamUsePcip2pdma, true));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLogDir, "/tmp"));
  EXPECT_EQ(10u, size_of(kThreads));
  EXPECT_TRUE(bool_of(hipFileParamUsePcip2pdma));
  EXPECT_EQ("/tmp", string_of(hipFileParamLogDir));
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(ParameterTest, OpenAppliesTheValue) {
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(kThreads, 10));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamUsePcip2pdma, true));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLogDir, dir_.path().c_str()));
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_EQ(10u, size_of(kThreads));
  EXPECT_TRUE(bool_of(hipFileParamUsePcip2pdma));
  EXPECT_EQ(dir_.path(), string_of(hipFileParamLogDir));
}

TEST_F(ParameterTest, RegistrationOpensToo) {
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(kThreads, 10));
  EXPECT_CODE(hipFileInvalidValue, hipFileBufRegister(nullptr, 4096, 0));
  EXPECT_EQ(1, hipFileUseCount());
  EXPECT_EQ(10u, size_of(kThreads));
  EXPECT_CODE(hipFileDriverAlreadyOpen, hipFileSetParameterSizeT(kThreads, 11));
}

TEST_F(ParameterTest, TheFinalCloseClearsTheAppliedValue) {
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(kThreads, 10));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamUsePcip2pdma, true));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLogDir, "/tmp"));
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  EXPECT_EQ(10u, size_of(kThreads)) << "not the final close";
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  EXPECT_EQ(0u, size_of(kThreads));
  EXPECT_FALSE(bool_of(hipFileParamUsePcip2pdma));
  EXPECT_EQ("", string_of(hipFileParamLogDir));
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_EQ(0u, size_of(kThreads)) << "staged values hold for one open";
}

TEST_F(ParameterTest, NothingCanBeSetWhileOpen) {
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileDriverAlreadyOpen, hipFileSetParameterSizeT(kThreads, 10));
  EXPECT_CODE(hipFileDriverAlreadyOpen, hipFileSetParameterBool(hipFileParamUsePcip2pdma, true));
  EXPECT_CODE(hipFileDriverAlreadyOpen, hipFileSetParameterString(hipFileParamLogDir, "/tmp"));
  EXPECT_EQ(0u, size_of(kThreads));
  EXPECT_FALSE(bool_of(hipFileParamUsePcip2pdma));
  EXPECT_EQ("", string_of(hipFileParamLogDir));
}

TEST_F(ParameterTest, UnknownParametersAreInvalid) {
  size_t number = 4711;
  bool truth = true;
  char text[16] = "unchanged";
  for (const int id : {-1, 12, 100, INT_MAX}) {
    const auto size_param = static_cast<hipFileSizeTConfigParameter_t>(id);
    const auto bool_param = static_cast<hipFileBoolConfigParameter_t>(id);
    EXPECT_CODE(hipFileInvalidValue, hipFileGetParameterSizeT(size_param, &number));
    EXPECT_CODE(hipFileInvalidValue, hipFileSetParameterSizeT(size_param, 10));
    EXPECT_CODE(hipFileInvalidValue, hipFileGetParameterBool(bool_param, &truth));
    EXPECT_CODE(hipFileInvalidValue, hipFileSetParameterBool(bool_param, true));
  }
  for (const int id : {-1, 3, 100}) {
    const auto param = static_cast<hipFileStringConfigParameter_t>(id);
    EXPECT_CODE(hipFileInvalidValue, hipFileGetParameterString(param, text, sizeof text));
    EXPECT_CODE(hipFileInvalidValue, hipFileSetParameterString(param, "/tmp"));
  }
  EXPECT_EQ(4711u, number);
  EXPECT_TRUE(truth);
  EXPECT_STREQ("unchanged", text);
}

TEST_F(ParameterTest, EveryParameterKeepsWhatIsSet) {
  for (int id = 0; id < 12; ++id) {
    const auto size_param = static_cast<hipFileSizeTConfigParameter_t>(id);
    const auto bool_param = static_cast<hipFileBoolConfigParameter_t>(id);
    const size_t number = id == hipFileParamProfileStats ? 2 : 64;
    EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(size_param, number));
    EXPECT_EQ(number, size_of(size_param));
    for (const bool truth : {true, false}) {
      EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(bool_param, truth));
      EXPECT_EQ(truth, bool_of(bool_param));
    }
  }
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLoggingLevel, "OFF"));
  EXPECT_EQ("OFF", string_of(hipFileParamLoggingLevel));
}

TEST_F(ParameterTest, ValuesThatDoNotFitAreInvalid) {
  const auto refuse = [](hipFileSizeTConfigParameter_t param, size_t value) {
    EXPECT_CODE(hipFileInvalidValue, hipFileSetParameterSizeT(param, value));
  };
  refuse(hipFileParamProfileStats, 4);
  refuse(hipFileParamExecutionMaxIOQueueDepth, 0);
  refuse(hipFileParamPropertiesIOBatchsize, 0);
  refuse(hipFileParamPropertiesIOBatchsize, 4097);
  refuse(hipFileParamPropertiesMaxDirectIOSizeKB, 100);
  refuse(hipFileParamPollthresholdSizeKB, 3);
  refuse(hipFileParamPropertiesMaxDeviceCacheSizeKB, SIZE_MAX);
  EXPECT_CODE(hipFileInvalidValue, hipFileSetParameterString(hipFileParamLoggingLevel, "LOUD"));
  const std::string path(PATH_MAX, 'x');
  EXPECT_CODE(hipFileInvalidValue, hipFileSetParameterString(hipFileParamLogDir, path.c_str()));
  EXPECT_EQ(128u, size_of(hipFileParamPropertiesIOBatchsize));
}

TEST_F(ParameterTest, NullPointersAreInvalid) {
  EXPECT_CODE(hipFileInvalidValue, hipFileGetParameterSizeT(kThreads, nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileGetParameterBool(hipFileParamForceCompatMode, nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileGetParameterString(hipFileParamLogDir, nullptr, 16));
  EXPECT_CODE(hipFileInvalidValue, hipFileSetParameterString(hipFileParamLogDir, nullptr));
}

TEST_F(ParameterTest, StringGetKeepsToItsBounds) {
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLogDir, "/tmp"));
  char text[8];
  std::memset(text, 'x', sizeof text);
  for (const int length : {INT_MIN, -1, 0, 1, 4}) {
    EXPECT_CODE(hipFileInvalidValue, hipFileGetParameterString(hipFileParamLogDir, text, length));
  }
  EXPECT_EQ(std::string(8, 'x'), std::string(text, 8)) << "a call that fails writes nothing";
  EXPECT_CODE(hipFileSuccess, hipFileGetParameterString(hipFileParamLogDir, text, 5));
  EXPECT_EQ(std::string("/tmp\0xxx", 8), std::string(text, 8));
}

TEST_F(ParameterTest, LogDirThatIsNoDirectoryIsNotApplied) {
  const std::string missing = file("missing");
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLoggingLevel, "OFF"));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLogDir, missing.c_str()));
  EXPECT_EQ(missing, string_of(hipFileParamLogDir));
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_EQ("", string_of(hipFileParamLogDir));
}

TEST_F(ParameterTest, ForceWithoutAllowKeepsCompatMode) {
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterString(hipFileParamLoggingLevel, "OFF"));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(hipFileParamForceCompatMode, true));
  EXPECT_CODE(hipFileSuccess,
              hipFileSetParameterBool(hipFileParamPropertiesAllowCompatMode, false));
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_TRUE(bool_of(hipFileParamPropertiesAllowCompatMode));
}

}  // namespace
}  // namespace hipfile::test
