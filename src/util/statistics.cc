// SPDX-License-Identifier: MIT
//
// A thread keeps the record of the memory it counted in last, and gives it back when it ends. The
// counts in it stay.
#include "util/statistics.h"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "util/of_this_thread.h"
#include "util/stats_memory.h"

namespace hipfile {

uint64_t monotonic_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

namespace stats {
namespace {

struct Holder {
  Memory* memory = nullptr;
  size_t index = 0;

  void release() {
    if (memory != nullptr) memory->give_back(index);
    memory = nullptr;
  }
  void take(Memory* from) {
    release();
    memory = from;
    index = from->take_record();
  }
  ~Holder() { release(); }
};

}  // namespace

void Writer::add(Counter& counter, uint64_t amount) const {
  if (is_shared_) {
    counter.fetch_add(amount, std::memory_order_relaxed);
  } else {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
}

// A record of one thread needs no exchange.
void Writer::raise(Counter& counter, uint64_t value) const {
  uint64_t before = counter.load(std::memory_order_relaxed);
  if (!is_shared_) {
    if (before < value) counter.store(value, std::memory_order_relaxed);
    return;
  }
  while (before < value &&
         !counter.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
}

void Writer::lower(Counter& counter, uint64_t value) const {
  uint64_t before = counter.load(std::memory_order_relaxed);
  if (!is_shared_) {
    if (before == 0 || before > value) counter.store(value, std::memory_order_relaxed);
    return;
  }
  while ((before == 0 || before > value) &&
         !counter.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
}

void Writer::widen(BasicSpan<Counter>& span, uint64_t begin_ns, uint64_t end_ns) const {
  raise(span.last_ns, end_ns);  // first: a reader takes first_ns for the sign that both are there
  lower(span.first_ns, begin_ns);
}

void Writer::use_place(size_t place) const {
  const uint64_t bit = uint64_t{1} << place;
  if (!(record_->places_used.load(std::memory_order_relaxed) & bit)) {
    record_->places_used.fetch_or(bit, std::memory_order_relaxed);
  }
}

}  // namespace stats

using stats::Memory;
using stats::Writer;

Memory* Statistics::memory() {
  Memory* memory = memory_.load(std::memory_order_acquire);
  if (memory == nullptr && is_on()) memory = make_memory();
  return memory != nullptr && memory->header() != nullptr ? memory : nullptr;
}

Memory* Statistics::make_memory() {
  MutexLock lock(mutex_);
  Memory* memory = memory_.load(std::memory_order_relaxed);
  if (memory != nullptr) return memory;
  memory = Memory::create(level());
  if (memory == nullptr) level_.store(0, std::memory_order_relaxed);
  memory_.store(memory, std::memory_order_release);
  return memory;
}

void Statistics::set_level(unsigned level) {
  level_.store(level, std::memory_order_relaxed);
  Memory* made = memory();
  if (made != nullptr) made->header()->level.store(level, std::memory_order_relaxed);
}

Writer Statistics::mine() {
  if (!is_on()) return Writer();
  Memory* mine = memory();
  if (mine == nullptr) return Writer();
  auto& holder = of_this_thread<stats::Holder>();
  if (holder.memory != mine) holder.take(mine);
  return Writer(mine->record(holder.index), holder.index == stats::kOwnRecords);
}

void Statistics::count(stats::Op op, bool is_ok, uint64_t times) {
  const Writer writer = mine();
  if (!writer) return;
  stats::BasicOutcomes<stats::Counter>& outcomes = writer->ops[op];
  writer.add(is_ok ? outcomes.ok : outcomes.err, times);
}

void Statistics::add(stats::Sum sum, uint64_t amount) {
  if (const Writer writer = mine()) writer.add(writer->sums[sum], amount);
}

void Statistics::add(size_t place, stats::PlaceSum sum, uint64_t amount) {
  const Writer writer = mine();
  if (!writer) return;
  writer.use_place(place);
  writer.add(writer->place_sums[place][sum], amount);
}

bool Statistics::knows_device(int device) {
  const size_t place = stats::place_of(device);
  if (place == stats::kOtherPlace || !is_on()) return true;
  Memory* made = memory();
  return made == nullptr || made->header()->devices[place].is_known.load(std::memory_order_acquire);
}

void Statistics::set_device(int device, const char (&uuid)[stats::kUuidBytes]) {
  const size_t place = stats::place_of(device);
  Memory* made = memory();
  if (place == stats::kOtherPlace || made == nullptr) return;
  stats::Device& entry = made->header()->devices[place];
  for (size_t at = 0; at < stats::kUuidBytes; ++at) {
    entry.uuid[at].store(static_cast<uint8_t>(uuid[at]), std::memory_order_relaxed);
  }
  entry.is_known.store(1, std::memory_order_release);
}

void Statistics::sum(stats::Totals* totals) {
  *totals = {};
  Memory* made = memory_.load(std::memory_order_acquire);
  if (made != nullptr && made->header() != nullptr) stats::sum_records(*made->header(), totals);
}

const stats::Header* Statistics::header() {
  Memory* made = memory_.load(std::memory_order_acquire);
  return made == nullptr ? nullptr : made->header();
}

}  // namespace hipfile
