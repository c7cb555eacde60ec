// SPDX-License-Identifier: MIT
//
// Batches as they go to io_uring, many requests at once: with one system call, within the limit of
// threads, and with the same ends as requests that run alone. Under the threads engine the same
// program shows that nothing depends on the ring.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "batch_fixture.h"
#include "process.h"

namespace hipfile::test {
namespace {

constexpr size_t kKiB = 1024;

bool has_ring() {
  const char* engine = std::getenv("HIPFILE_ENGINE");
  return engine == nullptr || std::string(engine) != "threads";
}

// Threads of this process that do its I/O: the pool's, and the kernel's behind a ring.
size_t count_threads() {
  size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    count += name == "hipfile-io" || name.starts_with("iou-");
  }
  return count;
}

// The most such threads since.
class ThreadWatch {
 public:
  ThreadWatch() : thread_([this] { watch(); }) {}
  size_t stop() {
    is_over_ = true;
    thread_.join();
    return most_;
  }

 private:
  void watch() {
    while (!is_over_) {
      most_ = std::max(most_, count_threads());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  size_t most_ = 0;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

class BatchRingTest : public BatchTest {
 protected:
  // Requests of `size` bytes, one after the other in file and memory, cookies from 1.
  static std::vector<hipFileIOParams_t> row(hipFileOpcode_t opcode, hipFileHandle_t file,
                                            const Buffer& buffer, size_t size) {
    std::vector<hipFileIOParams_t> requests;
    for (size_t at = 0; at < buffer.size() / size; ++at) {
      const auto offset = static_cast<hoff_t>(at * size);
      requests.push_back(request(opcode, file, buffer.data(), size, offset, offset, at + 1));
    }
    return requests;
  }
  void run(const std::vector<hipFileIOParams_t>& requests) {
    const auto count = static_cast<unsigned>(requests.size());
    EXPECT_CODE(hipFileSuccess, submit(requests));
    const auto events = collect(count, count);
    EXPECT_EQ(count, events.size());
    for (const auto& [cookie, event] : events) {
      EXPECT_EQ(hipFileComplete, event.status) << cookie;
      EXPECT_EQ(requests[cookie - 1].u.batch.size, event.ret) << cookie;
    }
  }
  static uint64_t submissions() {
    hipFileStatsLevel1_t level;
    EXPECT_CODE(hipFileSuccess, hipFileGetStatsL1(&level));
    return level.batch_iouring_submit_ops.ok;
  }
  int direct_flag() const { return direct_flag_of(dir_.path()); }
};

// Also run under strace, by the test below.
constexpr unsigned kRounds = 8;
TEST_F(BatchRingTest, ReadsOfTheCacheAreOneSubmissionEach) {
  const Buffer buffer(128 * 4 * kKiB, MemoryKind::kPinned);
  RegisteredFile f(file("f"), buffer.size(), 1);
  set_up(128);
  const uint64_t before = submissions();
  for (unsigned round = 0; round < kRounds; ++round) {
    run(row(hipFileBatchRead, f.handle(), buffer, 4 * kKiB));
    EXPECT_EQ("", first_difference(buffer.get(), make_pattern(buffer.size(), 1)));
  }
  EXPECT_EQ(has_ring() ? kRounds : 0, submissions() - before);
}

TEST_F(BatchRingTest, Rule24_OneSystemCallForEachSubmission) {
  if (run_process({"strace", "-o", "/dev/null", "true"}).exit_code != 0) {
    GTEST_SKIP() << "strace cannot trace here";
  }
  ProcessOptions options;
  options.environment = {"ASAN_OPTIONS=detect_leaks=0"};
  const ProcessResult result =
      run_process({"strace", "-f", "-qq", "-o", file("trace"), "-e", "trace=io_uring_enter",
                   program_folder() + "/api_batch_ring_test", "--gtest_filter=*ReadsOfTheCache*"},
                  options);
  ASSERT_EQ(0, result.exit_code) << result.out << result.err;
  std::ifstream trace(file("trace"));
  size_t calls = 0;
  for (std::string line; std::getline(trace, line);) {
    calls += line.find("io_uring_enter(") != std::string::npos;
  }
  if (!has_ring()) {
    EXPECT_EQ(0u, calls);
    return;
  }
  EXPECT_GT(calls, kRounds);  // one is the probe's
  EXPECT_LE(calls,
            4 * kRounds + 1u);  // where it must sleep for the ends, and not 128 times as many
}

TEST_F(BatchRingTest, QueueDepthBoundsASubmission) {
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamExecutionMaxIOQueueDepth, 16));
  const Buffer buffer(128 * 4 * kKiB, MemoryKind::kPinned);
  RegisteredFile f(file("f"), buffer.size(), 1);
  set_up(128);
  const uint64_t before = submissions();
  run(row(hipFileBatchRead, f.handle(), buffer, 4 * kKiB));
  EXPECT_EQ(has_ring() ? 8 : 0, submissions() - before);
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(buffer.size(), 1)));
}

// 0 bytes, a file that ends within, pages that are not in the cache, a write where none is allowed:
// what the ring leaves over ends as it does alone.
TEST_F(BatchRingTest, WhatTheRingLeavesOverRunsAsAlone) {
  constexpr size_t kSize = 16 * kKiB;
  for (const int flag : {0, direct_flag()}) {
    const Buffer buffer(8 * kSize, MemoryKind::kPinned);
    Buffer source(kSize, MemoryKind::kPinned);
    source.set(make_pattern(kSize, 3));
    RegisteredFile f(file("f"), 2 * kSize + 5000, 1, O_RDWR | flag);
    RegisteredFile read_only(file("r"), kSize, 2, O_RDONLY | flag);
    RegisteredFile grown(file("w"), 0, 0, O_RDWR | flag);
    ASSERT_EQ(0, fsync(f.fd()));
    ASSERT_EQ(0, posix_fadvise(f.fd(), 0, 0, POSIX_FADV_DONTNEED));
    set_up(16);
    void* const b = buffer.data();
    const auto at = [](size_t slice) { return static_cast<hoff_t>(slice * kSize); };
    EXPECT_CODE(
        hipFileSuccess,
        submit({request(hipFileBatchRead, f.handle(), b, kSize, 0, 0, 1),
                request(hipFileBatchRead, f.handle(), b, kSize, at(1), at(1), 2),
                request(hipFileBatchRead, f.handle(), b, kSize, at(2), at(2), 3),
                request(hipFileBatchRead, f.handle(), b, kSize, at(9), at(3), 4),
                request(hipFileBatchRead, f.handle(), b, 0, 0, 0, 5),
                request(hipFileBatchWrite, read_only.handle(), source.data(), kSize, 0, 0, 6),
                request(hipFileBatchWrite, grown.handle(), source.data(), kSize, 0, 0, 7),
                request(hipFileBatchWrite, grown.handle(), source.data(), kSize, at(2), 0, 8)}));
    auto events = collect(8, 8);
    ASSERT_EQ(8u, events.size());
    const size_t moved[] = {kSize, kSize, 5000, 0, 0, static_cast<size_t>(-EBADF), kSize, kSize};
    for (uintptr_t cookie = 1; cookie <= 8; ++cookie) {
      EXPECT_EQ(cookie == 6 ? hipFileFailed : hipFileComplete, events[cookie].status) << cookie;
      EXPECT_EQ(moved[cookie - 1], events[cookie].ret) << cookie;
    }
    const std::vector<uint8_t> all = make_pattern(2 * kSize + 5000, 1);
    EXPECT_EQ("", first_difference(buffer.get(0, all.size()), all));
    std::vector<uint8_t> written = make_pattern(kSize, 3);
    written.resize(2 * kSize);
    const std::vector<uint8_t> again = make_pattern(kSize, 3);
    written.insert(written.end(), again.begin(), again.end());
    EXPECT_EQ("", first_difference(read_file(grown.path()), written));
    hipFileBatchIODestroy(batch_);
    batch_ = nullptr;
    close_library();
  }
}

// The kernel would start threads of its own for requests that it cannot end at once: no limit of
// ours holds those.
TEST_F(BatchRingTest, Rule32_ManyInFlightKeepToTheLimitOfThreads) {
  constexpr unsigned kCount = 1024;
  constexpr size_t kSize = 16 * kKiB, kLimit = 2;
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamPropertiesIOBatchsize, kCount));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamExecutionMaxIOThreads, kLimit));
  const std::vector<uint8_t> bytes = make_pattern(kCount * kSize, 5);
  for (const MemoryKind kind : {MemoryKind::kPinned, MemoryKind::kDevice}) {
    Buffer buffer(kCount * kSize, kind);
    buffer.set(bytes);
    RegisteredFile f(file("f"), 0, 0, O_RDWR | direct_flag());
    set_up(kCount);
    ThreadWatch watch;
    for (int round = 0; round < 2; ++round) {  // the file grows, then it is there
      run(row(hipFileBatchWrite, f.handle(), buffer, kSize));
    }
    EXPECT_EQ("", first_difference(read_file(f.path()), bytes));
    buffer.fill(0);
    ASSERT_EQ(0, posix_fadvise(f.fd(), 0, 0, POSIX_FADV_DONTNEED));
    run(row(hipFileBatchRead, f.handle(), buffer, kSize));
    EXPECT_LE(watch.stop(), kLimit);
    EXPECT_EQ("", first_difference(buffer.get(), bytes));
    hipFileBatchIODestroy(batch_);
    batch_ = nullptr;
  }
}

// The cancellation may come late on a busy machine: not each time.
TEST_F(BatchRingTest, CancelledRequestsTouchNothing) {
  constexpr unsigned kCount = 512;
  constexpr size_t kSize = 64 * kKiB;
  constexpr int kMostTurns = 20;
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamPropertiesIOBatchsize, kCount));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamExecutionMaxIOThreads, 1));
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamExecutionMaxIOQueueDepth, 16));
  const std::vector<uint8_t> old_bytes(kCount * kSize, 0xee);
  const std::vector<uint8_t> new_bytes = make_pattern(kCount * kSize, 7);
  const auto cancel_all = [&](hipFileOpcode_t opcode, size_t& cancelled) {
    const bool is_read = opcode == hipFileBatchRead;
    Buffer buffer(kCount * kSize, MemoryKind::kPinned);
    buffer.set(is_read ? old_bytes : new_bytes);
    write_file(file("f"), is_read ? new_bytes : old_bytes);
    const Fd fd(file("f"), O_RDWR | direct_flag());
    ASSERT_EQ(0, fsync(fd.get()));
    const hipFileHandle_t handle = register_fd(fd.get());
    set_up(kCount);
    EXPECT_CODE(hipFileSuccess, submit(row(opcode, handle, buffer, kSize)));
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOCancel(batch_));
    const auto events = collect(kCount, kCount);
    ASSERT_EQ(kCount, events.size());
    const std::vector<uint8_t> target = is_read ? buffer.get() : read_file(file("f"));
    for (const auto& [cookie, event] : events) {
      const bool is_cancelled = event.status == hipFileCanceled;
      cancelled += is_cancelled;
      EXPECT_EQ(is_cancelled ? 0 : kSize, event.ret);
      const auto begin = static_cast<std::ptrdiff_t>((cookie - 1) * kSize);
      const std::vector<uint8_t>& bytes = is_cancelled ? old_bytes : new_bytes;
      EXPECT_TRUE(
          std::equal(target.begin() + begin, target.begin() + begin + kSize, bytes.begin() + begin))
          << cookie << (is_cancelled ? " was cancelled" : " is complete");
    }
    hipFileBatchIODestroy(batch_);
    batch_ = nullptr;
    hipFileHandleDeregister(handle);
  };
  for (const hipFileOpcode_t opcode : {hipFileBatchRead, hipFileBatchWrite}) {
    size_t cancelled = 0;
    for (int turn = 0; turn < kMostTurns && cancelled == 0 && !HasFatalFailure(); ++turn) {
      cancel_all(opcode, cancelled);
    }
    EXPECT_GT(cancelled, 0u);
  }
}

TEST_F(BatchRingTest, DestroyAndCloseWaitForWhatIsInFlight) {
  RegisteredFile f(file("f"), 64 * 64 * kKiB, 1, O_RDWR | direct_flag());
  for (const bool is_closed : {false, true}) {
    auto buffer = std::make_unique<Buffer>(64 * 64 * kKiB, MemoryKind::kPinned);
    const Fd fd(f.path(), O_RDWR | direct_flag());
    const hipFileHandle_t handle = is_closed ? register_fd(fd.get()) : f.handle();
    set_up(64);
    EXPECT_CODE(hipFileSuccess, submit(row(hipFileBatchRead, handle, *buffer, 64 * kKiB)));
    is_closed ? close_library() : hipFileBatchIODestroy(batch_);
    batch_ = nullptr;
    const std::vector<uint8_t> then = buffer->get();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ("", first_difference(buffer->get(), then));
  }
}

}  // namespace
}  // namespace hipfile::test
