// SPDX-License-Identifier: MIT
//
// By nlohmann's JSON, so that every name is quoted as it must be.
#include <nlohmann/json.hpp>

#include "report.h"

namespace ais_bench {
namespace {

nlohmann::ordered_json samples_of(const std::vector<Sample>& samples) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Sample& sample : samples) {
    list.push_back({{"seconds", sample.seconds}, {"cpu_seconds", sample.cpu_seconds}});
  }
  return list;
}

nlohmann::ordered_json json_of(const Figure& figure) {
  nlohmann::ordered_json json = {{"what", figure.what},
                                 {"bytes", figure.bytes},
                                 {"calls", figure.calls},
                                 {"median_seconds", median_seconds(figure.samples)},
                                 {"first", samples_of(figure.first)},
                                 {"samples", samples_of(figure.samples)}};
  if (figure.beside.empty()) return json;
  const Interval ratio = ratio_of(figure);
  json["beside"] = figure.beside;
  json["beside_samples"] = samples_of(figure.besides);
  json["ratio"] = {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}};
  return json;
}

}  // namespace

std::string json_of(const Facts& facts, const std::vector<Figure>& figures) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : facts) json["machine"][name] = value;
  json["figures"] = nlohmann::ordered_json::array();
  for (const Figure& figure : figures) json["figures"].push_back(json_of(figure));
  // Names of devices need not be UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace ais_bench
