// SPDX-License-Identifier: MIT
//
// What lies in the memory that ais-stats reads: a header and one record for each thread, in the
// byte order of the machine. docs/stats-layout.md describes it for programs of others; a change
// here raises kLayoutVersion.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hipfile::stats {

constexpr char kMemoryName[] = "AISSTATS";  ///< of the memory file
constexpr uint32_t kLayoutVersion = 2;      ///< 1 is AMD's
constexpr size_t kDevices = 16;             ///< as many as hipFileStatsLevel3_t has
constexpr size_t kPlaces = kDevices + 1;    ///< the last: host memory, and devices from 16 on
constexpr size_t kOtherPlace = kDevices;
constexpr size_t kBuckets = 32;
constexpr size_t kUuidBytes = 16;
constexpr size_t kOwnRecords = 256;           ///< of one thread each
constexpr size_t kRecords = kOwnRecords + 1;  ///< the last is shared by all further threads
constexpr size_t kPage = 4096;

enum Path : size_t { kFastpath, kFallback };
constexpr size_t kPaths = 2;
enum Way : size_t { kRead, kWrite };
constexpr size_t kWays = 2;

/// What is counted by success and failure only.
enum Op : size_t {
  kHandleRegister,
  kHandleDeregister,
  kBufferRegister,
  kBufferDeregister,
  kReadWithoutBackend,  ///< ok: of size 0; err: refused before a backend was asked
  kWriteWithoutBackend,
  kBatchSubmit,  ///< from here on as in hipFileStatsLevel1_t, in its order
  kBatchComplete,
  kBatchSetup,
  kBatchCancel,
  kBatchDestroy,
  kBatchEnqueued,
  kBatchPosixEnqueued,
  kBatchProcessed,
  kBatchPosixProcessed,
  kBatchNvfsSubmit,
  kBatchP2pSubmit,
  kBatchAioSubmit,
  kBatchIouringSubmit,
  kBatchMixedIoSubmit,
  kBatchTotalSubmit,
  kOps
};

/// Sums.
enum Sum : size_t {
  kFastpathRejections,  ///< requests on device memory that the fastpath refused as a whole
  kBatchReadBytes,
  kBatchWriteBytes,
  kBatchSubmitNs,
  kBatchCompletionNs,
  kSums
};

/// Sums for each place.
enum PlaceSum : size_t {
  kUnaligned,  ///< four, by path and way: the fastpath refused for alignment
  kBuffersRegistered = kUnaligned + kPaths * kWays,
  kBuffersRefused,
  kBuffersReleased,
  kRegisteredBytes,  ///< goes up and down: modulo 2^64 the sum over all records is right
  kPlaceSums
};

constexpr PlaceSum unaligned(Path path, Way way) {
  return static_cast<PlaceSum>(kUnaligned + size_t{path} * kWays + size_t{way});
}

/// T is std::atomic<uint64_t> in shared memory, uint64_t in a sum over records.
template <class T>
struct BasicOutcomes {
  T ok, err;
};

/// The requests of one path, way, place and size.
template <class T>
struct BasicCell {
  T ok, err;
  T bytes;
  T ns;  ///< sum of the call times of those that are ok
};

template <class T>
using BasicTraffic = std::array<std::array<std::array<BasicCell<T>, kBuckets>, kWays>, kPaths>;

/// When the first request began and the last one ended, CLOCK_MONOTONIC; 0: none yet.
template <class T>
struct BasicSpan {
  T first_ns, last_ns;
};

template <class T>
struct BasicLastBatch {
  T at_ns, read_bytes, write_bytes;
};

template <class T>
struct BasicRecord {
  T places_used;  ///< a bit for each place whose spans, sums or traffic are not all 0
  std::array<BasicOutcomes<T>, kOps> ops;
  std::array<T, kSums> sums;
  BasicLastBatch<T> last_batch;
  BasicSpan<T> batch_span;
  std::array<std::array<T, kPlaceSums>, kPlaces> place_sums;
  std::array<std::array<BasicSpan<T>, kWays>, kPlaces> spans;
  /// By place, each a page: those of devices that a thread never uses take no memory.
  alignas(kPage) std::array<BasicTraffic<T>, kPlaces> traffic;
};

using Counter = std::atomic<uint64_t>;
using Record = BasicRecord<Counter>;
using Totals = BasicRecord<uint64_t>;
static_assert(Counter::is_always_lock_free && sizeof(Counter) == 8);
static_assert(sizeof(BasicTraffic<Counter>) == kPage);
static_assert(sizeof(Record) == (kPlaces + 1) * kPage && sizeof(Totals) == sizeof(Record));

struct Device {
  std::atomic<uint32_t> is_known;  ///< set after the uuid
  uint32_t reserved;
  std::array<std::atomic<uint8_t>, kUuidBytes> uuid;
};

struct Header {
  char name[8];  ///< kMemoryName, without its end
  uint32_t version;
  uint32_t header_bytes;  ///< where record 0 begins
  uint32_t record_bytes;
  uint32_t records;            ///< that there is room for
  std::atomic<uint32_t> used;  ///< records in use so far; they are never given back
  std::atomic<uint32_t> level;
  uint32_t pid;  ///< as the process itself sees it
  uint32_t reserved;
  std::array<Device, kDevices> devices;
  /// By record: whether a thread has it. Of no meaning to a reader.
  std::array<std::atomic<uint8_t>, kRecords> owned;
};

constexpr size_t kHeaderBytes = kPage;
static_assert(sizeof(Header) <= kHeaderBytes);
constexpr size_t kMemoryBytes = kHeaderBytes + kRecords * sizeof(Record);

/// The bucket of a request: 0 below 4 KiB, then i for [2^(i+11), 2^(i+12)) bytes, the last one
/// open-ended.
constexpr size_t bucket_of(uint64_t size) {
  size_t bucket = 0;
  for (uint64_t edge = 4096; size >= edge && bucket + 1 < kBuckets; edge <<= 1) ++bucket;
  return bucket;
}

/// Where the traffic of a device is counted.
constexpr size_t place_of(int device) {
  return device >= 0 && static_cast<size_t>(device) < kDevices ? static_cast<size_t>(device)
                                                               : kOtherPlace;
}

}  // namespace hipfile::stats
