// SPDX-License-Identifier: MIT
//
// From a buffer's base address to its handle, read without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hipfile {

/// An open-addressing hash table read under a sequence counter. Any number of readers; writers are
/// serialised by the caller. Tables that were outgrown live as long as the index, since a reader
/// may still be in them: they double in size, so all of them together take less than the present
/// one.
class AddressIndex {
 public:
  AddressIndex();
  ~AddressIndex();
  AddressIndex(const AddressIndex&) = delete;
  AddressIndex& operator=(const AddressIndex&) = delete;

  /// The handle stored for exactly `base`, or 0.
  uint64_t find(const void* base) const;

  /// Store a handle (not 0) for a base that is not there. False when memory is exhausted.
  bool insert(const void* base, uint64_t handle);

  /// Remove a base; a base that is not there is ignored.
  void erase(const void* base);

 private:
  struct Entry {
    std::atomic<uintptr_t> key{0};
    std::atomic<uint64_t> value{0};
  };
  struct Table {
    size_t capacity = 0;  // a power of two
    Entry* entries = nullptr;
    Table* outgrown = nullptr;  // the one before, which readers may still be in
  };

  static Table* make_table(size_t capacity);
  static size_t home(uintptr_t key, size_t capacity);
  static void put(Table& table, uintptr_t key, uint64_t value);
  static void remove(Table& table, uintptr_t key);
  bool grow();

  std::atomic<uint64_t> sequence_{0};  // odd while a writer changes the table
  std::atomic<Table*> table_;
  size_t size_ = 0;
};

}  // namespace hipfile
