// SPDX-License-Identifier: MIT
//
// Time, and what is made of it: rates, ratios of pairs of runs, the interval of a median.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ais_bench {

/// Every failure ends the program: a figure of half a run is none. From any thread.
[[noreturn]] void fail(const std::string& text);
[[noreturn]] void fail_errno(const std::string& text, int error);

int64_t monotonic_ns();

struct Sample {
  double seconds = 0;
  double cpu_seconds = 0;  ///< of the whole process
};

/// Runs `work(index)` on that many threads at once: from the moment when all are ready to the end
/// of the last. A single one is the calling thread.
Sample time_threads(unsigned threads, const std::function<void(unsigned)>& work);

/// Something that moves the whole file, again and again.
struct Work {
  std::string name;
  size_t bytes = 0;
  size_t calls = 0;                           ///< of one run
  std::function<void(unsigned run)> prepare;  ///< not timed; may be empty
  std::function<Sample()> run;
  std::function<void()> check;  ///< not timed; fails on a wrong byte; may be empty
};

/// Samples of two works that took turns.
struct Figure {
  std::string what;
  std::string beside;  ///< empty: nothing was run beside it
  size_t bytes = 0;
  size_t calls = 0;
  std::vector<Sample> first;  ///< one: the first run, which builds what later ones find
  std::vector<Sample> samples;
  std::vector<Sample> besides;  ///< the partner of each of `samples`
};

/// One run of a work, with what belongs to it.
Sample run_once(const Work& work, unsigned run);

/// A first run, then pairs: ours, other, other, ours, and so on.
Figure compare(const Work& ours, const Work& other, unsigned pairs);

/// Runs without a partner.
Figure measure(const Work& work, unsigned runs);

/// The fastest of several shapes of one work, each run twice.
Work fastest(const std::vector<Work>& shapes);

struct Interval {
  double median = 0;
  double low = 0;  ///< 95 %, or the extremes where there are too few values for that
  double high = 0;
};

Interval interval_of(std::vector<double> values);
/// Seconds of the median run.
double median_seconds(const std::vector<Sample>& samples);
double median_cpu(const std::vector<Sample>& samples);
/// Rate of the figure by the rate of its partner, pair by pair.
Interval ratio_of(const Figure& figure);

}  // namespace ais_bench
