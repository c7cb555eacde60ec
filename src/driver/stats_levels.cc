// SPDX-License-Identifier: MIT
//
// Field by field. A bandwidth is bytes by the sum of call times, as documented for the structures;
// what is named "per second" but no bandwidth goes by wall clock.
#include "driver/stats_levels.h"

#include <cstring>

#include "util/arith.h"
#include "util/stats_report.h"

namespace hipfile {
namespace {

using stats::Totals;
using stats::Way;
using Cell = stats::BasicCell<uint64_t>;
using Span = stats::BasicSpan<uint64_t>;

uint64_t to_us(uint64_t ns) { return ns / 1000; }

uint64_t average(uint64_t sum, uint64_t count) { return count == 0 ? 0 : sum / count; }

uint64_t bandwidth(uint64_t bytes, uint64_t us) { return mul_div(bytes, 1000000, us); }

// Mean number of calls in flight between the first start and the last end, in percent.
uint64_t utilization(uint64_t ns, const Span& span) {
  return span.last_ns <= span.first_ns ? 0 : mul_div(ns, 100, span.last_ns - span.first_ns);
}

hipFileOpCounter_t counter(const Totals& totals, stats::Op op) {
  return {totals.ops[op].ok, totals.ops[op].err};
}

// All requests of one way, those that met no backend too.
Cell all_of(const Totals& totals, Way way) {
  const Cell fast = stats::sum_of(totals, stats::kFastpath, way);
  const Cell slow = stats::sum_of(totals, stats::kFallback, way);
  const auto& rest =
      totals.ops[way == stats::kRead ? stats::kReadWithoutBackend : stats::kWriteWithoutBackend];
  return {fast.ok + slow.ok + rest.ok, fast.err + slow.err + rest.err, fast.bytes + slow.bytes,
          fast.ns + slow.ns};
}

void fill_batch_counters(const Totals& totals, hipFileStatsLevel1_t* level) {
  const auto get = [&totals](stats::Op op) { return counter(totals, op); };
  level->batch_submit_ops = get(stats::kBatchSubmit);
  level->batch_complete_ops = get(stats::kBatchComplete);
  level->batch_setup_ops = get(stats::kBatchSetup);
  level->batch_cancel_ops = get(stats::kBatchCancel);
  level->batch_destroy_ops = get(stats::kBatchDestroy);
  level->batch_enqueued_ops = get(stats::kBatchEnqueued);
  level->batch_posix_enqueued_ops = get(stats::kBatchPosixEnqueued);
  level->batch_processed_ops = get(stats::kBatchProcessed);
  level->batch_posix_processed_ops = get(stats::kBatchPosixProcessed);
  level->batch_nvfs_submit_ops = get(stats::kBatchNvfsSubmit);
  level->batch_p2p_submit_ops = get(stats::kBatchP2pSubmit);
  level->batch_aio_submit_ops = get(stats::kBatchAioSubmit);
  level->batch_iouring_submit_ops = get(stats::kBatchIouringSubmit);
  level->batch_mixed_io_submit_ops = get(stats::kBatchMixedIoSubmit);
  level->batch_total_submit_ops = get(stats::kBatchTotalSubmit);
}

void fill_batch_sums(const Totals& totals, hipFileStatsLevel1_t* level) {
  const uint64_t submits = totals.ops[stats::kBatchSubmit].ok;
  const uint64_t completions = totals.ops[stats::kBatchComplete].ok;
  level->batch_read_bytes = totals.sums[stats::kBatchReadBytes];
  level->batch_write_bytes = totals.sums[stats::kBatchWriteBytes];
  level->batch_submit_lat_sum_us = to_us(totals.sums[stats::kBatchSubmitNs]);
  level->batch_completion_lat_sum_us = to_us(totals.sums[stats::kBatchCompletionNs]);
  const uint64_t us = level->batch_completion_lat_sum_us;
  level->batch_read_bw_bytes = bandwidth(level->batch_read_bytes, us);
  level->batch_write_bw_bytes = bandwidth(level->batch_write_bytes, us);
  level->batch_submit_lat_avg_us = average(level->batch_submit_lat_sum_us, submits);
  level->batch_completion_lat_avg_us = average(us, completions);
  level->batch_submit_ops_per_sec = stats::per_second(submits, totals.batch_span);
  level->batch_complete_ops_per_sec = stats::per_second(completions, totals.batch_span);
  level->last_batch_read_bytes = totals.last_batch.read_bytes;
  level->last_batch_write_bytes = totals.last_batch.write_bytes;
}

// The fields of reads and writes have the same meanings under names of their own.
struct DeviceTraffic {
  uint64_t bytes, bandwidth, utilization, us, calls, fastpath, fallback, unaligned, errors;
};

DeviceTraffic traffic_of(const Totals& totals, size_t place, Way way) {
  const Cell fast = stats::sum_of(totals, stats::kFastpath, way, place);
  const Cell slow = stats::sum_of(totals, stats::kFallback, way, place);
  const auto& sums = totals.place_sums[place];
  DeviceTraffic traffic = {};
  traffic.bytes = fast.bytes + slow.bytes;
  traffic.us = to_us(fast.ns + slow.ns);
  traffic.bandwidth = bandwidth(traffic.bytes, traffic.us);
  traffic.utilization = utilization(fast.ns + slow.ns, totals.spans[place][way]);
  traffic.fastpath = fast.ok;
  traffic.fallback = slow.ok;
  traffic.calls = fast.ok + slow.ok;
  traffic.errors = fast.err + slow.err;
  traffic.unaligned =
      sums[stats::unaligned(stats::kFastpath, way)] + sums[stats::unaligned(stats::kFallback, way)];
  return traffic;
}

void fill_reads(const DeviceTraffic& traffic, hipFilePerGpuStats_t* gpu) {
  gpu->read_bytes = traffic.bytes;
  gpu->read_bw_bytes_per_sec = traffic.bandwidth;
  gpu->read_utilization = traffic.utilization;
  gpu->read_duration_us = traffic.us;
  gpu->n_total_reads = traffic.calls;
  gpu->n_nvfs_reads = traffic.fastpath;
  gpu->n_posix_reads = traffic.fallback;
  gpu->n_unaligned_reads = traffic.unaligned;
  gpu->n_reads_err = traffic.errors;
}

void fill_writes(const DeviceTraffic& traffic, hipFilePerGpuStats_t* gpu) {
  gpu->write_bytes = traffic.bytes;
  gpu->write_bw_bytes_per_sec = traffic.bandwidth;
  gpu->write_utilization = traffic.utilization;
  gpu->write_duration_us = traffic.us;
  gpu->n_total_writes = traffic.calls;
  gpu->n_nvfs_writes = traffic.fastpath;
  gpu->n_posix_writes = traffic.fallback;
  gpu->n_unaligned_writes = traffic.unaligned;
  gpu->n_writes_err = traffic.errors;
}

void fill_buffers(const Totals& totals, size_t place, hipFilePerGpuStats_t* gpu) {
  const auto& sums = totals.place_sums[place];
  gpu->n_mmap_ok = sums[stats::kBuffersRegistered];
  gpu->n_mmap_err = sums[stats::kBuffersRefused];
  gpu->n_mmap = gpu->n_mmap_ok + gpu->n_mmap_err;
  gpu->n_mmap_free = sums[stats::kBuffersReleased];
  gpu->reg_bytes = sums[stats::kRegisteredBytes];
}

bool saw_traffic(const Totals& totals, size_t place) {
  const auto& spans = totals.spans[place];
  return spans[stats::kRead].first_ns != 0 || spans[stats::kWrite].first_ns != 0;
}

}  // namespace

void fill_level1(const Totals& totals, hipFileStatsLevel1_t* level) {
  *level = {};
  const Cell reads = all_of(totals, stats::kRead);
  const Cell writes = all_of(totals, stats::kWrite);
  level->read_ops = {reads.ok, reads.err};
  level->write_ops = {writes.ok, writes.err};
  level->hdl_register_ops = counter(totals, stats::kHandleRegister);
  level->hdl_deregister_ops = counter(totals, stats::kHandleDeregister);
  level->buf_register_ops = counter(totals, stats::kBufferRegister);
  level->buf_deregister_ops = counter(totals, stats::kBufferDeregister);
  level->read_bytes = reads.bytes;
  level->write_bytes = writes.bytes;
  level->read_lat_sum_us = to_us(reads.ns);
  level->write_lat_sum_us = to_us(writes.ns);
  level->read_bw_bytes_per_sec = bandwidth(reads.bytes, level->read_lat_sum_us);
  level->write_bw_bytes_per_sec = bandwidth(writes.bytes, level->write_lat_sum_us);
  level->read_lat_avg_us = average(level->read_lat_sum_us, reads.ok);
  level->write_lat_avg_us = average(level->write_lat_sum_us, writes.ok);
  level->read_ops_per_sec = stats::per_second(reads.ok, stats::whole_span(totals, stats::kRead));
  level->write_ops_per_sec = stats::per_second(writes.ok, stats::whole_span(totals, stats::kWrite));
  fill_batch_counters(totals, level);
  fill_batch_sums(totals, level);
}

void fill_level2(const Totals& totals, hipFileStatsLevel2_t* level) {
  *level = {};
  fill_level1(totals, &level->basic);
  for (const auto& traffic : totals.traffic) {
    for (const auto& path : traffic) {
      for (size_t bucket = 0; bucket < stats::kBuckets; ++bucket) {
        level->read_size_kb_hist[bucket] += path[stats::kRead][bucket].ok;
        level->write_size_kb_hist[bucket] += path[stats::kWrite][bucket].ok;
      }
    }
  }
}

void fill_level3(const Totals& totals, const stats::Header* header, hipFileStatsLevel3_t* level) {
  std::memset(level, 0, sizeof *level);
  fill_level2(totals, &level->detailed);
  for (size_t place = 0; place < stats::kDevices; ++place) {
    if (!(totals.places_used >> place & 1)) continue;
    hipFilePerGpuStats_t& gpu = level->per_gpu_stats[place];
    for (size_t at = 0; header != nullptr && at < stats::kUuidBytes; ++at) {
      const uint8_t byte = header->devices[place].uuid[at].load(std::memory_order_relaxed);
      gpu.uuid[at] = static_cast<char>(byte);
    }
    fill_reads(traffic_of(totals, place, stats::kRead), &gpu);
    fill_writes(traffic_of(totals, place, stats::kWrite), &gpu);
    fill_buffers(totals, place, &gpu);
    if (saw_traffic(totals, place)) ++level->num_gpus;
  }
}

void fill_rates(const Totals& totals, hipFileExtRates_t* rates) {
  *rates = {};
  const Cell reads = all_of(totals, stats::kRead);
  const Cell writes = all_of(totals, stats::kWrite);
  const Span read_span = stats::whole_span(totals, stats::kRead);
  const Span write_span = stats::whole_span(totals, stats::kWrite);
  rates->read_bytes_per_sec = stats::per_second(reads.bytes, read_span);
  rates->write_bytes_per_sec = stats::per_second(writes.bytes, write_span);
  rates->read_ops_per_sec = stats::per_second(reads.ok, read_span);
  rates->write_ops_per_sec = stats::per_second(writes.ok, write_span);
  rates->read_span_ns = read_span.last_ns - read_span.first_ns;
  rates->write_span_ns = write_span.last_ns - write_span.first_ns;
}

}  // namespace hipfile
