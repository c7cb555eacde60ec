// SPDX-License-Identifier: MIT
//
// What one request adds to the counters, by plan and outcome.
#include "io/count.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "driver/stats_levels.h"

namespace hipfile {
namespace {

class Stub : public Backend {
 public:
  explicit Stub(hipFileExtBackend_t id) : id_(id) {}
  hipFileExtBackend_t id() const override { return id_; }
  hipFileExtRefusal_t refuses(const Request&) const override { return hipFileExtRefusalNone; }
  Outcome run(const Request& request) override { return Outcome::moved(request.size); }

 private:
  hipFileExtBackend_t id_;
};

class CountTest : public ::testing::Test {
 protected:
  CountTest() {
    request_.memory.kind = MemoryKind::kDevice;
    request_.memory.device = 2;
    request_.size = 65536;
    plan_.whole = &bounce_;
  }

  void count(const Outcome& outcome) {
    count_request(statistics_, plan_, request_, outcome, statistics_.now());
  }
  hipFileStatsLevel3_t levels() {
    const auto totals = std::make_unique<stats::Totals>();
    statistics_.sum(totals.get());
    hipFileStatsLevel3_t level;
    fill_level3(*totals, statistics_.header(), &level);
    return level;
  }
  uint64_t bytes_of(stats::Path path) {
    const auto totals = std::make_unique<stats::Totals>();
    statistics_.sum(totals.get());
    return stats_bytes(*totals, path);
  }
  static uint64_t stats_bytes(const stats::Totals& totals, stats::Path path) {
    uint64_t sum = 0;
    for (const auto& cell : totals.traffic[2][path][stats::kRead]) sum += cell.bytes;
    return sum;
  }

  Stub fast_{hipFileExtBackendFastpath}, bounce_{hipFileExtBackendBounce};
  Statistics statistics_{1};
  Request request_;
  Plan plan_;
};

TEST_F(CountTest, SplitRequestIsOneOfTheFastpathAndItsBytesAreOfBoth) {
  plan_.middle = &fast_;
  plan_.split = {100, 4096, 61440, 65636};
  plan_.refusals[hipFileExtBackendFastpath] = hipFileExtRefusalUnalignedFileOffset;
  request_.file_offset = 100;
  request_.size = 65536;
  count(Outcome::moved(65536));
  EXPECT_EQ(61440u - 4096u, bytes_of(stats::kFastpath));
  EXPECT_EQ(65536u - (61440u - 4096u), bytes_of(stats::kFallback));
  const hipFilePerGpuStats_t gpu = levels().per_gpu_stats[2];
  EXPECT_EQ(1u, gpu.n_total_reads);
  EXPECT_EQ(1u, gpu.n_nvfs_reads);
  EXPECT_EQ(0u, gpu.n_posix_reads);
  EXPECT_EQ(1u, gpu.n_unaligned_reads);
  EXPECT_EQ(65536u, gpu.read_bytes);
}

TEST_F(CountTest, SplitRequestThatEndsEarly) {
  plan_.middle = &fast_;
  plan_.split = {100, 4096, 61440, 65636};
  count(Outcome::moved(50));  // in the head
  EXPECT_EQ(0u, bytes_of(stats::kFastpath));
  EXPECT_EQ(50u, bytes_of(stats::kFallback));
  count(Outcome::moved(3996 + 10));  // in the middle
  EXPECT_EQ(10u, bytes_of(stats::kFastpath));
  EXPECT_EQ(50u + 3996u, bytes_of(stats::kFallback));
}

TEST_F(CountTest, FailureAfterSomeBytesIsAShortSuccess) {
  count(Outcome::failure(Error::from_errno(EIO), 512));
  count(Outcome::failure(Error::from_errno(EIO), 0));
  const hipFileStatsLevel3_t level = levels();
  EXPECT_EQ(1u, level.detailed.basic.read_ops.ok);
  EXPECT_EQ(1u, level.detailed.basic.read_ops.err);
  EXPECT_EQ(512u, level.detailed.basic.read_bytes);
  EXPECT_EQ(1u, level.per_gpu_stats[2].n_reads_err);
  EXPECT_EQ(1u, level.per_gpu_stats[2].n_posix_reads);
}

TEST_F(CountTest, OnlyRefusalsForAlignmentAreUnaligned) {
  plan_.refusals[hipFileExtBackendFastpath] = hipFileExtRefusalFileSystem;
  count(Outcome::moved(1));
  EXPECT_EQ(0u, levels().per_gpu_stats[2].n_unaligned_reads);
  for (const auto refusal : {hipFileExtRefusalUnalignedFileOffset, hipFileExtRefusalUnalignedSize,
                             hipFileExtRefusalUnalignedMemory}) {
    plan_.refusals[hipFileExtBackendFastpath] = refusal;
    count(Outcome::moved(1));
  }
  EXPECT_EQ(3u, levels().per_gpu_stats[2].n_unaligned_reads);
  const auto totals = std::make_unique<stats::Totals>();
  statistics_.sum(totals.get());
  EXPECT_EQ(4u, totals->sums[stats::kFastpathRejections]);
}

TEST_F(CountTest, UtilizationIsCallTimeByWallClock) {
  const uint64_t now = monotonic_ns();
  count_request(statistics_, plan_, request_, Outcome::moved(1), now - 1000000000);
  count_request(statistics_, plan_, request_, Outcome::moved(1), now - 1000000000);
  const hipFilePerGpuStats_t gpu = levels().per_gpu_stats[2];
  EXPECT_NEAR(200, double(gpu.read_utilization), 10);  // two in flight all the time
  EXPECT_NEAR(2000000, double(gpu.read_duration_us), 100000);
  EXPECT_EQ(0u, gpu.write_utilization);
}

TEST_F(CountTest, Batch) {
  const uint64_t begun = monotonic_ns() - 50000000;
  count_batch_submit(statistics_, true, begun);
  count_batch_submit(statistics_, false, begun);
  count_batch_completion(statistics_, true, begun, 1000, 0);
  count_batch_completion(statistics_, true, begun, 5, 2000);
  statistics_.count(stats::kBatchSetup, true);
  statistics_.count(stats::kBatchTotalSubmit, true, 9);
  const hipFileStatsLevel1_t level = levels().detailed.basic;
  EXPECT_EQ(1u, level.batch_submit_ops.ok);
  EXPECT_EQ(1u, level.batch_submit_ops.err);
  EXPECT_EQ(2u, level.batch_complete_ops.ok);
  EXPECT_EQ(1u, level.batch_setup_ops.ok);
  EXPECT_EQ(9u, level.batch_total_submit_ops.ok);
  EXPECT_EQ(1005u, level.batch_read_bytes);
  EXPECT_EQ(2000u, level.batch_write_bytes);
  EXPECT_EQ(5u, level.last_batch_read_bytes);
  EXPECT_EQ(2000u, level.last_batch_write_bytes);
  EXPECT_GE(level.batch_submit_lat_avg_us, 50000u);
  EXPECT_GE(level.batch_completion_lat_sum_us, 100000u);
  EXPECT_EQ(level.batch_completion_lat_sum_us / 2, level.batch_completion_lat_avg_us);
  EXPECT_NEAR(20, double(level.batch_submit_ops_per_sec), 10);
}

}  // namespace
}  // namespace hipfile
