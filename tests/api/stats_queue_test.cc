// SPDX-License-Identifier: MIT
// Statistics of what runs later: operations of a stream, and batches.
#include "async_fixture.h"

namespace hipfile::test {
namespace {

hipFileStatsLevel3_t stats() {
  hipFileStatsLevel3_t level;
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL3(&level));
  return level;
}

class StatsQueueTest : public ApiTest {
 protected:
  static hipFileIOParams_t request(hipFileOpcode_t opcode, hipFileHandle_t file, void* base,
                                   size_t size) {
    hipFileIOParams_t params = {};
    params.mode = hipFileBatch;
    params.u.batch.devPtr_base = base;
    params.u.batch.size = size;
    params.fh = file;
    params.opcode = opcode;
    return params;
  }
};

TEST_F(StatsQueueTest, OperationsOfAStreamCountForTheDeviceOfTheBuffer) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536);
  TestStream stream;
  const hipFileStatsLevel3_t before = stats();
  size_t size = 8192;
  hoff_t at = 0, in = 0, negative = -1;
  ssize_t read = 0, written = 0, refused = 0;
  EXPECT_CODE(hipFileSuccess,
              hipFileReadAsync(f.handle(), buffer.data(), &size, &at, &in, &read, stream));
  EXPECT_CODE(hipFileSuccess,
              hipFileWriteAsync(f.handle(), buffer.data(), &size, &at, &in, &written, stream));
  EXPECT_CODE(hipFileInvalidValue,
              hipFileReadAsync(f.handle(), buffer.data(), &size, &negative, &in, &refused, stream));
  ASSERT_EQ(hipSuccess, hipStreamSynchronize(stream));
  EXPECT_EQ(8192, read);
  EXPECT_EQ(8192, written);
  const hipFileStatsLevel3_t after = stats();
  const hipFileStatsLevel1_t& now = after.detailed.basic;
  const hipFileStatsLevel1_t& then = before.detailed.basic;
  EXPECT_EQ(1u, now.read_ops.ok - then.read_ops.ok);
  EXPECT_EQ(8192u, now.read_bytes - then.read_bytes);
  EXPECT_EQ(1u, now.write_ops.ok - then.write_ops.ok);
  EXPECT_EQ(8192u, now.write_bytes - then.write_bytes);
  EXPECT_EQ(8192u, after.per_gpu_stats[0].read_bytes - before.per_gpu_stats[0].read_bytes);
  EXPECT_EQ(1u, after.per_gpu_stats[0].n_total_writes - before.per_gpu_stats[0].n_total_writes);
  EXPECT_EQ(1u, after.detailed.read_size_kb_hist[2] - before.detailed.read_size_kb_hist[2]);
}

TEST_F(StatsQueueTest, EveryCounterOfABatch) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer buffer(65536);
  // A direct path that fails for the file is known after its first request.
  EXPECT_EQ(8192, hipFileRead(f.handle(), buffer.data(), 8192, 0, 0));
  hipFileExtPath_t path = {};
  EXPECT_CODE(hipFileSuccess,
              hipFileExtQueryPath(f.handle(), buffer.data(), 8192, 0, 0, hipFileBatchRead, &path));
  const uint64_t fast = path.backend == hipFileExtBackendFastpath ? 1 : 0;
  const hipFileStatsLevel1_t then = stats().detailed.basic;
  hipFileBatchHandle_t batch = nullptr;
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch, 8));
  const auto run = [&](std::vector<hipFileIOParams_t> params) {
    auto nr = static_cast<unsigned>(params.size());
    std::vector<hipFileIOEvents_t> events(nr);
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSubmit(batch, nr, params.data(), 0));
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOGetStatus(batch, nr, &nr, events.data(), nullptr));
    EXPECT_EQ(params.size(), nr);
  };
  run({request(hipFileBatchRead, f.handle(), buffer.data(), 8192),
       request(hipFileBatchRead, f.handle(), buffer.data(), 4096)});
  run({request(hipFileBatchRead, f.handle(), buffer.data(), 8192),
       request(hipFileBatchWrite, f.handle(), buffer.at(16384), 100)});
  hipFileIOParams_t bad = request(hipFileBatchRead, nullptr, buffer.data(), 1);
  EXPECT_NE(hipFileSuccess, hipFileBatchIOSubmit(batch, 1, &bad, 0).err);
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOCancel(batch));
  hipFileBatchIODestroy(batch);

  const hipFileStatsLevel1_t now = stats().detailed.basic;
  const auto expect = [&](uint64_t ok, uint64_t err,
                          hipFileOpCounter_t hipFileStatsLevel1_t::*which, const char* name) {
    EXPECT_EQ(ok, (now.*which).ok - (then.*which).ok) << name;
    EXPECT_EQ(err, (now.*which).err - (then.*which).err) << name;
  };
  using Level = hipFileStatsLevel1_t;
  expect(1, 0, &Level::batch_setup_ops, "setup");
  expect(2, 1, &Level::batch_submit_ops, "submit");
  expect(2, 0, &Level::batch_complete_ops, "complete");
  expect(1, 0, &Level::batch_cancel_ops, "cancel");
  expect(1, 0, &Level::batch_destroy_ops, "destroy");
  expect(4, 0, &Level::batch_enqueued_ops, "enqueued");
  expect(4, 0, &Level::batch_total_submit_ops, "total");
  expect(4 - 3 * fast, 0, &Level::batch_posix_enqueued_ops, "posix enqueued");
  expect(4, 0, &Level::batch_processed_ops, "processed");
  expect(4 - 3 * fast, 0, &Level::batch_posix_processed_ops, "posix processed");
  expect(fast, 0, &Level::batch_nvfs_submit_ops, "nvfs");
  expect(1, 0, &Level::batch_mixed_io_submit_ops, "mixed");
  expect(0, 0, &Level::batch_p2p_submit_ops, "p2p");
  EXPECT_EQ(20480u, now.batch_read_bytes - then.batch_read_bytes);
  EXPECT_EQ(100u, now.batch_write_bytes - then.batch_write_bytes);
  EXPECT_EQ(8192u, now.last_batch_read_bytes);
  EXPECT_EQ(100u, now.last_batch_write_bytes);
  EXPECT_EQ(3u, now.read_ops.ok - then.read_ops.ok);
  EXPECT_EQ(1u, now.write_ops.ok - then.write_ops.ok);
  EXPECT_GE(now.batch_completion_lat_sum_us, now.batch_completion_lat_avg_us);
}

}  // namespace
}  // namespace hipfile::test
