// SPDX-License-Identifier: MIT
//
// What shapes of a pinned ring give, beside the link: readers of a cached file, each with slots of
// its own, who wait asleep for the copy out of a slot, fill it again and queue the next copy. All
// of hipFile but its ring is left out. Every run reads the whole file; the shapes take turns, and
// the medians are printed with the processor time.
//
//   bench_shapes FILE [ROUNDS]
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "gpu/loader.h"

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kPinned = 256 * kMiB;

struct Shape {
  unsigned readers;
  size_t chunk;
  unsigned slots;      // of each reader
  bool is_one_stream;  // for all readers; else each has its own
  bool is_staggered;   // the first chunk of a reader is a part, so that the link starts early
};

struct Sample {
  double seconds = 0, cpu_seconds = 0;
};

struct Setting {
  const hipfile::gpu::HipTable* hip = nullptr;
  int fd = -1;
  size_t size = 0;
  char* device = nullptr;
  char* pinned = nullptr;
  std::vector<hipStream_t> streams;
  std::vector<hipEvent_t> events;
};

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "bench_shapes: %s: HIP error %d\n", what, static_cast<int>(error));
  std::exit(1);
}

double cpu_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

char* pin(const hipfile::gpu::HipTable& hip) {
  const size_t padded = kPinned + 2 * kMiB;
  void* memory = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  const auto begin = (reinterpret_cast<uintptr_t>(memory) + 2 * kMiB - 1) / (2 * kMiB) * 2 * kMiB;
  char* pinned = reinterpret_cast<char*>(begin);
  (void)madvise(pinned, kPinned, MADV_HUGEPAGE);
  for (size_t at = 0; at < kPinned; at += 4096) pinned[at] = 0;
  check(hip.HostRegister(pinned, kPinned, hipHostRegisterPortable), "hipHostRegister");
  return pinned;
}

class Run {
 public:
  Run(const Setting& setting, const Shape& shape) : setting_(setting), shape_(shape) {}

  Sample time() {
    const double cpu = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < shape_.readers; ++i) threads.emplace_back([this, i] { read(i); });
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return {passed.count(), cpu_seconds() - cpu};
  }

 private:
  void read(unsigned reader) const {
    const hipfile::gpu::HipTable& hip = *setting_.hip;
    check(hip.SetDevice(0), "hipSetDevice");
    hipStream_t stream = setting_.streams[shape_.is_one_stream ? 0 : reader];
    for (unsigned turn = 0;; ++turn) {
      size_t bytes = shape_.chunk;
      if (shape_.is_staggered && turn == 0) bytes = bytes * (reader + 1) / shape_.readers;
      const size_t at = next_.fetch_add(bytes);
      if (at >= setting_.size) break;
      bytes = std::min(bytes, setting_.size - at);
      const size_t slot = reader * shape_.slots + turn % shape_.slots;
      char* data = setting_.pinned + slot * shape_.chunk;
      if (turn >= shape_.slots) check(hip.EventSynchronize(setting_.events[slot]), "a copy");
      if (pread(setting_.fd, data, bytes, static_cast<off_t>(at)) != static_cast<ssize_t>(bytes)) {
        std::abort();
      }
      check(hip.MemcpyAsync(setting_.device + at, data, bytes, hipMemcpyHostToDevice, stream),
            "hipMemcpyAsync");
      check(hip.EventRecord(setting_.events[slot], stream), "hipEventRecord");
    }
    check(hip.StreamSynchronize(stream), "hipStreamSynchronize");
  }

  const Setting& setting_;
  const Shape shape_;
  mutable std::atomic<size_t> next_{0};
};

// One copy after the other out of 64 MiB of the pinned memory.
Sample time_link(const Setting& setting) {
  const hipfile::gpu::HipTable& hip = *setting.hip;
  const double cpu = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  for (size_t at = 0; at < setting.size; at += 64 * kMiB) {
    check(
        hip.MemcpyAsync(setting.device + at, setting.pinned, std::min(64 * kMiB, setting.size - at),
                        hipMemcpyHostToDevice, setting.streams[0]),
        "hipMemcpyAsync");
  }
  check(hip.StreamSynchronize(setting.streams[0]), "hipStreamSynchronize");
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return {passed.count(), cpu_seconds() - cpu};
}

Setting set_up(const char* path) {
  Setting setting;
  const auto bound = hipfile::gpu::bind();
  if (!bound.ok()) {
    std::fprintf(stderr, "bench_shapes: %s\n", hipfile::gpu::bind_failure().c_str());
    std::exit(1);
  }
  setting.hip = &bound.value()->hip;
  const hipfile::gpu::HipTable& hip = *setting.hip;
  struct stat st = {};
  setting.fd = open(path, O_RDONLY | O_CLOEXEC);
  if (setting.fd < 0 || fstat(setting.fd, &st) != 0) {
    std::perror(path);
    std::exit(1);
  }
  setting.size = static_cast<size_t>(st.st_size);
  check(hip.SetDevice(0), "hipSetDevice");
  void* device = nullptr;
  check(hip.Malloc(&device, setting.size), "hipMalloc");
  setting.device = static_cast<char*>(device);
  setting.pinned = pin(hip);
  int least = 0, greatest = 0;
  check(hip.DeviceGetStreamPriorityRange(&least, &greatest), "priorities");
  setting.streams.resize(32);
  for (hipStream_t& stream : setting.streams) {
    check(hip.StreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest), "a stream");
  }
  setting.events.resize(256);
  for (hipEvent_t& event : setting.events) {
    check(hip.EventCreateWithFlags(&event, hipEventDisableTiming | hipEventBlockingSync),
          "an event");
  }
  return setting;
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const bool is_one_stream : {false, true}) {
    for (const unsigned readers : {4u, 6u, 8u, 10u, 16u}) {
      for (const size_t chunk : {kMiB, 2 * kMiB, 4 * kMiB, 8 * kMiB}) {
        for (const unsigned slots : {2u, 3u, 4u, 8u}) {
          if (readers * chunk * slots > kPinned) continue;
          if (slots > 2 && readers != 8) continue;
          all.push_back({readers, chunk, slots, is_one_stream, false});
        }
      }
    }
    all.push_back({8, 4 * kMiB, 2, is_one_stream, true});
    all.push_back({8, 2 * kMiB, 3, is_one_stream, true});
  }
  return all;
}

double median(std::vector<Sample> samples, double Sample::*member) {
  std::sort(samples.begin(), samples.end(),
            [member](const Sample& a, const Sample& b) { return a.*member < b.*member; });
  return samples[samples.size() / 2].*member;
}

void print(const std::string& name, const Setting& setting, const std::vector<Sample>& samples,
           double link) {
  const double gigabytes = static_cast<double>(setting.size) / 1e9;
  const double rate = gigabytes / median(samples, &Sample::seconds);
  std::printf("%-52s %7.2f GB/s %6.3f of the link %7.3f CPU s/GB\n", name.c_str(), rate,
              rate / link, median(samples, &Sample::cpu_seconds) / gigabytes);
}

std::string name_of(const Shape& shape) {
  return std::to_string(shape.readers) + " readers, " + std::to_string(shape.chunk / kMiB) +
         " MiB, " + std::to_string(shape.slots) + " slots, " +
         (shape.is_one_stream ? "one stream" : "own streams") +
         (shape.is_staggered ? ", staggered" : "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_shapes FILE [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  const Setting setting = set_up(argv[1]);
  const std::vector<Shape> all = shapes();
  std::vector<std::vector<Sample>> samples(all.size());
  std::vector<Sample> link;
  (void)Run(setting, all.front()).time();  // into the page cache
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < all.size(); ++i) samples[i].push_back(Run(setting, all[i]).time());
    link.push_back(time_link(setting));
  }
  const double ceiling = static_cast<double>(setting.size) / 1e9 / median(link, &Sample::seconds);
  print("the link alone", setting, link, ceiling);
  for (size_t i = 0; i < all.size(); ++i) print(name_of(all[i]), setting, samples[i], ceiling);
  return 0;
}
