// SPDX-License-Identifier: MIT
//
// The memory file with the counters: making it, and handing out records.
#pragma once

#include "util/stats_layout.h"

namespace hipfile::stats {

inline Record* records_of(Header* header) {
  return reinterpret_cast<Record*>(reinterpret_cast<char*>(header) + kHeaderBytes);
}

/// Lies in a page of its own that a child of fork sees as zero: there it has no header, and the
/// child does not write into the counters of its parent (rule 33). Never freed.
class Memory {
 public:
  /// A new one for this process. Sealed, so that nobody else can write to it; private memory, which
  /// only this process sees, where no memory file can be had. NULL if there is no memory at all.
  /// Where ais-stats started the program it is sent the file.
  static Memory* create(unsigned level);

  /// NULL in a child of fork.
  Header* header() const { return header_.load(std::memory_order_relaxed); }
  Record* record(size_t index) const { return records_of(header()) + index; }

  /// A record for the calling thread alone; kOwnRecords, the shared one, if all are taken.
  size_t take_record();
  void give_back(size_t index);

 private:
  explicit Memory(Header* header) : header_(header) {}
  std::atomic<Header*> header_;  // the kernel changes it
};

/// Adds up the records behind a header.
void sum_records(const Header& header, Totals* totals);

}  // namespace hipfile::stats
