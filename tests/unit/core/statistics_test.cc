// SPDX-License-Identifier: MIT
//
// Counters, their memory file, and the report, without the library around them.
#include "util/statistics.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "util/stats_memory.h"
#include "util/stats_report.h"
#include "util/stats_view.h"

namespace hipfile::stats {
namespace {

std::unique_ptr<Totals> sum(Statistics& statistics) {
  auto totals = std::make_unique<Totals>();
  statistics.sum(totals.get());
  return totals;
}

// The number of this process's own memory file, not an inherited one; -1 if there is none.
int memory_file() {
  for (int fd = 0; fd < 1024; ++fd) {
    char target[64] = {};
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(path.c_str(), target, sizeof target - 1) <= 0) continue;
    if (std::string(target).find("memfd:AISSTATS") == std::string::npos) continue;
    uint32_t pid = 0;
    const ssize_t got = pread(fd, &pid, sizeof pid, offsetof(Header, pid));
    if (got == sizeof pid && pid == static_cast<uint32_t>(getpid())) return fd;
  }
  return -1;
}

int child_status(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(StatisticsTest, BucketEdges) {
  EXPECT_EQ(0u, bucket_of(0));
  EXPECT_EQ(0u, bucket_of(4095));
  for (size_t bucket = 1; bucket < kBuckets; ++bucket) {
    const uint64_t edge = uint64_t{1} << (bucket + 11);
    EXPECT_EQ(bucket - 1, bucket_of(edge - 1));
    EXPECT_EQ(bucket, bucket_of(edge));
  }
  EXPECT_EQ(kBuckets - 1, bucket_of(UINT64_MAX));
}

TEST(StatisticsTest, PlacesOfDevices) {
  EXPECT_EQ(0u, place_of(0));
  EXPECT_EQ(15u, place_of(15));
  EXPECT_EQ(kOtherPlace, place_of(16));
  EXPECT_EQ(kOtherPlace, place_of(-1));
}

// docs/stats-layout.md promises these.
TEST(StatisticsTest, LayoutIsTheDocumentedOne) {
  EXPECT_EQ(40u, offsetof(Header, devices));
  EXPECT_EQ(424u, offsetof(Header, owned));
  EXPECT_EQ(73728u, sizeof(Record));
  EXPECT_EQ(8u, offsetof(Record, ops));
  EXPECT_EQ(344u, offsetof(Record, sums));
  EXPECT_EQ(384u, offsetof(Record, last_batch));
  EXPECT_EQ(408u, offsetof(Record, batch_span));
  EXPECT_EQ(424u, offsetof(Record, place_sums));
  EXPECT_EQ(1512u, offsetof(Record, spans));
  EXPECT_EQ(4096u, offsetof(Record, traffic));
}

TEST(StatisticsTest, LevelZeroMakesNoMemory) {
  Statistics statistics(0);
  statistics.count(kHandleRegister, true);
  statistics.add(kBatchReadBytes, 5);
  EXPECT_EQ(nullptr, statistics.header());
  EXPECT_EQ(0u, statistics.now());
  EXPECT_EQ(0u, sum(statistics)->ops[kHandleRegister].ok);
}

TEST(StatisticsTest, WhatWasCountedStaysWhenTheLevelFalls) {
  Statistics statistics(1);
  statistics.count(kHandleRegister, true, 3);
  statistics.set_level(0);
  statistics.count(kHandleRegister, true);
  EXPECT_EQ(3u, sum(statistics)->ops[kHandleRegister].ok);
  statistics.set_level(2);
  statistics.count(kHandleRegister, false);
  EXPECT_EQ(3u, sum(statistics)->ops[kHandleRegister].ok);
  EXPECT_EQ(1u, sum(statistics)->ops[kHandleRegister].err);
  EXPECT_EQ(2u, statistics.header()->level.load());
}

// More threads than there are records: the last record is shared, and loses nothing.
TEST(StatisticsTest, Rule30ThreadsWithoutARecordOfTheirOwnLoseNothing) {
  constexpr size_t kSharing = 8, kTimes = 100000;
  Statistics statistics(1);
  std::atomic<size_t> ready{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> owners, sharing;
  for (size_t i = 0; i < kOwnRecords; ++i) {
    owners.emplace_back([&] {
      statistics.count(kBufferRegister, true);
      ready.fetch_add(1);
      is_over.wait(false);
    });
  }
  while (ready.load() < kOwnRecords) std::this_thread::yield();
  for (size_t i = 0; i < kSharing; ++i) {
    sharing.emplace_back([&, i] {
      for (size_t time = 0; time < kTimes; ++time) statistics.count(kBufferRegister, true);
      const Writer writer = statistics.mine();
      writer.use_place(1);
      writer.widen(writer->spans[1][kRead], 1000 - i, 2000 + i);
    });
  }
  for (std::thread& thread : sharing) thread.join();
  is_over.store(true);
  is_over.notify_all();
  for (std::thread& thread : owners) thread.join();
  const auto totals = sum(statistics);
  EXPECT_EQ(kOwnRecords + kSharing * kTimes, totals->ops[kBufferRegister].ok);
  EXPECT_EQ(1000 - (kSharing - 1), totals->spans[1][kRead].first_ns);
  EXPECT_EQ(2000 + (kSharing - 1), totals->spans[1][kRead].last_ns);
  EXPECT_EQ(kRecords, statistics.header()->used.load());
}

TEST(StatisticsTest, RecordsOfEndedThreadsAreTakenAgain) {
  Statistics statistics(1);
  for (int i = 0; i < 1000; ++i) {
    std::thread([&] { statistics.count(kBufferRegister, true); }).join();
  }
  EXPECT_EQ(1000u, sum(statistics)->ops[kBufferRegister].ok);
  EXPECT_LT(statistics.header()->used.load(), 5u);
}

TEST(StatisticsTest, OneWithoutTimeHasNoRate) {
  EXPECT_EQ(0u, per_second(5, {0, 0}));
  EXPECT_EQ(0u, per_second(5, {7, 7}));
  EXPECT_EQ(5000000000u, per_second(5, {7, 8}));
  EXPECT_EQ(uint64_t{1} << 62, per_second(uint64_t{1} << 62, {1, 1000000001}));
}

TEST(StatisticsTest, LastBatchIsTheLatestOfAllThreads) {
  Statistics statistics(1);
  const auto end_batch = [&](uint64_t at, uint64_t bytes) {
    const Writer writer = statistics.mine();
    writer->last_batch.at_ns.store(at);
    writer->last_batch.read_bytes.store(bytes);
  };
  end_batch(50, 5);
  std::thread([&] { end_batch(70, 7); }).join();
  EXPECT_EQ(7u, sum(statistics)->last_batch.read_bytes);
  end_batch(90, 9);
  EXPECT_EQ(9u, sum(statistics)->last_batch.read_bytes);
}

// The other tests leave files of this process too; so each of these runs in a child.
TEST(StatisticsMemoryTest, AnotherProcessReadsWhatIsCounted) {
  EXPECT_EQ(0, child_status([] {
              Statistics statistics(1);
              statistics.count(kHandleRegister, true, 4);
              const pid_t target = getpid();
              return child_status([target] {
                View::Failure failure = View::Failure::kNone;
                const auto view = View::attach(target, &failure);
                if (view == nullptr) return 10 + static_cast<int>(failure);
                const auto totals = std::make_unique<Totals>();
                view->sum(totals.get());
                return totals->ops[kHandleRegister].ok == 4 ? 0 : 1;
              });
            }));
}

TEST(StatisticsMemoryTest, ProcessesWithoutCounters) {
  View::Failure failure = View::Failure::kNone;
  EXPECT_EQ(nullptr, View::attach(1 << 22, &failure));
  EXPECT_EQ(View::Failure::kNoProcess, failure);
  EXPECT_EQ(0, child_status([] {
              Statistics statistics(1);
              statistics.count(kHandleRegister, true);
              // The grandchild inherits the descriptor, but the counters are not its own.
              return child_status([] {
                View::Failure why = View::Failure::kNone;
                if (View::attach(getpid(), &why) != nullptr) return 1;
                return why == View::Failure::kNothing ? 0 : 2;
              });
            }));
}

TEST(StatisticsMemoryTest, NobodyElseCanWriteOrShrinkIt) {
  EXPECT_EQ(0, child_status([] {
              Statistics statistics(1);
              statistics.count(kHandleRegister, true);
              const int own = memory_file();
              if (own < 0) return 1;
              if (ftruncate(own, 0) == 0) return 2;
              if (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0) != MAP_FAILED)
                return 3;
              if (pwrite(own, "x", 1, 0) == 1) return 4;
              return fcntl(own, F_GETFD) & FD_CLOEXEC ? 0 : 5;
            }));
}

TEST(StatisticsMemoryTest, Rule33ChildWritesNothingIntoItsParent) {
  EXPECT_EQ(0, child_status([] {
              Statistics statistics(1);
              statistics.count(kHandleRegister, true);
              const int status = child_status([&] {
                statistics.count(kHandleRegister, true);  // inherited: nothing happens
                if (sum(statistics)->ops[kHandleRegister].ok != 0) return 1;
                Statistics fresh(1);
                fresh.count(kHandleRegister, true,
                            7);  // gives back the record of the parent: must not
                return sum(fresh)->ops[kHandleRegister].ok == 7 ? 0 : 2;
              });
              if (status != 0) return status;
              if (statistics.header()->owned[0].load() != 1) return 3;
              return sum(statistics)->ops[kHandleRegister].ok == 1 ? 0 : 4;
            }));
}

TEST(StatisticsMemoryTest, WithoutAFileTheProcessStillCounts) {
  EXPECT_EQ(0, child_status([] {
              const rlimit small = {4096, 4096};
              if (setrlimit(RLIMIT_FSIZE, &small) != 0) return 1;
              Statistics statistics(1);
              statistics.count(kHandleRegister, true);
              if (memory_file() >= 0) return 2;
              return sum(statistics)->ops[kHandleRegister].ok == 1 ? 0 : 3;
            }));
}

TEST(StatisticsReportTest, SaysWhatWasCounted) {
  Statistics statistics(1);
  statistics.count(kHandleRegister, true, 11);
  statistics.count(kBufferRegister, true, 12);
  statistics.add(kFastpathRejections, 13);
  const Writer writer = statistics.mine();
  writer.use_place(3);
  auto& reads = writer->traffic[3][kFastpath][kRead];
  writer.add(reads[1].ok, 2);
  writer.add(reads[1].bytes, 8192);
  writer.add(reads[1].ns, 8000);
  writer.add(reads[20].ok, 1);  // 4 GiB: in the last row
  writer.add(reads[20].bytes, uint64_t{4} << 30);
  writer.add(writer->traffic[3][kFallback][kWrite][0].err, 5);
  statistics.add(3, unaligned(kFallback, kWrite), 6);
  writer.widen(writer->spans[3][kRead], 1000000000, 3000000000);
  const std::string report = make_report(*statistics.header(), *sum(statistics));
  for (const char* line :
       {"AIS-STATS Version: 1\nHipFile Stats Level: 1\nFile Handle Registrations: 11\n"
        "Buffer Registrations: 12\nFastpath Rejections: 13\n\n"
        "Total Fastpath Read Size (B): 4294975488\n",
        "\nAverage Fastpath Read Latency (us): 2.667\n", "\nTotal Fallback Write Errors: 5\n",
        "\nTotal Fallback Write Unaligned: 6\n", "\nGPU 3:\nSize (B)\n",
        "\n             4-8              8192                 0                 0"
        "                 0\n",
        "\n       65536-...        4294967296                 0",
        "\nWall-clock Read Bandwidth (GiB/s): 2.000\n",
        "\nWall-clock Read Rate (operations/s): 1\n",
        "\nWall-clock Write Bandwidth (GiB/s): 0.000\n"}) {
    EXPECT_NE(std::string::npos, report.find(line)) << line << "--- in ---\n" << report;
  }
  EXPECT_EQ(std::string::npos, report.find("GPU 0:"));
}

}  // namespace
}  // namespace hipfile::stats
