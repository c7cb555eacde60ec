// SPDX-License-Identifier: MIT
//
// Reading never touches pages that no thread wrote: that would allocate them.
#include "util/stats_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "util/log.h"
#include "util/stats_socket.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U  // Linux 6.3
#endif

namespace hipfile::stats {
namespace {

// Growing a file beyond RLIMIT_FSIZE would kill the program.
bool may_grow_to(size_t bytes) {
  rlimit limit = {};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes);
}

// The descriptor stays open as long as the process: it is the way in for ais-stats, through
// /proc/PID/fd, whose permissions the kernel looks after. A program that closes it shuts the door.
int make_file() {
  if (!may_grow_to(kMemoryBytes)) return -1;
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = memfd_create(kMemoryName, flags | MFD_NOEXEC_SEAL);
  if (fd < 0) fd = memfd_create(kMemoryName, flags);
  if (fd < 0) return -1;
  if (ftruncate(fd, kMemoryBytes) == 0 && fchmod(fd, 0400) == 0) return fd;
  close(fd);
  return -1;
}

void* map(int fd, size_t bytes) {
  const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void fill(Header& header, unsigned level) {
  std::memcpy(header.name, kMemoryName, sizeof header.name);
  header.version = kLayoutVersion;
  header.header_bytes = kHeaderBytes;
  header.record_bytes = sizeof(Record);
  header.records = kRecords;
  header.level.store(level, std::memory_order_relaxed);
  header.pid = static_cast<uint32_t>(getpid());
}

void seal(int fd) {
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW;
  if (fcntl(fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) != 0) (void)fcntl(fd, F_ADD_SEALS, seals);
}

uint64_t get(const Counter& counter) { return counter.load(std::memory_order_relaxed); }

// The arrays of counters and of sums have one layout, word by word.
template <class From, class To>
void add_all(const From& from, To* to) {
  static_assert(sizeof(From) == sizeof(To));
  const auto* words = reinterpret_cast<const Counter*>(&from);
  auto* sums = reinterpret_cast<uint64_t*>(to);
  for (size_t at = 0; at < sizeof(From) / sizeof(Counter); ++at) sums[at] += get(words[at]);
}

void widen(const BasicSpan<Counter>& from, BasicSpan<uint64_t>* to) {
  const uint64_t first = get(from.first_ns);
  if (first == 0) return;
  to->first_ns = to->first_ns == 0 ? first : std::min(to->first_ns, first);
  to->last_ns = std::max(to->last_ns, get(from.last_ns));
}

void add_place(const Record& record, size_t place, Totals* totals) {
  add_all(record.place_sums[place], &totals->place_sums[place]);
  add_all(record.traffic[place], &totals->traffic[place]);
  for (size_t way = 0; way < kWays; ++way) {
    widen(record.spans[place][way], &totals->spans[place][way]);
  }
}

void add_record(const Record& record, Totals* totals) {
  add_all(record.ops, &totals->ops);
  add_all(record.sums, &totals->sums);
  widen(record.batch_span, &totals->batch_span);
  if (get(record.last_batch.at_ns) > totals->last_batch.at_ns) {
    totals->last_batch = {get(record.last_batch.at_ns), get(record.last_batch.read_bytes),
                          get(record.last_batch.write_bytes)};
  }
  const uint64_t used = get(record.places_used);
  totals->places_used |= used;
  for (size_t place = 0; place < kPlaces; ++place) {
    if (used >> place & 1) add_place(record, place, totals);
  }
}

}  // namespace

Memory* Memory::create(unsigned level) {
  void* page = map(-1, kPage);
  const int fd = page == nullptr ? -1 : make_file();
  void* memory = page == nullptr ? nullptr : map(fd, kMemoryBytes);
  if (memory == nullptr) {
    log_warning("no memory for statistics: nothing is counted");
    if (page != nullptr) munmap(page, kPage);
    if (fd >= 0) close(fd);
    return nullptr;
  }
  (void)madvise(page, kPage, MADV_WIPEONFORK);
  auto* header = static_cast<Header*>(memory);
  fill(*header, level);
  if (fd >= 0) {
    seal(fd);
    offer_to_launcher(fd);
  } else {
    log_warning("no memory file for statistics: ais-stats will not see this process");
  }
  return new (page) Memory(header);
}

size_t Memory::take_record() {
  Header& head = *header();
  for (size_t index = 0; index < kOwnRecords; ++index) {
    uint8_t is_owned = 0;
    if (!head.owned[index].compare_exchange_strong(is_owned, 1, std::memory_order_acquire)) {
      continue;
    }
    uint32_t used = head.used.load(std::memory_order_relaxed);
    while (used <= index && !head.used.compare_exchange_weak(used, static_cast<uint32_t>(index + 1),
                                                             std::memory_order_relaxed)) {
    }
    return index;
  }
  head.used.store(kRecords, std::memory_order_relaxed);
  return kOwnRecords;
}

void Memory::give_back(size_t index) {
  Header* own = header();
  if (own != nullptr && index < kOwnRecords) own->owned[index].store(0, std::memory_order_release);
}

void sum_records(const Header& header, Totals* totals) {
  const Record* records = records_of(const_cast<Header*>(&header));
  const size_t used = std::min<size_t>(header.used.load(std::memory_order_acquire), kRecords);
  for (size_t index = 0; index < used; ++index) add_record(records[index], totals);
}

}  // namespace hipfile::stats
