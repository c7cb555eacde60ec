// SPDX-License-Identifier: MIT
// Statistics of all three levels. Counters belong to the process and never go back, so most tests
// look at differences; what a fresh process shows is looked at in one (stats_process_test.cc).
#include <cstring>
#include <string>
#include <thread>

#include "api_fixture.h"

namespace hipfile::test {
namespace {

hipFileStatsLevel3_t stats() {
  hipFileStatsLevel3_t level;
  std::memset(&level, 0xee, sizeof level);
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL3(&level));
  return level;
}

hipFileStatsLevel1_t basic() {
  hipFileStatsLevel1_t level;
  std::memset(&level, 0xee, sizeof level);
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL1(&level));
  return level;
}

class StatsTest : public ApiTest {
 protected:
  // Which backend takes a request on device memory in this variant of the suite.
  static hipFileExtBackend_t backend_of(hipFileHandle_t handle, const Buffer& buffer, size_t size,
                                        hoff_t offset) {
    hipFileExtPath_t path = {};
    EXPECT_CODE(hipFileSuccess, hipFileExtQueryPath(handle, buffer.data(), size, offset, 0,
                                                    hipFileBatchRead, &path));
    return path.backend;
  }
};

TEST_F(StatsTest, NullIsInvalidValueAndOpensNothing) {
  EXPECT_CODE(hipFileInvalidValue, hipFileGetStatsL1(nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileGetStatsL2(nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileGetStatsL3(nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileExtGetRates(nullptr));
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(StatsTest, StructureIsOverwrittenWhileTheLibraryIsClosed) {
  const hipFileStatsLevel3_t level = stats();
  EXPECT_NE(0xeeeeeeeeeeeeeeeeu, level.detailed.basic.read_bytes);
  EXPECT_EQ(0u, level.detailed.basic.batch_p2p_submit_ops.ok);
  EXPECT_EQ(0u, level.per_gpu_stats[15].reg_bytes);
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(StatsTest, ReadsAndWritesAndTheirBytes) {
  RegisteredFile f(file("f"), 100000, 1);
  Buffer buffer(65536);
  const hipFileStatsLevel1_t before = basic();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  }
  EXPECT_EQ(34464, hipFileRead(f.handle(), buffer.data(), 65536, 65536, 0));
  EXPECT_EQ(0, hipFileRead(f.handle(), buffer.data(), 65536, 200000, 0));
  EXPECT_EQ(0, hipFileRead(f.handle(), buffer.data(), 0, 0, 0));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(5000, hipFileWrite(f.handle(), buffer.data(), 5000, 17, 3));
  }
  const hipFileStatsLevel1_t after = basic();
  EXPECT_EQ(6u, after.read_ops.ok - before.read_ops.ok);
  EXPECT_EQ(3 * 65536u + 34464u, after.read_bytes - before.read_bytes);
  EXPECT_EQ(2u, after.write_ops.ok - before.write_ops.ok);
  EXPECT_EQ(10000u, after.write_bytes - before.write_bytes);
  EXPECT_EQ(before.read_ops.err, after.read_ops.err);
  EXPECT_EQ(before.write_ops.err, after.write_ops.err);
}

TEST_F(StatsTest, FailuresOfEveryKind) {
  RegisteredFile f(file("f"), 65536, 1, O_RDONLY);
  Buffer buffer(65536);
  const hipFileStatsLevel1_t before = basic();
  EXPECT_ERRNO(EBADF, hipFileWrite(f.handle(), buffer.data(), 4096, 0, 0));
  EXPECT_ERRNO(EINVAL, hipFileWrite(f.handle(), buffer.data(), 4096, -1, 0));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), nullptr, 4096, 0, 0));
  EXPECT_EQ(negated(hipFileInvalidValue), hipFileRead(f.handle(), buffer.data(), 65536, 0, 1));
  EXPECT_EQ(negated(hipFileHandleNotRegistered), hipFileRead(&buffer, buffer.data(), 1, 0, 0));
  const hipFileStatsLevel1_t after = basic();
  EXPECT_EQ(2u, after.write_ops.err - before.write_ops.err);
  EXPECT_EQ(3u, after.read_ops.err - before.read_ops.err);
  EXPECT_EQ(before.read_ops.ok, after.read_ops.ok);
  EXPECT_EQ(before.write_ops.ok, after.write_ops.ok);
  EXPECT_EQ(before.write_bytes, after.write_bytes);
}

TEST_F(StatsTest, Registrations) {
  Fd fd(file("f"), O_RDWR | O_CREAT);
  Buffer buffer(65536);
  const hipFileStatsLevel1_t before = basic();
  const hipFileHandle_t handle = register_fd(fd.get());
  hipFileDescr_t descr = describe(fd.get());
  hipFileHandle_t again = nullptr;
  EXPECT_CODE(hipFileHandleAlreadyRegistered, hipFileHandleRegister(&again, &descr));
  EXPECT_CODE(hipFileInvalidValue, hipFileHandleRegister(nullptr, &descr));
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 65536, 0));
  EXPECT_CODE(hipFileMemoryAlreadyRegistered, hipFileBufRegister(buffer.data(), 65536, 0));
  EXPECT_CODE(hipFileHipPointerRangeError, hipFileBufRegister(buffer.at(1), 65536, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
  EXPECT_CODE(hipFileMemoryNotRegistered, hipFileBufDeregister(buffer.data()));
  hipFileHandleDeregister(handle);
  hipFileHandleDeregister(handle);
  const hipFileStatsLevel1_t after = basic();
  EXPECT_EQ(1u, after.hdl_register_ops.ok - before.hdl_register_ops.ok);
  EXPECT_EQ(2u, after.hdl_register_ops.err - before.hdl_register_ops.err);
  EXPECT_EQ(1u, after.hdl_deregister_ops.ok - before.hdl_deregister_ops.ok);
  EXPECT_EQ(1u, after.hdl_deregister_ops.err - before.hdl_deregister_ops.err);
  EXPECT_EQ(1u, after.buf_register_ops.ok - before.buf_register_ops.ok);
  EXPECT_EQ(2u, after.buf_register_ops.err - before.buf_register_ops.err);
  EXPECT_EQ(1u, after.buf_deregister_ops.ok - before.buf_deregister_ops.ok);
  EXPECT_EQ(1u, after.buf_deregister_ops.err - before.buf_deregister_ops.err);
}

TEST_F(StatsTest, RegisteredBytesOfTheDeviceGoUpAndDown) {
  Buffer buffer(65536);
  const hipFilePerGpuStats_t before = stats().per_gpu_stats[0];
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 50000, 0));
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.at(4096), 4096, 0));
  EXPECT_CODE(hipFileHipPointerRangeError, hipFileBufRegister(buffer.at(1), 65536, 0));
  hipFilePerGpuStats_t now = stats().per_gpu_stats[0];
  EXPECT_EQ(54096u, now.reg_bytes - before.reg_bytes);
  EXPECT_EQ(3u, now.n_mmap - before.n_mmap);
  EXPECT_EQ(2u, now.n_mmap_ok - before.n_mmap_ok);
  EXPECT_EQ(1u, now.n_mmap_err - before.n_mmap_err);
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.at(4096)));
  now = stats().per_gpu_stats[0];
  EXPECT_EQ(50000u, now.reg_bytes - before.reg_bytes);
  EXPECT_EQ(1u, now.n_mmap_free - before.n_mmap_free);
  close_library();  // drops the other one
  now = stats().per_gpu_stats[0];
  EXPECT_EQ(before.reg_bytes, now.reg_bytes);
  EXPECT_EQ(2u, now.n_mmap_free - before.n_mmap_free);
}

TEST_F(StatsTest, AverageAndBandwidthFollowFromTheSums) {
  RegisteredFile f(file("f"), 8 << 20, 1);
  Buffer buffer(8 << 20);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(8 << 20, hipFileRead(f.handle(), buffer.data(), 8 << 20, 0, 0));
    EXPECT_EQ(8 << 20, hipFileWrite(f.handle(), buffer.data(), 8 << 20, 0, 0));
  }
  const hipFileStatsLevel1_t level = basic();
  ASSERT_GT(level.read_lat_sum_us, 0u);
  ASSERT_GT(level.write_lat_sum_us, 0u);
  EXPECT_EQ(level.read_lat_sum_us / level.read_ops.ok, level.read_lat_avg_us);
  EXPECT_EQ(level.write_lat_sum_us / level.write_ops.ok, level.write_lat_avg_us);
  EXPECT_EQ(level.read_bytes * 1000000 / level.read_lat_sum_us, level.read_bw_bytes_per_sec);
  EXPECT_EQ(level.write_bytes * 1000000 / level.write_lat_sum_us, level.write_bw_bytes_per_sec);
  // By wall clock since the first call of the process, so they may be less than one.
  hipFileExtRates_t rates = {};
  EXPECT_CODE(hipFileSuccess, hipFileExtGetRates(&rates));
  const auto per_second = [](uint64_t count, uint64_t ns) { return count * 1000000000 / ns; };
  EXPECT_EQ(per_second(level.read_ops.ok, rates.read_span_ns), level.read_ops_per_sec);
  EXPECT_EQ(per_second(level.write_ops.ok, rates.write_span_ns), level.write_ops_per_sec);
}

TEST_F(StatsTest, TimesOfACallLieBetweenNothingAndTheClock) {
  RegisteredFile f(file("f"), 32 << 20, 1);
  Buffer buffer(32 << 20);
  const auto clock_us = [] {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
  };
  // A busy machine may take the processor away between the clock and the call: not each time.
  bool is_most_of_it = false;
  for (int turn = 0; turn < 20 && !is_most_of_it; ++turn) {
    const uint64_t sum = basic().read_lat_sum_us;
    const uint64_t begin = clock_us();
    EXPECT_EQ(32 << 20, hipFileRead(f.handle(), buffer.data(), 32 << 20, 0, 0));
    const uint64_t clock = clock_us() - begin;
    const uint64_t counted = basic().read_lat_sum_us - sum;
    EXPECT_LE(counted, clock + 1);
    is_most_of_it = counted + 500 >= clock / 2;
  }
  EXPECT_TRUE(is_most_of_it);
}

TEST_F(StatsTest, Level2EmbedsLevel1AndCountsSizesAtTheEdges) {
  constexpr size_t kMost = 4 << 20;
  RegisteredFile f(file("f"), kMost + 1, 1);
  Buffer buffer(kMost + 1);
  struct Case {
    size_t size, bucket;
  };
  for (const Case& c : {Case{1, 0},
                        {4095, 0},
                        {4096, 1},
                        {8191, 1},
                        {8192, 2},
                        {16383, 2},
                        {16384, 3},
                        {(1 << 20) - 1, 8},
                        {1 << 20, 9},
                        {kMost - 1, 10},
                        {kMost, 11},
                        {kMost + 1, 11}}) {
    hipFileStatsLevel2_t before, after;
    EXPECT_CODE(hipFileSuccess, hipFileGetStatsL2(&before));
    EXPECT_EQ(ssize_t(c.size), hipFileRead(f.handle(), buffer.data(), c.size, 0, 0));
    EXPECT_EQ(ssize_t(c.size), hipFileWrite(f.handle(), buffer.data(), c.size, 0, 0));
    EXPECT_CODE(hipFileSuccess, hipFileGetStatsL2(&after));
    for (size_t bucket = 0; bucket < 32; ++bucket) {
      const uint64_t times = bucket == c.bucket ? 1 : 0;
      EXPECT_EQ(times, after.read_size_kb_hist[bucket] - before.read_size_kb_hist[bucket])
          << c.size << " in " << bucket;
      EXPECT_EQ(times, after.write_size_kb_hist[bucket] - before.write_size_kb_hist[bucket])
          << c.size << " in " << bucket;
    }
    const hipFileStatsLevel1_t level = basic();
    EXPECT_EQ(0, std::memcmp(&level, &after.basic, sizeof level));
  }
}

TEST_F(StatsTest, SizesAreThoseAskedForWhereTheFileEndsBefore) {
  RegisteredFile f(file("f"), 16384, 1);
  Buffer buffer(65536);
  hipFileStatsLevel2_t before, after;
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL2(&before));
  EXPECT_EQ(7, hipFileRead(f.handle(), buffer.data(), 65536, 16384 - 7, 0));
  EXPECT_CODE(hipFileSuccess, hipFileGetStatsL2(&after));
  EXPECT_EQ(before.read_size_kb_hist[0], after.read_size_kb_hist[0]);
  EXPECT_EQ(before.read_size_kb_hist[5] + 1, after.read_size_kb_hist[5]);
}

TEST_F(StatsTest, BatchCallsThatFailAreCounted) {
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  hipFileBatchHandle_t batch = nullptr;
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch, 1));
  const hipFileStatsLevel1_t before = basic();
  hipFileBatchHandle_t none = nullptr;
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSetUp(&none, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOCancel(&none));
  hipFileIOParams_t params[2] = {};
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(batch, 0, params, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(batch, 1, nullptr, 0));
  EXPECT_CODE(hipFileBatchFull, hipFileBatchIOSubmit(batch, 2, params, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(&none, 1, params, 0));
  const hipFileStatsLevel1_t after = basic();
  EXPECT_EQ(1u, after.batch_setup_ops.err - before.batch_setup_ops.err);
  EXPECT_EQ(1u, after.batch_cancel_ops.err - before.batch_cancel_ops.err);
  EXPECT_EQ(4u, after.batch_submit_ops.err - before.batch_submit_ops.err);
  hipFileBatchIODestroy(batch);
}

TEST_F(StatsTest, PathOfEachRequestByDevice) {
  RegisteredFile f(file("f"), 1 << 20, 1);
  Buffer buffer(1 << 20);
  EXPECT_EQ(4096, hipFileRead(f.handle(), buffer.data(), 4096, 0, 0));  // a failover is over then
  const bool is_fast = backend_of(f.handle(), buffer, 65536, 0) == hipFileExtBackendFastpath;
  const hipFilePerGpuStats_t before = stats().per_gpu_stats[0];
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_EQ(65536, hipFileWrite(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_EQ(100, hipFileRead(f.handle(), buffer.data(), 100, 1, 0));
  EXPECT_EQ(100, hipFileWrite(f.handle(), buffer.data(), 100, 1, 0));
  const hipFilePerGpuStats_t after = stats().per_gpu_stats[0];
  const uint64_t fast = is_fast ? 1 : 0;
  EXPECT_EQ(2u, after.n_total_reads - before.n_total_reads);
  EXPECT_EQ(fast, after.n_nvfs_reads - before.n_nvfs_reads);
  EXPECT_EQ(2 - fast, after.n_posix_reads - before.n_posix_reads);
  EXPECT_EQ(fast, after.n_unaligned_reads - before.n_unaligned_reads);
  EXPECT_EQ(65636u, after.read_bytes - before.read_bytes);
  EXPECT_EQ(2u, after.n_total_writes - before.n_total_writes);
  EXPECT_EQ(fast, after.n_nvfs_writes - before.n_nvfs_writes);
  EXPECT_EQ(2 - fast, after.n_posix_writes - before.n_posix_writes);
  EXPECT_EQ(fast, after.n_unaligned_writes - before.n_unaligned_writes);
  EXPECT_EQ(65636u, after.write_bytes - before.write_bytes);
  EXPECT_GE(after.read_duration_us, before.read_duration_us);
}

TEST_F(StatsTest, TrafficBelongsToTheDeviceOfTheBuffer) {
  int count = 0;
  ASSERT_EQ(hipSuccess, hipGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "one device only (HIP_PORTABLE_DEVICES=2 gives two)";
  RegisteredFile f(file("f"), 65536, 1, O_RDONLY);
  ASSERT_EQ(hipSuccess, hipSetDevice(1));
  Buffer buffer(65536);
  ASSERT_EQ(hipSuccess, hipSetDevice(0));
  const hipFileStatsLevel3_t before = stats();
  EXPECT_EQ(65536, hipFileRead(f.handle(), buffer.data(), 65536, 0, 0));
  EXPECT_ERRNO(EBADF, hipFileWrite(f.handle(), buffer.data(), 4096, 0, 0));
  const hipFileStatsLevel3_t after = stats();
  const auto grown = [&](auto member, int gpu) {
    return after.per_gpu_stats[gpu].*member - before.per_gpu_stats[gpu].*member;
  };
  EXPECT_EQ(65536u, grown(&hipFilePerGpuStats_t::read_bytes, 1));
  EXPECT_EQ(1u, grown(&hipFilePerGpuStats_t::n_total_reads, 1));
  EXPECT_EQ(1u, grown(&hipFilePerGpuStats_t::n_writes_err, 1));
  EXPECT_EQ(0u, grown(&hipFilePerGpuStats_t::read_bytes, 0));
  EXPECT_EQ(0u, grown(&hipFilePerGpuStats_t::n_total_reads, 0));
  EXPECT_EQ(0u, grown(&hipFilePerGpuStats_t::n_writes_err, 0));
  hipUUID uuid = {};
  ASSERT_EQ(hipSuccess, hipDeviceGetUuid(&uuid, 1));
  EXPECT_EQ(0, std::memcmp(uuid.bytes, after.per_gpu_stats[1].uuid, sizeof uuid.bytes));
}

TEST_F(StatsTest, HostMemoryCountsForNoDevice) {
  RegisteredFile f(file("f"), 65536, 1);
  Buffer host(65536, MemoryKind::kHost), pinned(65536, MemoryKind::kPinned);
  const hipFileStatsLevel3_t before = stats();
  EXPECT_EQ(65536, hipFileRead(f.handle(), host.data(), 65536, 0, 0));
  EXPECT_EQ(65536, hipFileRead(f.handle(), pinned.data(), 65536, 0, 0));
  const hipFileStatsLevel3_t after = stats();
  EXPECT_EQ(131072u, after.detailed.basic.read_bytes - before.detailed.basic.read_bytes);
  for (int gpu = 0; gpu < HIPFILE_MAX_GPUS; ++gpu) {
    EXPECT_EQ(before.per_gpu_stats[gpu].read_bytes, after.per_gpu_stats[gpu].read_bytes) << gpu;
  }
}

TEST_F(StatsTest, RatesGoByTheWallClock) {
  RegisteredFile f(file("f"), 1 << 20, 1);
  Buffer buffer(1 << 20);
  EXPECT_EQ(1 << 20, hipFileRead(f.handle(), buffer.data(), 1 << 20, 0, 0));
  hipFileExtRates_t before, after;
  EXPECT_CODE(hipFileSuccess, hipFileExtGetRates(&before));
  ::usleep(30000);
  EXPECT_EQ(1 << 20, hipFileRead(f.handle(), buffer.data(), 1 << 20, 0, 0));
  EXPECT_CODE(hipFileSuccess, hipFileExtGetRates(&after));
  EXPECT_GE(after.read_span_ns, before.read_span_ns + 30000000);
  const double seconds = double(after.read_span_ns) / 1e9;
  EXPECT_NEAR(double(after.read_bytes_per_sec), double(basic().read_bytes) / seconds, 2);
  EXPECT_NEAR(double(after.read_ops_per_sec), double(basic().read_ops.ok) / seconds, 2);
  EXPECT_EQ(after.read_ops_per_sec, basic().read_ops_per_sec);
}

TEST_F(StatsTest, ParameterSetsTheLevelWhileTheLibraryIsOpen) {
  Buffer buffer(4096, MemoryKind::kHost);
  const auto read = [&] {
    RegisteredFile f(file("f"), 4096, 1);
    EXPECT_EQ(4096, hipFileRead(f.handle(), buffer.data(), 4096, 0, 0));
    close_library();
  };
  read();
  const uint64_t before = basic().read_ops.ok;
  EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(hipFileParamProfileStats, 0));
  read();
  EXPECT_EQ(before, basic().read_ops.ok);
  read();  // closing dropped the parameter
  EXPECT_EQ(before + 1, basic().read_ops.ok);
}

}  // namespace
}  // namespace hipfile::test
