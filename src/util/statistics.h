// SPDX-License-Identifier: MIT
//
// Counters of one driver. Every thread writes a record of its own, and readers sum over all of
// them: no shared cache line is written on the I/O path (rule 30). The records lie in a memory file
// that ais-stats finds and maps, so counting needs no thread of ours and outlives the process.
#pragma once

#include <atomic>
#include <cstdint>

#include "util/mutex.h"
#include "util/stats_layout.h"

namespace hipfile {

/// Nanoseconds of CLOCK_MONOTONIC.
uint64_t monotonic_ns();

namespace stats {

/// The memory of a process. Never unmapped: threads that outlive a driver give their records back.
class Memory;

/// A record as its thread sees it. Writes are plain stores but in the record that is shared.
class Writer {
 public:
  Writer() = default;
  Writer(Record* record, bool is_shared) : record_(record), is_shared_(is_shared) {}
  explicit operator bool() const { return record_ != nullptr; }

  void add(Counter& counter, uint64_t amount) const;
  void raise(Counter& counter, uint64_t value) const;  ///< to at least `value`
  void lower(Counter& counter, uint64_t value) const;  ///< to at most `value`; 0 counts as none
  void widen(BasicSpan<Counter>& span, uint64_t begin_ns, uint64_t end_ns) const;
  void use_place(size_t place) const;
  Record* operator->() const { return record_; }

 private:
  Record* record_ = nullptr;
  bool is_shared_ = false;
};

}  // namespace stats

/// Thread-safe. At level 0 nothing is counted, and there is no memory unless an earlier level
/// needed it.
class Statistics {
 public:
  explicit Statistics(unsigned level) : level_(level) {}
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  void set_level(unsigned level);
  unsigned level() const { return level_.load(std::memory_order_relaxed); }
  bool is_on() const { return level() != 0; }
  /// The time for the start of a request; 0 when nothing is counted.
  uint64_t now() const { return is_on() ? monotonic_ns() : 0; }

  /// The record of the calling thread; empty when nothing is counted or no memory can be had.
  stats::Writer mine();

  void count(stats::Op op, bool is_ok, uint64_t times = 1);
  void add(stats::Sum sum, uint64_t amount);
  void add(size_t place, stats::PlaceSum sum, uint64_t amount);

  /// True once set_device() was called for it, and for those that have no place of their own.
  bool knows_device(int device);
  void set_device(int device, const char (&uuid)[stats::kUuidBytes]);

  /// The sum over all threads, and the devices; all 0 if nothing was counted. What a thread counted
  /// before it synchronised with the caller is in it.
  void sum(stats::Totals* totals);
  const stats::Header* header();

 private:
  stats::Memory* memory();
  stats::Memory* make_memory() HIPFILE_EXCLUDES(mutex_);

  Mutex mutex_;  // while the memory is made
  std::atomic<unsigned> level_;
  std::atomic<stats::Memory*> memory_{nullptr};
};

}  // namespace hipfile
