// SPDX-License-Identifier: MIT
// A program in the middle of its work: operations behind a stream that stands still, others that
// run, and a batch. Made of plain calls, for probes and children of fork too; what fails aborts.
#pragma once

#include <string>
#include <vector>

#include "async_fixture.h"

namespace hipfile::test {

class InFlight {
 public:
  static constexpr size_t kSize = 1 << 20;  // of each request

  static constexpr size_t kCount = 8;  // requests of each part
  static constexpr size_t kLongSize = 96 * kSize;

  // A long read passes its staging several times over; what it reads is not looked at.
  enum Parts : unsigned { kPaused = 1, kRunning = 2, kBatch = 4, kAll = 7, kLong = 8 };

  // `path`: at least kCount * kSize bytes of pattern 1.
  explicit InFlight(const std::string& path, unsigned parts = kAll);
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  hipFileHandle_t file() const { return file_; }
  hipFileBatchHandle_t batch() const { return batch_; }
  hipStream_t paused() const { return paused_; }
  hipStream_t running() const { return running_; }
  Buffer& buffer() { return buffer_; }

  // Lets the stream go on, waits for everything. What is wrong; empty: nothing.
  std::string finish();

 private:
  struct Requests {
    AsyncCall calls[kCount];
  };

  void queue(Requests& requests, hipStream_t stream, size_t part);
  void submit();
  std::string fetch();

  const unsigned parts_;
  Fd fd_;
  hipFileHandle_t file_ = nullptr;
  Buffer word_{sizeof(uint32_t), MemoryKind::kPinned};
  Buffer buffer_;  // kCount slices of each part
  hipStream_t paused_ = nullptr;
  hipStream_t running_ = nullptr;
  hipFileBatchHandle_t batch_ = nullptr;
  Requests behind_, ahead_;
  AsyncCall long_{kLongSize};
};

// Calls everything that can be called at the end of a process, on a file registered anew, and
// closes the driver. What is wrong; empty: nothing. `paused` may stand still for ever.
std::string call_at_exit(const std::string& path, InFlight& flight);

}  // namespace hipfile::test
