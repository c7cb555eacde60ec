// SPDX-License-Identifier: MIT
//
// The table of parameters, the staging, and the documents that are written by hand.
#include "driver/parameters.h"

#include <gtest/gtest.h>
#include <hipfile.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "driver/configuration.h"

namespace hipfile {
namespace {

constexpr auto kThreads = hipFileParamExecutionMaxIOThreads;

int index_of(ParameterKind kind, int id) { return find_parameter(kind, id); }

TEST(ParameterTable, HasEveryEnumeratorOnce) {
  for (int id = 0; id < 12; ++id) {
    EXPECT_GE(index_of(ParameterKind::kSize, id), 0) << id;
    EXPECT_GE(index_of(ParameterKind::kBool, id), 0) << id;
  }
  for (int id = 0; id < 3; ++id) EXPECT_GE(index_of(ParameterKind::kString, id), 0) << id;
  EXPECT_EQ(-1, index_of(ParameterKind::kSize, 12));
  EXPECT_EQ(-1, index_of(ParameterKind::kString, 3));
}

TEST(ParameterTable, NamesAreUnambiguous) {
  std::set<std::string> keys, variables, ids;
  for (const Parameter& parameter : parameters()) {
    const std::string key = std::string(parameter.section) + "." + parameter.key;
    EXPECT_TRUE(keys.insert(key).second) << key;
    EXPECT_TRUE(variables.insert(parameter.variable).second) << parameter.variable;
    const std::string id =
        std::to_string(static_cast<int>(parameter.kind)) + "." + std::to_string(parameter.id);
    EXPECT_TRUE(ids.insert(id).second) << key;
    EXPECT_EQ(0u, std::string(parameter.variable).find("HIPFILE_"));
  }
}

TEST(ParameterTable, DefaultsFit) {
  const Settings settings;
  for (size_t at = 0; at < kParameterCount; ++at) {
    EXPECT_EQ("", why_unfit(parameters()[at], settings.at(static_cast<int>(at))))
        << parameters()[at].key;
  }
}

TEST(ParameterTable, EdgesOfEachRangeFitAndWhatIsBeyondDoesNot) {
  for (const Parameter& parameter : parameters()) {
    if (parameter.kind != ParameterKind::kSize) continue;
    EXPECT_EQ("", why_unfit(parameter, parameter.least)) << parameter.key;
    EXPECT_EQ("", why_unfit(parameter, parameter.most)) << parameter.key;
    if (parameter.least != 0) {
      EXPECT_NE("", why_unfit(parameter, parameter.least - 1));
    }
    if (parameter.most != SIZE_MAX) {
      EXPECT_NE("", why_unfit(parameter, parameter.most + 1));
    }
    if (parameter.multiple != 1) {
      EXPECT_NE("", why_unfit(parameter, parameter.least + 1));
    }
    EXPECT_NE("", why_unfit(parameter, true)) << parameter.key;
    EXPECT_NE("", why_unfit(parameter, std::string("1"))) << parameter.key;
  }
}

TEST(ParameterTable, ConversionToBytesCannotOverflow) {
  for (const Parameter& parameter : parameters()) {
    if (std::string(parameter.unit) != "KiB") continue;
    EXPECT_LE(parameter.most, SIZE_MAX / 1024) << parameter.key;
  }
}

TEST(ParameterTable, EveryParameterIsDocumented) {
  std::ifstream file(HIPFILE_DOCS "/configuration.md");
  std::stringstream buffer;
  buffer << file.rdbuf();
  const std::string text = buffer.str();
  for (const Parameter& parameter : parameters()) {
    const std::string key = std::string("`") + parameter.section + "." + parameter.key + "`";
    EXPECT_NE(std::string::npos, text.find(key)) << key;
    EXPECT_NE(std::string::npos, text.find(std::string("`") + parameter.variable + "`"))
        << parameter.variable;
    EXPECT_NE(std::string::npos, text.find(parameter.name)) << parameter.name;
  }
}

TEST(ConfigurationTest, StagedValuesAreInForceFromOpenToClose) {
  const int threads = index_of(ParameterKind::kSize, kThreads);
  Configuration configuration{Settings()};
  configuration.stage(threads, size_t{3});
  EXPECT_EQ(Value(size_t{3}), configuration.get(threads));
  EXPECT_EQ(0u, configuration.in_force().max_io_threads);
  configuration.open();
  EXPECT_EQ(3u, configuration.in_force().max_io_threads);
  configuration.close();
  EXPECT_EQ(0u, configuration.in_force().max_io_threads);
  EXPECT_EQ(Value(size_t{0}), configuration.get(threads));
  configuration.open();
  EXPECT_EQ(0u, configuration.in_force().max_io_threads);
}

TEST(ConfigurationTest, TheBaseIsWhatAClosedLibraryAnswers) {
  const int threads = index_of(ParameterKind::kSize, kThreads);
  Settings base;
  base.set(threads, size_t{5});
  Configuration configuration(base);
  EXPECT_EQ(Value(size_t{5}), configuration.get(threads));
  configuration.stage(threads, size_t{6});
  configuration.open();
  configuration.close();
  EXPECT_EQ(Value(size_t{5}), configuration.get(threads));
}

// A request may still read the configuration under which it began.
TEST(ConfigurationTest, PublishedConfigurationStaysAndEqualOnesAreOne) {
  const int threads = index_of(ParameterKind::kSize, kThreads);
  Configuration configuration{Settings()};
  const Config* first = &configuration.in_force();
  configuration.stage(threads, size_t{3});
  configuration.open();
  const Config* second = &configuration.in_force();
  EXPECT_NE(first, second);
  EXPECT_EQ(0u, first->max_io_threads);
  for (int round = 0; round < 1000; ++round) {
    configuration.close();
    EXPECT_EQ(first, &configuration.in_force());
    configuration.stage(threads, size_t{3});
    configuration.open();
    EXPECT_EQ(second, &configuration.in_force());
  }
}

TEST(ConfigurationTest, EveryParameterReachesTheConfigurationInForce) {
  Settings settings;
  const Config before = make_config(settings);
  // Without an effect by design; logging goes another way, and the size of a batch is asked for
  // while the library is closed too.
  const std::set<std::string> silent = {"UsePcip2pdma", "SkipTopologyDetection",
                                        "FsMiscApiCheckAggressive", "PropertiesIOBatchsize"};
  for (size_t at = 0; at < kParameterCount; ++at) {
    const Parameter& parameter = parameters()[at];
    const int index = static_cast<int>(at);
    if (parameter.kind == ParameterKind::kString || silent.count(parameter.name) != 0) continue;
    Settings changed;
    // The threshold counts where polling is on.
    changed.set(index_of(ParameterKind::kBool, hipFileParamPropertiesUsePollMode), true);
    const Config unchanged =
        parameter.id == hipFileParamPropertiesUsePollMode && parameter.kind == ParameterKind::kBool
            ? before
            : make_config(changed);
    if (parameter.kind == ParameterKind::kSize) {
      changed.set(index, parameter.initial == 64 ? size_t{128} : size_t{64});
      if (parameter.most < 64) changed.set(index, parameter.most);
    } else {
      changed.set(index, parameter.initial == 0);
    }
    EXPECT_FALSE(make_config(changed) == unchanged) << parameter.section << "." << parameter.key;
  }
}

}  // namespace
}  // namespace hipfile
