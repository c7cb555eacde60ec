// SPDX-License-Identifier: MIT
//
// Bandwidth in the tables is bytes by the sum of call times, as ever; it does not rise with
// concurrency. The rates at the end do.
#include "util/stats_report.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "util/arith.h"

namespace hipfile::stats {
namespace {

using Cell = BasicCell<uint64_t>;
using Span = BasicSpan<uint64_t>;

constexpr size_t kRows = 16;  // the last holds all larger sizes
constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr const char* kPathNames[kPaths] = {"Fastpath", "Fallback"};
constexpr const char* kWayNames[kWays] = {"Read", "Write"};

[[gnu::format(printf, 2, 3)]] void append(std::string* text, const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  *text += line;
}

Cell plus(const Cell& a, const Cell& b) {
  return {a.ok + b.ok, a.err + b.err, a.bytes + b.bytes, a.ns + b.ns};
}

double bandwidth(const Cell& cell) {
  return cell.ns == 0 ? 0 : static_cast<double>(cell.bytes) / kGib * 1e9 / double(cell.ns);
}

double latency_us(const Cell& cell) {
  return cell.ok == 0 ? 0 : static_cast<double>(cell.ns) / 1e3 / static_cast<double>(cell.ok);
}

uint64_t unaligned_in(const Totals& totals, Path path, Way way) {
  uint64_t sum = 0;
  for (const auto& place : totals.place_sums) sum += place[unaligned(path, way)];
  return sum;
}

void append_path(std::string* text, const Totals& totals, Path path, Way way) {
  const Cell cell = sum_of(totals, path, way);
  const char* name = kPathNames[path];
  const char* what = kWayNames[way];
  append(text, "Total %s %s Size (B): %" PRIu64 "\n", name, what, cell.bytes);
  append(text, "Average %s %s Bandwidth (GiB/s): %.3f\n", name, what, bandwidth(cell));
  append(text, "Average %s %s Latency (us): %.3f\n", name, what, latency_us(cell));
  append(text, "Total %s %s Errors: %" PRIu64 "\n", name, what, cell.err);
  append(text, "Total %s %s Unaligned: %" PRIu64 "\n\n", name, what,
         unaligned_in(totals, path, way));
}

std::string label(size_t row) {
  const std::string low = std::to_string(row == 0 ? 0 : size_t{2} << row);
  return low + "-" + (row + 1 == kRows ? "..." : std::to_string(size_t{4} << row));
}

Cell row_of(const BasicTraffic<uint64_t>& traffic, Path path, Way way, size_t row) {
  const auto& cells = traffic[path][way];
  Cell sum = cells[row];
  for (size_t at = row + 1; row + 1 == kRows && at < kBuckets; ++at) sum = plus(sum, cells[at]);
  return sum;
}

template <class AppendValue>
void append_table(std::string* text, const char* title, const BasicTraffic<uint64_t>& traffic,
                  AppendValue&& append_value) {
  append(text, "%s\n%16s%18s%18s%18s%18s\n", title, "I/O Size (KiB)", "Fastpath Read",
         "Fastpath Write", "Fallback Read", "Fallback Write");
  for (size_t row = 0; row < kRows; ++row) {
    append(text, "%16s", label(row).c_str());
    for (const Path path : {kFastpath, kFallback}) {
      for (const Way way : {kRead, kWrite}) append_value(row_of(traffic, path, way, row));
    }
    *text += "\n";
  }
}

void append_gpu(std::string* text, const Totals& totals, size_t gpu) {
  const auto& traffic = totals.traffic[gpu];
  append(text, "GPU %zu:\n", gpu);
  const auto count = [text](uint64_t value) { append(text, "%18" PRIu64, value); };
  const auto number = [text](double value) { append(text, "%18.3f", value); };
  append_table(text, "Size (B)", traffic, [&](const Cell& cell) { count(cell.bytes); });
  append_table(text, "Bandwidth (GiB/s)", traffic, [&](const Cell& c) { number(bandwidth(c)); });
  append_table(text, "Latency (us)", traffic, [&](const Cell& cell) { number(latency_us(cell)); });
  append_table(text, "Errors", traffic, [&](const Cell& cell) { count(cell.err); });
  for (const Path path : {kFastpath, kFallback}) {
    for (const Way way : {kRead, kWrite}) {
      append(text, "%s %s Unaligned: %" PRIu64 "\n", kPathNames[path], kWayNames[way],
             totals.place_sums[gpu][unaligned(path, way)]);
    }
  }
  *text += "\n";
}

void append_rates(std::string* text, const Totals& totals, Way way) {
  const Cell cell = plus(sum_of(totals, kFastpath, way), sum_of(totals, kFallback, way));
  const Span span = whole_span(totals, way);
  append(text, "Wall-clock %s Bandwidth (GiB/s): %.3f\n", kWayNames[way],
         static_cast<double>(per_second(cell.bytes, span)) / kGib);
  append(text, "Wall-clock %s Rate (operations/s): %" PRIu64 "\n", kWayNames[way],
         per_second(cell.ok, span));
}

}  // namespace

uint64_t per_second(uint64_t amount, const Span& span) {
  if (span.last_ns <= span.first_ns) return 0;
  return mul_div(amount, 1000000000, span.last_ns - span.first_ns);
}

Span whole_span(const Totals& totals, Way way) {
  Span whole = {0, 0};
  for (const auto& place : totals.spans) {
    const Span& span = place[way];
    if (span.first_ns == 0) continue;
    whole.first_ns = whole.first_ns == 0 ? span.first_ns : std::min(whole.first_ns, span.first_ns);
    whole.last_ns = std::max(whole.last_ns, span.last_ns);
  }
  return whole;
}

Cell sum_of(const Totals& totals, Path path, Way way, size_t place) {
  Cell sum = {0, 0, 0, 0};
  for (const Cell& cell : totals.traffic[place][path][way]) sum = plus(sum, cell);
  return sum;
}

Cell sum_of(const Totals& totals, Path path, Way way) {
  Cell sum = {0, 0, 0, 0};
  for (size_t place = 0; place < kPlaces; ++place) {
    sum = plus(sum, sum_of(totals, path, way, place));
  }
  return sum;
}

std::string make_report(const Header& header, const Totals& totals) {
  std::string text = "AIS-STATS Version: 1\n";
  append(&text, "HipFile Stats Level: %u\n", header.level.load(std::memory_order_relaxed));
  append(&text, "File Handle Registrations: %" PRIu64 "\n", totals.ops[kHandleRegister].ok);
  append(&text, "Buffer Registrations: %" PRIu64 "\n", totals.ops[kBufferRegister].ok);
  append(&text, "Fastpath Rejections: %" PRIu64 "\n\n", totals.sums[kFastpathRejections]);
  for (const Path path : {kFastpath, kFallback}) {
    for (const Way way : {kRead, kWrite}) append_path(&text, totals, path, way);
  }
  for (size_t gpu = 0; gpu < kDevices; ++gpu) {
    const auto& spans = totals.spans[gpu];
    if (spans[kRead].first_ns != 0 || spans[kWrite].first_ns != 0) append_gpu(&text, totals, gpu);
  }
  for (const Way way : {kRead, kWrite}) append_rates(&text, totals, way);
  return text;
}

}  // namespace hipfile::stats
