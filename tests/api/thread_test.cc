// SPDX-License-Identifier: MIT
// Many threads at once: registration, I/O, deregistration and closing against each other. Runs
// under ThreadSanitizer too.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

// Runs `body(index)` in `count` threads that start together.
void in_threads(size_t count, const std::function<void(size_t)>& body) {
  std::atomic<size_t> ready{0};
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ready.fetch_add(1);
      while (ready.load() < count) std::this_thread::yield();
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class ThreadTest : public ApiTest {};

TEST_F(ThreadTest, FirstHandleRegistrationsOpenTheLibraryOnce) {
  std::vector<Fd> files;
  for (int i = 0; i < 64; ++i) files.emplace_back(file(std::to_string(i)), O_RDWR | O_CREAT);
  in_threads(64, [&](size_t i) { register_fd(files[i].get()); });
  EXPECT_EQ(1, hipFileUseCount());
}

TEST_F(ThreadTest, FirstBufferRegistrationsOpenTheLibraryOnce) {
  in_threads(64, [&](size_t) {
    Buffer buffer(4096);
    EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 4096, 0));
    EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  });
  EXPECT_EQ(1, hipFileUseCount());
}

TEST_F(ThreadTest, OneOfManyRegistersADescriptor) {
  Fd fd(file("f"), O_RDWR | O_CREAT);
  std::atomic<int> successes{0}, refusals{0};
  in_threads(16, [&](size_t) {
    hipFileDescr_t descr = describe(fd.get());
    hipFileHandle_t handle = nullptr;
    const hipFileOpError_t code = hipFileHandleRegister(&handle, &descr).err;
    if (code == hipFileSuccess) ++successes;
    if (code == hipFileHandleAlreadyRegistered) ++refusals;
  });
  EXPECT_EQ(1, successes);
  EXPECT_EQ(15, refusals);
}

TEST_F(ThreadTest, OpensAndClosesAreCountedExactly) {
  std::atomic<int> failures{0};
  in_threads(16, [&](size_t) {
    for (int i = 0; i < 200; ++i) {
      if (hipFileDriverOpen().err != hipFileSuccess) ++failures;
      if (hipFileDriverClose().err != hipFileSuccess) ++failures;
    }
  });
  EXPECT_EQ(0, failures);
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(ThreadTest, OneOfTwoClosersWins) {
  for (int turn = 0; turn < 200; ++turn) {
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
    std::atomic<int> successes{0};
    in_threads(2, [&](size_t) {
      if (hipFileDriverClose().err == hipFileSuccess) ++successes;
    });
    ASSERT_EQ(1, successes);
    ASSERT_EQ(0, hipFileUseCount());
  }
}

TEST_F(ThreadTest, ThreadWithoutHipBeforeMayReadAndWriteFirst) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536);
  std::thread([&] {
    EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  }).join();
  EXPECT_EQ("", first_difference(buffer.get(), make_pattern(65536, 1)));
  std::thread([&] {
    EXPECT_EQ(100, hipFileWrite(f.handle(), buffer.data(), 100, 65536, 0));
  }).join();
  EXPECT_EQ(65636, file_size(f.path()));
}

TEST_F(ThreadTest, ManyThreadsReadOneFile) {
  const size_t part = (1 << 20) + 77;
  RegisteredFile f(file("f"), 16 * part, 1);
  in_threads(16, [&](size_t i) {
    Buffer buffer(part, i % 4 == 3 ? MemoryKind::kHost : MemoryKind::kDevice);
    for (int turn = 0; turn < 4; ++turn) {
      buffer.fill(0);
      ASSERT_EQ(static_cast<ssize_t>(part),
                hipFileRead(f.handle(), buffer.data(), part, static_cast<hoff_t>(i * part), 0));
      ASSERT_EQ("", first_difference(buffer.get(), make_pattern(part, 1, i * part)));
    }
  });
}

TEST_F(ThreadTest, ManyThreadsWriteTheirPartsOfOneFile) {
  const size_t part = (1 << 20) + 77;  // the edges share blocks
  RegisteredFile f(file("f"), 0, 0);
  in_threads(8, [&](size_t i) {
    Buffer buffer(part);
    buffer.set(make_pattern(part, 1, i * part));
    EXPECT_EQ(static_cast<ssize_t>(part),
              hipFileWrite(f.handle(), buffer.data(), part, static_cast<hoff_t>(i * part), 0));
  });
  EXPECT_EQ("", first_difference(read_file(f.path()), make_pattern(8 * part, 1)));
}

TEST_F(ThreadTest, Rule31_RequestsLargerThanTheRingSideBySide) {
  const size_t size = (48 << 20) + 5;
  RegisteredFile f(file("f"), size, 1);
  in_threads(4, [&](size_t) {
    Buffer buffer(size);
    EXPECT_EQ(static_cast<ssize_t>(size), hipFileRead(f.handle(), buffer.data(), size, 0, 0));
    EXPECT_EQ("", first_difference(buffer.get(), make_pattern(size, 1)));
  });
}

TEST_F(ThreadTest, Rule34_DeregistrationDuringIoIsDeferred) {
  const size_t size = 4 << 20;
  write_file(file("f"), make_pattern(size, 1));
  Buffer buffer(size);
  for (int turn = 0; turn < 30; ++turn) {
    Fd fd(file("f"), O_RDWR);
    hipFileHandle_t handle = register_fd(fd.get());
    std::atomic<bool> started{false};
    std::thread reader([&] {
      started = true;
      const ssize_t n = hipFileRead(handle, buffer.data(), size, 0, 0);
      EXPECT_TRUE(n == static_cast<ssize_t>(size) || n == negated(hipFileHandleNotRegistered)) << n;
    });
    while (!started) std::this_thread::yield();
    hipFileHandleDeregister(handle);
    EXPECT_EQ(negated(hipFileHandleNotRegistered), hipFileRead(handle, buffer.data(), 4096, 0, 0));
    hipFileHandle_t next = register_fd(fd.get());  // the number is free again at once
    reader.join();
    hipFileHandleDeregister(next);
  }
}

TEST_F(ThreadTest, Rule34_BufferInUseStaysRegistered) {
  const size_t size = 64 << 20;
  RegisteredFile f(file("f"), size, 1);
  Buffer buffer(size);
  bool seen = false;
  for (int turn = 0; turn < 50 && !seen; ++turn) {
    EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), size, 0));
    std::atomic<bool> started{false};
    std::thread reader([&] {
      started = true;
      EXPECT_EQ(static_cast<ssize_t>(size), hipFileRead(f.handle(), buffer.data(), size, 0, 0));
    });
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(turn % 5));
    const hipFileOpError_t code = hipFileBufDeregister(buffer.data()).err;
    EXPECT_TRUE(code == hipFileSuccess || code == hipFileInternalError) << code;
    seen = code == hipFileInternalError;
    reader.join();
    if (seen) EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  }
  EXPECT_TRUE(seen) << "no deregistration met a running read";
}

TEST_F(ThreadTest, Rule34_CloseWaitsForRunningIo) {
  const size_t size = 32 << 20;
  for (int turn = 0; turn < 10; ++turn) {
    RegisteredFile f(file("f"), size, 1);
    std::atomic<bool> started{false}, done{false};
    std::thread reader([&] {
      Buffer buffer(size);
      started = true;
      errno = 0;
      const ssize_t n = hipFileRead(f.handle(), buffer.data(), size, 0, 0);
      const bool is_closed = n == -1 && errno == EINVAL;
      EXPECT_TRUE(n == static_cast<ssize_t>(size) || is_closed ||
                  n == negated(hipFileHandleNotRegistered) || n == negated(hipFileDriverClosing))
          << n;
      done = true;
    });
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(turn));
    EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
    EXPECT_EQ(0, hipFileUseCount());
    reader.join();
  }
}

TEST_F(ThreadTest, EverythingAtOnce) {
  const size_t size = 256 << 10;
  write_file(file("f"), make_pattern(size, 1));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      Buffer buffer(size);
      while (!stop) {
        Fd fd(file("f"), O_RDWR);
        hipFileDescr_t descr = describe(fd.get());
        hipFileHandle_t handle = nullptr;
        if (hipFileHandleRegister(&handle, &descr).err != hipFileSuccess) continue;
        if (i % 2 == 0) (void)hipFileBufRegister(buffer.data(), size, 0).err;
        const ssize_t n = hipFileRead(handle, buffer.data(), size - 3, 3, 0);
        if (n > 0) {
          EXPECT_EQ("", first_difference(buffer.get(0, static_cast<size_t>(n)),
                                         make_pattern(static_cast<size_t>(n), 1, 3)));
        }
        if (i % 2 == 0) (void)hipFileBufDeregister(buffer.data()).err;
        hipFileHandleDeregister(handle);
      }
    });
  }
  for (int turn = 0; turn < 60; ++turn) {
    EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // The threads open it again at any moment: which of these finds it open is not known.
    (void)hipFileDriverClose().err;
    (void)hipFileDriverClose().err;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ThreadTest, Rule30StatisticsLoseNothingAndOutliveTheirThreads) {
  constexpr size_t kThreads = 8, kTimes = 50;
  RegisteredFile f(file("f"), 65536, 1);
  hipFileStatsLevel3_t before, after;
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL3(&before));
  in_threads(kThreads, [&](size_t index) {
    Buffer buffer(8192, index % 2 == 0 ? MemoryKind::kDevice : MemoryKind::kHost);
    hipFileStatsLevel3_t level;
    for (size_t i = 0; i < kTimes; ++i) {
      EXPECT_EQ(8192, hipFileRead(f.handle(), buffer.data(), 8192, 4096, 0));
      if (i % 10 == 0) EXPECT_CODE(hipFileSuccess, hipFileGetStatsL3(&level));
    }
  });
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL3(&after));
  const auto& now = after.detailed;
  EXPECT_EQ(kThreads * kTimes, now.basic.read_ops.ok - before.detailed.basic.read_ops.ok);
  EXPECT_EQ(kThreads * kTimes * 8192, now.basic.read_bytes - before.detailed.basic.read_bytes);
  EXPECT_EQ(kThreads * kTimes, now.read_size_kb_hist[2] - before.detailed.read_size_kb_hist[2]);
  EXPECT_EQ(kThreads * kTimes / 2,
            after.per_gpu_stats[0].n_total_reads - before.per_gpu_stats[0].n_total_reads);
}

}  // namespace
}  // namespace hipfile::test
