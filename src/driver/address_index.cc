// SPDX-License-Identifier: MIT
//
// Linear probing; erasing shifts the followers back, so that there are no tombstones and a search
// for an address that is not registered stays short. Entries are stored with release and loaded
// with acquire order: a reader that meets a half-made change also sees the odd sequence number.
#include "driver/address_index.h"

#include <new>

namespace hipfile {
namespace {
constexpr size_t kFirstCapacity = 256;
}

AddressIndex::AddressIndex() : table_(make_table(kFirstCapacity)) {}

AddressIndex::~AddressIndex() {
  Table* table = table_.load(std::memory_order_relaxed);
  while (table != nullptr) {
    Table* outgrown = table->outgrown;
    delete[] table->entries;
    delete table;
    table = outgrown;
  }
}

AddressIndex::Table* AddressIndex::make_table(size_t capacity) {
  auto* table = new (std::nothrow) Table;
  if (table == nullptr) return nullptr;
  table->capacity = capacity;
  table->entries = new (std::nothrow) Entry[capacity];
  if (table->entries != nullptr) return table;
  delete table;
  return nullptr;
}

size_t AddressIndex::home(uintptr_t key, size_t capacity) {
  return static_cast<size_t>((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (capacity - 1);
}

uint64_t AddressIndex::find(const void* base) const {
  const auto key = reinterpret_cast<uintptr_t>(base);
  if (key == 0) return 0;  // the mark of an empty entry
  for (;;) {
    const uint64_t before = sequence_.load(std::memory_order_acquire);
    const Table* table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return 0;
    uint64_t found = 0;
    size_t at = home(key, table->capacity);
    for (size_t probes = 0; probes < table->capacity; ++probes) {
      const Entry& entry = table->entries[at];
      const uintptr_t stored = entry.key.load(std::memory_order_acquire);
      if (stored == key) found = entry.value.load(std::memory_order_acquire);
      if (stored == key || stored == 0) break;
      at = (at + 1) & (table->capacity - 1);
    }
    if ((before & 1) == 0 && sequence_.load(std::memory_order_relaxed) == before) return found;
  }
}

void AddressIndex::put(Table& table, uintptr_t key, uint64_t value) {
  size_t at = home(key, table.capacity);
  while (table.entries[at].key.load(std::memory_order_relaxed) != 0) {
    at = (at + 1) & (table.capacity - 1);
  }
  table.entries[at].value.store(value, std::memory_order_release);
  table.entries[at].key.store(key, std::memory_order_release);
}

bool AddressIndex::grow() {
  Table* old = table_.load(std::memory_order_relaxed);
  Table* larger = make_table(old == nullptr ? kFirstCapacity : old->capacity * 2);
  if (larger == nullptr) return false;
  for (size_t at = 0; old != nullptr && at < old->capacity; ++at) {
    const uintptr_t key = old->entries[at].key.load(std::memory_order_relaxed);
    if (key != 0) put(*larger, key, old->entries[at].value.load(std::memory_order_relaxed));
  }
  larger->outgrown = old;
  table_.store(larger, std::memory_order_release);
  return true;
}

bool AddressIndex::insert(const void* base, uint64_t handle) {
  const Table* table = table_.load(std::memory_order_relaxed);
  if ((table == nullptr || (size_ + 1) * 2 > table->capacity) && !grow()) return false;
  sequence_.fetch_add(1, std::memory_order_acq_rel);
  put(*table_.load(std::memory_order_relaxed), reinterpret_cast<uintptr_t>(base), handle);
  ++size_;
  sequence_.fetch_add(1, std::memory_order_release);
  return true;
}

void AddressIndex::remove(Table& table, uintptr_t key) {
  const size_t mask = table.capacity - 1;
  size_t hole = home(key, table.capacity);
  while (table.entries[hole].key.load(std::memory_order_relaxed) != key) hole = (hole + 1) & mask;
  for (size_t at = (hole + 1) & mask;; at = (at + 1) & mask) {
    const uintptr_t follower = table.entries[at].key.load(std::memory_order_relaxed);
    if (follower == 0) break;
    const size_t wanted = home(follower, table.capacity);
    if (((at - wanted) & mask) < ((at - hole) & mask)) continue;  // it may not move before its home
    table.entries[hole].value.store(table.entries[at].value.load(std::memory_order_relaxed),
                                    std::memory_order_release);
    table.entries[hole].key.store(follower, std::memory_order_release);
    hole = at;
  }
  table.entries[hole].key.store(0, std::memory_order_release);
}

void AddressIndex::erase(const void* base) {
  if (find(base) == 0) return;
  sequence_.fetch_add(1, std::memory_order_acq_rel);
  remove(*table_.load(std::memory_order_relaxed), reinterpret_cast<uintptr_t>(base));
  --size_;
  sequence_.fetch_add(1, std::memory_order_release);
}

}  // namespace hipfile
