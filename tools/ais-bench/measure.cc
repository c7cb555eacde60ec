// SPDX-License-Identifier: MIT
#include "measure.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <thread>

#include "options.h"

namespace ais_bench {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cpu_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) fail("cannot read the processor time");
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

class Clock {
 public:
  void start() {
    cpu_ = cpu_seconds();
    begin_ = monotonic_ns();
  }
  Sample stop() const {
    Sample sample;
    sample.seconds = static_cast<double>(monotonic_ns() - begin_) / 1e9;
    sample.cpu_seconds = cpu_seconds() - cpu_;
    return sample;
  }

 private:
  double cpu_ = 0;
  int64_t begin_ = 0;
};

double median_of(const std::vector<Sample>& samples, double Sample::*member) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*member);
  return interval_of(values).median;
}

// How many of the smallest values lie outside the interval: the largest count that the median of
// n values falls beyond with a probability of no more than 2.5 %.
size_t outside_of(size_t n) {
  double probability = 1;
  for (size_t i = 0; i < n; ++i) probability /= 2;
  double sum = 0;
  for (size_t count = 0; count < n / 2; ++count) {
    sum += probability;
    if (sum > 0.025) return count;
    probability = probability * static_cast<double>(n - count) / static_cast<double>(count + 1);
  }
  return n / 2;
}

}  // namespace

void fail(const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "ais-bench: %s\n", text.c_str());
  ::_exit(kExitFailure);
}

void fail_errno(const std::string& text, int error) { fail(text + ": " + std::strerror(error)); }

int64_t monotonic_ns() {
  timespec now{};
  if (::clock_gettime(CLOCK_MONOTONIC, &now) != 0) fail("there is no monotonic clock");
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

Sample time_threads(unsigned threads, const std::function<void(unsigned)>& work) {
  Clock clock;
  if (threads == 1) {
    clock.start();
    work(0);
    return clock.stop();
  }
  Sample sample;
  int phase = 0;
  std::barrier gate(static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
    if (phase++ == 0) {
      clock.start();
    } else {
      sample = clock.stop();
    }
  });
  std::vector<std::thread> team;
  for (unsigned i = 0; i < threads; ++i) {
    team.emplace_back([&, i] {
      gate.arrive_and_wait();
      work(i);
      gate.arrive_and_wait();
    });
  }
  for (std::thread& thread : team) thread.join();
  return sample;
}

Sample run_once(const Work& work, unsigned run) {
  if (work.prepare) work.prepare(run);
  const Sample sample = work.run();
  if (work.check) work.check();
  return sample;
}

Figure measure(const Work& work, unsigned runs) {
  Figure figure{work.name, "", work.bytes, work.calls, {}, {}, {}};
  for (unsigned run = 0; run < runs; ++run) figure.samples.push_back(run_once(work, run));
  return figure;
}

Figure compare(const Work& ours, const Work& other, unsigned pairs) {
  Figure figure{ours.name, other.name, ours.bytes, ours.calls, {}, {}, {}};
  unsigned run = 0;
  figure.first.push_back(run_once(ours, run++));
  (void)run_once(other, run++);
  for (unsigned pair = 0; pair < pairs; ++pair) {
    const bool is_first = pair % 2 == 0;
    if (is_first) figure.samples.push_back(run_once(ours, run++));
    figure.besides.push_back(run_once(other, run++));
    if (!is_first) figure.samples.push_back(run_once(ours, run++));
  }
  return figure;
}

Work fastest(const std::vector<Work>& shapes) {
  const Work* best = nullptr;
  double best_seconds = 0;
  for (const Work& shape : shapes) {
    const double seconds = std::min(run_once(shape, 0).seconds, run_once(shape, 1).seconds);
    if (best != nullptr && seconds >= best_seconds) continue;
    best = &shape;
    best_seconds = seconds;
  }
  if (best == nullptr) fail("the file is too small for this");
  return *best;
}

Interval interval_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const size_t outside = outside_of(n);
  Interval interval;
  interval.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  interval.low = values[outside > 0 ? outside - 1 : 0];
  interval.high = values[outside > 0 ? n - outside : n - 1];
  return interval;
}

double median_seconds(const std::vector<Sample>& samples) {
  return median_of(samples, &Sample::seconds);
}

double median_cpu(const std::vector<Sample>& samples) {
  return median_of(samples, &Sample::cpu_seconds);
}

Interval ratio_of(const Figure& figure) {
  std::vector<double> ratios;
  for (size_t i = 0; i < figure.samples.size() && i < figure.besides.size(); ++i) {
    ratios.push_back(figure.besides[i].seconds / figure.samples[i].seconds);
  }
  return interval_of(ratios);
}

}  // namespace ais_bench
