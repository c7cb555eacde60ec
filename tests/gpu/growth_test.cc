// SPDX-License-Identifier: MIT
//
// Thousands of operations take nothing for good: no device memory, no pinned memory, no descriptor,
// no thread. The first ones may: rings, lanes, pools and slabs are made when they are first needed.
#include <fstream>
#include <optional>
#include <random>

#include "async_fixture.h"
#include "batch_fixture.h"
#include "modes.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kStreams = 4;
// Before the streams are waited for; most are in streams, which hold the most.
constexpr size_t kInStreams = 96, kOthers = 8;
constexpr size_t kOperations = 16000;  // so many that any leak of theirs takes a slab of 2 MiB

// Bytes that the kernel counts for the process (proc(5), status).
size_t kernel_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  size_t kilobytes = 0;
  while (status >> word) {
    if (word == name + ":" && status >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

struct Held {
  size_t device = 0;
  size_t locked = 0;
  size_t pinned = 0;
  size_t resident = 0;  // pinned memory counts here, once it was used
  size_t descriptors = 0;
  size_t threads = 0;
};

Held held() {
  Held now;
  size_t free = 0, total = 0;
  EXPECT_EQ(hipSuccess, hipMemGetInfo(&free, &total));
  now.device = total - free;
  now.locked = kernel_bytes("VmLck");
  now.pinned = kernel_bytes("VmPin");
  now.resident = kernel_bytes("VmRSS");
  now.descriptors = open_descriptors();
  now.threads = kernel_bytes("Threads") >> 10;
  return now;
}

class GrowthTest : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    set_up(kOthers);
    file_.emplace(file("f"), 4 * kMiB, 3);
  }

  void TearDown() override {
    hipFileHandleDeregister(file_->handle());
    BatchTest::TearDown();
  }

  // `count` operations by calls, in streams and in batches; reads and writes.
  void run(size_t count) {
    for (size_t done = 0; done < count; done += kInStreams + 2 * kOthers) run_once();
  }

  void run_once() {
    const TestStream streams[kStreams];  // new ones each time, which need a lane
    std::vector<AsyncCall> calls(kInStreams);
    for (size_t at = 0; at < kInStreams; ++at) {
      calls[at] = some_call();
      const TestStream& stream = streams[at % kStreams];
      EXPECT_CODE(hipFileSuccess, at % 2 == 0
                                      ? calls[at].read(file_->handle(), in_stream_, stream)
                                      : calls[at].write(file_->handle(), in_stream_, stream));
    }
    std::vector<hipFileIOParams_t> requests;
    for (size_t at = 0; at < kOthers; ++at) {
      const AsyncCall call = some_call();
      requests.push_back(request(at % 2 == 0 ? hipFileBatchRead : hipFileBatchWrite,
                                 file_->handle(), in_batch_.data(), call.size, call.file_offset,
                                 call.buffer_offset, at + 1));
    }
    EXPECT_CODE(hipFileSuccess, submit(requests));
    for (size_t at = 0; at < kOthers; ++at) {
      const AsyncCall call = some_call();
      const auto move = at % 2 == 0 ? &hipFileRead : &write;
      EXPECT_EQ(ssize_t(call.size), move(file_->handle(), by_call_.data(), call.size,
                                         call.file_offset, call.buffer_offset));
    }
    for (const TestStream& stream : streams) synchronize(stream);
    for (const AsyncCall& call : calls) EXPECT_EQ(ssize_t(call.size), call.bytes);
    for (const auto& [cookie, event] : collect(kOthers, kOthers)) {
      EXPECT_EQ(requests[cookie - 1].u.batch.size, event.ret);
    }
  }

  static ssize_t write(hipFileHandle_t file, void* memory, size_t size, hoff_t file_offset,
                       hoff_t buffer_offset) {
    return hipFileWrite(file, memory, size, file_offset, buffer_offset);
  }

  // Small and large, on the alignment and off it.
  AsyncCall some_call() {
    const bool is_aligned = random_() % 2 == 0;
    const size_t grain = is_aligned ? 4096 : 1;
    const size_t size = (1 + random_() % (random_() % 4 == 0 ? kMiB : 16384)) / grain * grain;
    return {size + (is_aligned ? 4096 : 0), hoff_t(random_() % kMiB / grain * grain),
            hoff_t(random_() % kMiB / grain * grain)};
  }

  std::mt19937 random_{4711};
  std::optional<RegisteredFile> file_;
  Buffer by_call_{4 * kMiB}, in_stream_{4 * kMiB}, in_batch_{4 * kMiB};
};

// What `after` has beyond `before`, in words; empty where it is nothing.
std::string growth(const Held& before, const Held& after) {
  std::string text;
  const auto compare = [&](const char* what, size_t was, size_t is, size_t tolerance) {
    if (is <= was + tolerance) return;
    text += std::string(what) + ": " + std::to_string(was) + ", then " + std::to_string(is) + "; ";
  };
  // Others may use a GPU too; its driver keeps notes.
  compare("device memory", before.device, after.device, is_on_nvidia() ? 64 * kMiB : 0);
  compare("locked", before.locked, after.locked, 0);
  compare("pinned", before.pinned, after.pinned, 0);
  compare("descriptors", before.descriptors, after.descriptors, 0);
  compare("threads", before.threads, after.threads, 0);
#ifndef HIPFILE_TEST_SANITIZED  // sanitizers keep what was freed
  compare("resident", before.resident, after.resident, is_on_nvidia() ? 2 * kMiB : kMiB / 2);
#endif
  return text;
}

// The ring grows when more is in flight than ever before, which chance may bring late: what leaks
// grows each time.
TEST_F(GrowthTest, ThousandsOfOperationsTakeNothing) {
  constexpr int kAttempts = 5;
  run(kOperations / 4);
  std::string grown = "nothing was run";
  for (int attempt = 0; attempt < kAttempts && !grown.empty(); ++attempt) {
    const Held before = held();
    run(kOperations);
    grown = growth(before, held());
  }
  EXPECT_EQ("", grown);
}

}  // namespace
}  // namespace hipfile::test
