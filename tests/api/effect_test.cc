// SPDX-License-Identifier: MIT
// What each parameter does to an I/O, seen from outside: system calls, threads, pinned memory,
// paths. Every test also reads or writes the right bytes.
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>

#include "api_fixture.h"
#include "io_watch.h"

namespace hipfile::test {
namespace {

constexpr size_t kSize = 16 << 20;  // 8 chunks of 2 MiB
constexpr unsigned kDelayUs = 2000;

struct SizeSetting {
  hipFileSizeTConfigParameter_t param;
  size_t value;
};
struct BoolSetting {
  hipFileBoolConfigParameter_t param;
  bool value;
};

// The bounce backend, through the page cache, unless a test says otherwise: it uses everything.
class EffectTest : public ApiTest {
 protected:
  static void set(std::initializer_list<BoolSetting> settings) {
    for (const BoolSetting& setting : settings) {
      EXPECT_CODE(hipFileSuccess, hipFileSetParameterBool(setting.param, setting.value));
    }
  }
  static void set(std::initializer_list<SizeSetting> settings) {
    for (const SizeSetting& setting : settings) {
      EXPECT_CODE(hipFileSuccess, hipFileSetParameterSizeT(setting.param, setting.value));
    }
  }

  // Reads `size` bytes of a file in the page cache in one call, and closes the library again.
  IoSeen read(size_t size = kSize, MemoryKind kind = MemoryKind::kDevice) {
    set({{hipFileParamForceCompatMode, true}});
    const std::vector<uint8_t> bytes = make_pattern(size, 7);
    write_file(file("f"), bytes);
    const Fd fd(file("f"), O_RDWR);
    Buffer buffer(size, kind);
    hipFileHandle_t handle = register_fd(fd.get());
    start_io_watch(kDelayUs);
    const long before = sleeps_of_this_thread();
    EXPECT_EQ(static_cast<ssize_t>(size), hipFileRead(handle, buffer.data(), size, 0, 0));
    sleeps_ = sleeps_of_this_thread() - before;
    const IoSeen seen = stop_io_watch();
    EXPECT_EQ("", first_difference(buffer.get(0, size), bytes));
    after_read();
    close_library();
    return seen;
  }
  IoSeen write(size_t size, MemoryKind kind) {
    set({{hipFileParamForceCompatMode, true}});
    const std::vector<uint8_t> bytes = make_pattern(size, 9);
    write_file(file("f"), {});
    Fd fd(file("f"), O_RDWR);
    Buffer buffer(size, kind);
    buffer.set(bytes);
    hipFileHandle_t handle = register_fd(fd.get());
    start_io_watch();
    EXPECT_EQ(static_cast<ssize_t>(size), hipFileWrite(handle, buffer.data(), size, 0, 0));
    const IoSeen seen = stop_io_watch();
    close_library();
    EXPECT_EQ("", first_difference(read_file(file("f")), bytes));
    return seen;
  }

  size_t threads_ = 0;  // of the pool, after the last read
  size_t pinned_ = 0;   // bytes, after the last read
  long sleeps_ = 0;     // of this thread in the last read

 private:
  void after_read() {
    threads_ = pool_threads();
    pinned_ = pinned_bytes();
  }

  static long sleeps_of_this_thread() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  }

  static size_t pool_threads() {
    size_t number = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::ifstream(task.path() / "comm") >> name;
      number += name == "hipfile-io" ? 1 : 0;
    }
    return number;
  }

  // Pinned host memory of the process, in steps of huge pages: the slabs of the ring. The maps of
  // a sanitizer are larger than any of ours.
  static size_t pinned_bytes() {
    constexpr size_t kStep = 2 << 20;
    constexpr size_t kLargest = size_t{1} << 30;
    std::ifstream maps("/proc/self/maps");
    size_t bytes = 0;
    for (std::string line; std::getline(maps, line);) {
      size_t begin = 0, end = 0;
      char rights[8] = "";
      if (std::sscanf(line.c_str(), "%zx-%zx %7s", &begin, &end, rights) != 3) continue;
      if (std::string(rights) != "rw-p" || end - begin > kLargest) continue;
      for (size_t at = (begin + kStep - 1) / kStep * kStep; at + kStep <= end; at += kStep) {
        hipPointerAttribute_t attributes{};
        const auto* pointer = reinterpret_cast<const void*>(at);
        const bool is_known = hipPointerGetAttributes(&attributes, pointer) == hipSuccess;
        if (is_known && attributes.type == hipMemoryTypeHost) bytes += kStep;
      }
    }
    return bytes;
  }
};

TEST_F(EffectTest, ALargeReadRunsInPartsOnThreadsOfThePool) {
  const IoSeen seen = read();
  EXPECT_EQ(8u, seen.calls);
  EXPECT_EQ(0u, seen.on_caller);
  EXPECT_GE(threads_, 1u);
}

// 0.5, 1, 1.5 MiB and so on, then 4 MiB: so that the first copy begins early.
TEST_F(EffectTest, AVeryLargeReadBeginsWithSmallParts) {
  constexpr unsigned kFirst = 8;
  EXPECT_EQ(kFirst + (64 - 18 + 3) / 4, read(64 << 20).calls);
}

TEST_F(EffectTest, MaxIOThreadsBoundsThePool) {
  set({{hipFileParamExecutionMaxIOThreads, 1}});
  const IoSeen seen = read();
  EXPECT_EQ(1u, threads_);
  EXPECT_EQ(1u, seen.at_once);
  EXPECT_EQ(0u, seen.on_caller);
  if (std::thread::hardware_concurrency() < 2) return;  // one is the most here
  EXPECT_GT(read().at_once, 1u);
  EXPECT_GT(threads_, 1u) << "the close drops the bound";
}

TEST_F(EffectTest, ParallelIOOffKeepsTheCallingThread) {
  set({{hipFileParamExecutionParallelIO, false}});
  const IoSeen seen = read();
  EXPECT_EQ(seen.calls, seen.on_caller);
  EXPECT_EQ(1u, seen.at_once);
  set({{hipFileParamExecutionParallelIO, false}});
  const IoSeen host = read(kSize, MemoryKind::kHost);
  EXPECT_EQ(host.calls, host.on_caller);
}

TEST_F(EffectTest, MaxRequestParallelismBoundsThePartsInFlight) {
  set({{hipFileParamExecutionMaxRequestParallelism, 1}});
  const IoSeen seen = read();
  EXPECT_EQ(seen.calls, seen.on_caller);
  EXPECT_EQ(1u, seen.at_once);
  set({{hipFileParamExecutionMaxRequestParallelism, 0}});
  EXPECT_EQ(1u, read().at_once) << "0 is off";
}

TEST_F(EffectTest, MaxIOQueueDepthBoundsTheQueue) {
  set({{hipFileParamExecutionMaxIOQueueDepth, 1}});
  const IoSeen seen = read();
  EXPECT_EQ(seen.calls, seen.on_caller);
  EXPECT_EQ(1u, seen.at_once);
}

TEST_F(EffectTest, MinIOThresholdSizeKeepsSmallerRequestsTogether) {
  set({{hipFileParamExecutionMinIOThresholdSizeKB, 2 * kSize / 1024}});
  EXPECT_EQ(1u, read().at_once);
  set({{hipFileParamExecutionMinIOThresholdSizeKB, kSize / 1024}});
  EXPECT_EQ(0u, read().on_caller) << "from the threshold on";
}

TEST_F(EffectTest, MaxDirectIOSizeBoundsEverySystemCall) {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kHost}) {
    set({{hipFileParamPropertiesMaxDirectIOSizeKB, 128}});
    EXPECT_EQ(128u << 10, read(1 << 20, kind).largest) << memory_kind_name(kind);
    set({{hipFileParamPropertiesMaxDirectIOSizeKB, 128}});
    EXPECT_EQ(128u << 10, write(1 << 20, kind).largest) << memory_kind_name(kind);
    EXPECT_GT(read(1 << 20, kind).largest, 128u << 10) << memory_kind_name(kind);
  }
}

TEST_F(EffectTest, MaxDeviceCacheSizeBoundsTheBounceMemory) {
  (void)read();
  EXPECT_GT(pinned_, 8u << 20);
  set({{hipFileParamPropertiesMaxDeviceCacheSizeKB, 8192}});
  (void)read();
  EXPECT_EQ(8u << 20, pinned_);
  EXPECT_CODE(hipFileSuccess, hipFileDriverSetMaxCacheSize(8192));
  (void)read();
  EXPECT_EQ(8u << 20, pinned_) << "by the setter";
}

TEST_F(EffectTest, PerBufferCacheSizeBoundsTheBounceMemoryOfARequest) {
  set({{hipFileParamPropertiesPerBufferCacheSizeKB, 4096}});
  (void)read();
  EXPECT_LE(pinned_, 16u << 20);  // two chunks of 2 MiB, each in a slot; and the small slots
  (void)read();
  EXPECT_GT(pinned_, 16u << 20);
  set({{hipFileParamPropertiesPerBufferCacheSizeKB, 64}});
  EXPECT_EQ(64u << 10, read(1 << 20).largest) << "a chunk is no larger than the share";
}

TEST_F(EffectTest, MaxDevicePinnedMemSizeLeavesTheRestPageable) {
  set({{hipFileParamPropertiesMaxDevicePinnedMemSizeKB, 8192}});
  (void)read();
  EXPECT_LE(pinned_, 8u << 20);
  (void)read();
  EXPECT_GT(pinned_, 8u << 20);
}

// 128 parts: whoever sleeps, sleeps many times, each time; whoever does not may still meet a lock
// that is taken, a driver's most of all, but not each time.
TEST_F(EffectTest, PollModeWaitsWithoutSleeping) {
  constexpr int kMostTurns = 10;
  const auto sleeps = [this](bool is_on, size_t threshold_kib) {
    set({{hipFileParamPropertiesMaxDirectIOSizeKB, 128}});
    EXPECT_CODE(hipFileSuccess, hipFileDriverSetPollMode(is_on, threshold_kib));
    EXPECT_EQ(128u, read().calls);
    return sleeps_;
  };
  (void)sleeps(false, 0);  // makes threads, streams and memory
  const long few = sleeps(false, kSize / 1024) / 3;
  EXPECT_GE(few, 7) << "a threshold alone does nothing";
  long awake = few;
  for (int turn = 0; turn < kMostTurns && awake >= few; ++turn) {
    awake = sleeps(true, kSize / 1024);
  }
  EXPECT_LT(awake, few);
  EXPECT_GE(sleeps(true, kSize / 1024 - 4), few) << "above the threshold";
}

// What hipFileExtQueryPath says of a read of 64 KiB.
// Requests of a batch run on the pool, whose threads those of callers need to give their slots
// back.
TEST_F(EffectTest, Rule31_BatchBesideCallersEndsWhereSlotsAreFew) {
  set({{hipFileParamForceCompatMode, true}});
  set({{hipFileParamPropertiesMaxDeviceCacheSizeKB, 32768},
       {hipFileParamExecutionMaxIOThreads, 2}});
  const std::vector<uint8_t> bytes = make_pattern(kSize, 7);
  write_file(file("f"), bytes);
  const Fd fd(file("f"), O_RDWR);
  const hipFileHandle_t handle = register_fd(fd.get());
  std::vector<std::thread> callers;
  for (int number = 0; number < 12; ++number) {
    callers.emplace_back([&] {
      Buffer buffer(kSize);
      for (int round = 0; round < 8; ++round) {
        EXPECT_EQ(static_cast<ssize_t>(kSize), hipFileRead(handle, buffer.data(), kSize, 0, 0));
      }
      EXPECT_EQ("", first_difference(buffer.get(), bytes));
    });
  }
  constexpr unsigned kRequests = 16;
  Buffer buffer(kSize);
  hipFileBatchHandle_t batch = nullptr;
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch, kRequests));
  for (int round = 0; round < 8; ++round) {
    std::vector<hipFileIOParams_t> reads(kRequests);
    for (unsigned at = 0; at < kRequests; ++at) {
      const auto offset = static_cast<hoff_t>(at * (kSize / kRequests));
      reads[at].mode = hipFileBatch;
      reads[at].fh = handle;
      reads[at].opcode = hipFileBatchRead;
      reads[at].u.batch = {buffer.data(), offset, offset, kSize / kRequests};
    }
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSubmit(batch, kRequests, reads.data(), 0));
    std::vector<hipFileIOEvents_t> events(kRequests);
    unsigned count = kRequests;
    EXPECT_CODE(hipFileSuccess,
                hipFileBatchIOGetStatus(batch, kRequests, &count, events.data(), nullptr));
    EXPECT_EQ(kRequests, count);
  }
  for (std::thread& caller : callers) caller.join();
  hipFileBatchIODestroy(batch);
  EXPECT_EQ("", first_difference(buffer.get(), bytes));
  close_library();
}

class PathEffectTest : public EffectTest {
 protected:
  hipFileExtPath_t path(MemoryKind kind) {
    write_file(file("f"), make_pattern(65536, 7));
    Fd fd(file("f"), O_RDWR);
    Buffer buffer(65536, kind);
    hipFileHandle_t handle = register_fd(fd.get());
    hipFileExtPath_t result{};
    EXPECT_CODE(hipFileSuccess,
                hipFileExtQueryPath(handle, buffer.data(), 65536, 0, 0, hipFileBatchRead, &result));
    count_ = hipFileRead(handle, buffer.data(), 65536, 0, 0);
    if (count_ == 65536) {
      EXPECT_EQ("", first_difference(buffer.get(), make_pattern(65536, 7)));
    }
    close_library();
    return result;
  }
  ssize_t count_ = 0;
};

TEST_F(PathEffectTest, ForceCompatModeRefusesTheFastpath) {
  set({{hipFileParamForceCompatMode, true}});
  const hipFileExtPath_t forced = path(MemoryKind::kDevice);
  EXPECT_EQ(hipFileExtRefusalForcedCompat, forced.refusals[hipFileExtBackendFastpath]);
  EXPECT_EQ(hipFileExtBackendBounce, forced.backend);
  set({{hipFileParamForceCompatMode, false}});
  EXPECT_NE(hipFileExtRefusalForcedCompat,
            path(MemoryKind::kDevice).refusals[hipFileExtBackendFastpath]);
}

TEST_F(PathEffectTest, AllowCompatModeOffRefusesTheBounce) {
  set({{hipFileParamForceCompatMode, false}, {hipFileParamPropertiesAllowCompatMode, false}});
  EXPECT_EQ(hipFileExtRefusalCompatDisallowed,
            path(MemoryKind::kDevice).refusals[hipFileExtBackendBounce]);
}

TEST_F(PathEffectTest, AllowSystemMemoryOffRefusesHostMemory) {
  EXPECT_EQ(hipFileExtBackendHost, path(MemoryKind::kHost).backend);
  EXPECT_EQ(65536, count_);
  set({{hipFileParamPropertiesAllowSystemMemory, false}});
  EXPECT_EQ(hipFileExtRefusalHostDisabled, path(MemoryKind::kHost).refusals[hipFileExtBackendHost]);
  EXPECT_EQ(negated(hipFileInternalError), count_);
}

TEST_F(PathEffectTest, ForceOdirectModeGoesPastThePageCache) {
  if (direct_flag_of(dir_.path()) == 0) GTEST_SKIP() << "no O_DIRECT here";
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinned}) {
    set({{hipFileParamForceCompatMode, true}});
    EXPECT_EQ(0u, path(kind).direct_bytes) << "a client without O_DIRECT, up to 1 MiB";
    set({{hipFileParamForceCompatMode, true}, {hipFileParamForceOdirectMode, true}});
    EXPECT_EQ(65536u, path(kind).direct_bytes) << memory_kind_name(kind);
    EXPECT_EQ(65536, count_);
  }
}

TEST_F(EffectTest, ProfileStatsIsTheLevelOfTheStatistics) {
  const auto reads = [] {
    hipFileStatsLevel1_t stats{};
    EXPECT_CODE(hipFileSuccess, hipFileGetStatsL1(&stats));
    return stats.read_ops.ok;
  };
  set({{hipFileParamProfileStats, 0}});
  const uint64_t before = reads();
  (void)read(65536);
  EXPECT_EQ(before, reads());
  set({{hipFileParamProfileStats, 1}});
  (void)read(65536);
  EXPECT_EQ(before + 1, reads());
}

TEST_F(EffectTest, PreferIOUringServesThePageCacheToo) {
  if (std::string(hipFileExtEngine(nullptr)) != "uring") GTEST_SKIP() << "no io_uring here";
  EXPECT_NE(0u, read().calls);
  set({{hipFileParamPreferIOUring, true}});
  EXPECT_EQ(0u, read().calls) << "io_uring makes no such calls";
}

}  // namespace
}  // namespace hipfile::test
