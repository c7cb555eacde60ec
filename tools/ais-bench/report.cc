// SPDX-License-Identifier: MIT
#include "report.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace ais_bench {
namespace {

using Row = std::array<std::string, 8>;

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string rate(size_t bytes, double seconds) {
  const double value = static_cast<double>(bytes) / seconds / 1e9;
  return number(value, value < 10 ? "%.3f" : "%.2f");
}

Row row_of(const Figure& figure) {
  const double seconds = median_seconds(figure.samples);
  const double gigabytes = static_cast<double>(figure.bytes) / 1e9;
  Row row;
  row[0] = figure.what;
  row[1] = rate(figure.bytes, seconds);
  row[2] = number(seconds / static_cast<double>(figure.calls) * 1e6, "%.1f");
  row[3] = number(median_cpu(figure.samples) / gigabytes, "%.3f");
  if (!figure.first.empty()) row[4] = rate(figure.bytes, figure.first[0].seconds);
  if (!figure.beside.empty()) {
    const Interval ratio = ratio_of(figure);
    row[5] = figure.beside;
    row[6] = rate(figure.bytes, median_seconds(figure.besides));
    row[7] = number(ratio.median, "%.3f") + " (" + number(ratio.low, "%.3f") + " - " +
             number(ratio.high, "%.3f") + ")";
  }
  return row;
}

}  // namespace

std::string table_of(const Facts& facts, const std::vector<Figure>& figures) {
  std::vector<Row> rows = {
      {"what", "GB/s", "us/call", "CPU s/GB", "first GB/s", "beside", "GB/s", "ratio (95 %)"}};
  for (const Figure& figure : figures) rows.push_back(row_of(figure));
  std::array<size_t, std::tuple_size_v<Row>> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& [name, value] : facts) text += name + ": " + value + "\n";
  text += "\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line, rule;
    for (size_t i = 0; i < widths.size(); ++i) {
      line += "| " + rows[r][i] + std::string(widths[i] - rows[r][i].size() + 1, ' ');
      rule += "| " + std::string(widths[i], '-') + " ";
    }
    text += line + "|\n";
    if (r == 0) text += rule + "|\n";
  }
  return text;
}

}  // namespace ais_bench
