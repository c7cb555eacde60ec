// SPDX-License-Identifier: MIT
//
// ais-bench: how fast hipFile moves bytes, beside what the machine can do at most in the same run.
#include <hipfile_ext.h>
#include <sys/utsname.h>

#include <cstdio>
#include <optional>
#include <thread>

#include "busy.h"
#include "ceilings.h"
#include "report.h"
#include "start.h"
#include "workloads.h"

namespace ais_bench {
namespace {

Facts facts_of(Bench& bench) {
  utsname system{};
  if (::uname(&system) != 0) fail("the system has no name");
  Facts facts = {
      {"device", bench.device().name() + (bench.device().is_emulated() ? " (emulated)" : "")},
      {"runtime", bench.device().runtime_path()},
      {"engine", hipFileExtEngine(nullptr)},
      {"kernel", system.release},
      {"processors", std::to_string(std::thread::hardware_concurrency())},
      {"file system", bench.file().file_system()},
      {"bytes", std::to_string(bench.size())},
      {"bytes of a call", std::to_string(bench.options().call)}};
  return facts;
}

// What takes turns with calls of that many threads; the ceiling is the same for all, and searched
// for once.
Work partner(Bench& bench, const Library& library, Way way, unsigned threads,
             std::optional<Work>* ceiling) {
  const Options& options = bench.options();
  switch (options.beside) {
    case Beside::kHand: return by_hand(bench, way, options.is_direct, threads, options.call);
    case Beside::kSync: return synchronous(bench, library, way, threads);
    default: break;
  }
  if (!*ceiling) *ceiling = narrowest(bench, way);
  return **ceiling;
}

// Rings and pools are made before: what allocates would wait for the kernel's end.
std::vector<Figure> measure_busy(Bench& bench, const Library& library, Way way) {
  BusyKernel kernel(bench.device());
  std::vector<Figure> figures;
  for (const unsigned threads : bench.options().threads) {
    const Work quiet = synchronous(bench, library, way, threads);
    (void)run_once(quiet, 0);
    figures.push_back(compare(beside_kernel(quiet, kernel), quiet, bench.options().runs));
  }
  return figures;
}

std::vector<Figure> measure_calls(Bench& bench, Way way) {
  const Options& options = bench.options();
  if (way == Way::kWrite && !bench.file().may_write()) {
    fail("the file exists: it is written with --overwrite only");
  }
  const Library library(bench);
  if (options.is_busy) return measure_busy(bench, library, way);
  std::optional<Work> ceiling;
  std::vector<Figure> figures;
  if (options.verb == Verb::kAsync) {
    const Work other = partner(bench, library, way, options.streams, &ceiling);
    figures.push_back(compare(asynchronous(bench, library, way), other, options.runs));
    return figures;
  }
  for (const unsigned threads : options.threads) {
    const Work other = partner(bench, library, way, threads, &ceiling);
    figures.push_back(compare(synchronous(bench, library, way, threads), other, options.runs));
  }
  return figures;
}

std::vector<Figure> measure_verb(Bench& bench) {
  switch (bench.options().verb) {
    case Verb::kRead:
      return measure_calls(bench, Way::kRead);
    case Verb::kWrite:
      return measure_calls(bench, Way::kWrite);
    case Verb::kAsync:
      return measure_calls(bench, bench.options().is_write ? Way::kWrite : Way::kRead);
    default:
      return measure_ceilings(bench);
  }
}

int print(const Options& options, const Facts& facts, const std::vector<Figure>& figures) {
  const std::string text = options.is_json ? json_of(facts, figures) : table_of(facts, figures);
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  fail("the report cannot be written");
}

int run(int argc, char** argv) {
  const int64_t main_ns = monotonic_ns();
  Options options;
  if (const std::optional<int> status = parse_options(argc, argv, &options)) return *status;
  if (options.verb == Verb::kChild) return run_child(options, main_ns);
  std::vector<Figure> figures;
  if (options.verb == Verb::kStart) {
    figures = measure_start(options);
    return print(options, {{"bytes of a call", std::to_string(options.call)}}, figures);
  }
  Bench bench(options);
  figures = measure_verb(bench);
  return print(options, facts_of(bench), figures);
}

}  // namespace
}  // namespace ais_bench

int main(int argc, char** argv) { return ais_bench::run(argc, argv); }
