// SPDX-License-Identifier: MIT
//
// The file alone is searched over threads and block: a thread is one operation in flight, so that
// threads are the depth of the queue too.
#include "ceilings.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

namespace ais_bench {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kLinkBlock = 64 * kMiB;
constexpr size_t kClassicBlock = 16 * kMiB;
constexpr size_t kPage = 4096;

hipMemcpyKind kind_of(Way way) {
  return way == Way::kRead ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost;
}

std::string shape_of(unsigned threads, size_t block) {
  const std::string size =
      block >= kMiB ? std::to_string(block / kMiB) + " MiB" : std::to_string(block / 1024) + " KiB";
  return std::to_string(threads) + (threads == 1 ? " thread of " : " threads of ") + size;
}

// Calls `step(at, bytes)` over a range.
template <class Step>
void walk(Range range, size_t block, Step&& step) {
  for (size_t at = range.begin; at < range.end; at += block) {
    step(at, std::min(block, range.end - at));
  }
}

void move_file(Way way, int fd, char* memory, size_t bytes, size_t at) {
  if (way == Way::kRead) {
    read_fully(fd, memory, bytes, static_cast<off_t>(at));
  } else {
    write_fully(fd, memory, bytes, static_cast<off_t>(at));
  }
}

Work file_shape(Bench& bench, Way way, bool is_direct, unsigned threads, size_t block) {
  Work work;
  work.name = std::string(way == Way::kRead ? "pread" : "pwrite") +
              (is_direct ? ", O_DIRECT, " : ", ") + shape_of(threads, block);
  work.bytes = bench.size();
  work.calls = (bench.size() + block - 1) / block;
  work.prepare = [&bench, way](unsigned run) { bench.prepare(way, run); };
  const int fd = bench.file().descriptor(is_direct);
  work.run = [&bench, way, fd, threads, block] {
    return time_threads(threads, [&](unsigned index) {
      char* memory = bench.pinned(index, block);
      walk(bench.share(index, threads, block), block,
           [&](size_t at, size_t bytes) { move_file(way, fd, memory, bytes, at); });
    });
  };
  return work;
}

}  // namespace

Work link_copy(Bench& bench, Way way) {
  Work work;
  work.name = way == Way::kRead ? "pinned memory to device" : "device to pinned memory";
  work.bytes = bench.size();
  work.calls = (bench.size() + kLinkBlock - 1) / kLinkBlock;
  work.run = [&bench, way] {
    return time_threads(1, [&](unsigned) {
      const Device& device = bench.device();
      walk({0, bench.size()}, kLinkBlock, [&](size_t at, size_t bytes) {
        void* ends[] = {bench.memory() + at, bench.pinned(0, kLinkBlock)};
        const bool reads = way == Way::kRead;
        device.check(device.hip().MemcpyAsync(ends[reads ? 0 : 1], ends[reads ? 1 : 0], bytes,
                                              kind_of(way), bench.streams()[0]),
                     "cannot copy");
      });
      device.check(device.hip().StreamSynchronize(bench.streams()[0]), "a copy failed");
    });
  };
  return work;
}

Work file_alone(Bench& bench, Way way, bool is_direct) {
  const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  const unsigned most = is_direct ? 32 : std::min(16u, 2 * processors);
  std::vector<Work> shapes;
  for (unsigned threads = 1; threads <= most; threads *= 2) {
    for (const size_t block : {kMiB, 4 * kMiB, 16 * kMiB}) {
      const bool fits = threads * block <= bench.pinned_size() && threads * block <= bench.size();
      if (fits) shapes.push_back(file_shape(bench, way, is_direct, threads, block));
    }
  }
  if (shapes.empty()) {  // a small file
    shapes.push_back(file_shape(bench, way, is_direct, 1, std::min(bench.size(), kMiB)));
  }
  return fastest(shapes);
}

Work by_hand(Bench& bench, Way way, bool is_direct, unsigned threads, size_t call) {
  const size_t block = std::min({call, 16 * kMiB, bench.pinned_size() / threads / kPage * kPage});
  Work work = file_shape(bench, way, is_direct, threads, block);
  work.name = std::string(way == Way::kRead ? "pread and copy" : "copy and pwrite") + " by hand, " +
              shape_of(threads, block);
  const int fd = bench.file().descriptor(is_direct);
  work.run = [&bench, way, fd, threads, block] {
    return time_threads(threads, [&](unsigned index) {
      bench.device().make_current();
      char* memory = bench.pinned(index, block);
      walk(bench.share(index, threads, block), block, [&](size_t at, size_t bytes) {
        if (way == Way::kRead) {
          move_file(way, fd, memory, bytes, at);
          bench.streams().copy(index, bench.target() + at, memory, bytes, kind_of(way));
        } else {
          bench.streams().copy(index, memory, bench.target() + at, bytes, kind_of(way));
          move_file(way, fd, memory, bytes, at);
        }
      });
    });
  };
  work.check = [&bench] { bench.check(); };
  return work;
}

Work classic(Bench& bench, Way way) {
  Work work = file_shape(bench, way, false, 1, kClassicBlock);
  work.name = std::string(way == Way::kRead ? "pread and hipMemcpy" : "hipMemcpy and pwrite") +
              ", 16 MiB of pageable memory";
  work.run = [&bench, way] {
    const std::unique_ptr<char, decltype(&std::free)> memory(
        static_cast<char*>(std::aligned_alloc(kPage, kClassicBlock)), &std::free);
    if (memory == nullptr) fail("out of memory");
    const Device& device = bench.device();
    const int fd = bench.file().buffered();
    return time_threads(1, [&](unsigned) {
      walk({0, bench.size()}, kClassicBlock, [&](size_t at, size_t bytes) {
        if (way == Way::kRead) move_file(way, fd, memory.get(), bytes, at);
        char* there = bench.target() + at;
        const bool reads = way == Way::kRead;
        device.check(device.hip().Memcpy(reads ? there : memory.get(), reads ? memory.get() : there,
                                         bytes, kind_of(way)),
                     "cannot copy");
        if (way == Way::kWrite) move_file(way, fd, memory.get(), bytes, at);
      });
    });
  };
  work.check = [&bench] { bench.check(); };
  return work;
}

Work narrowest(Bench& bench, Way way) {
  // Past the cache when nothing of the file is in it, or when it is written so.
  const Options& options = bench.options();
  const bool is_direct =
      bench.file().direct() >= 0 && (way == Way::kRead ? options.is_cold : options.is_direct);
  const Work file = file_alone(bench, way, is_direct);
  // An emulated device has no link: its memory is where the file is read to.
  if (bench.device().is_emulated()) return file;
  return run_once(link_copy(bench, way), 0).seconds > run_once(file, 0).seconds
             ? link_copy(bench, way)
             : file;
}

std::vector<Figure> measure_ceilings(Bench& bench) {
  const unsigned runs = bench.options().runs;
  std::vector<Way> ways = {Way::kRead};
  if (bench.file().may_write()) ways.push_back(Way::kWrite);
  std::vector<Figure> figures;
  for (const Way way : ways) {
    figures.push_back(measure(link_copy(bench, way), runs));
    figures.push_back(measure(file_alone(bench, way, false), runs));
    if (bench.file().direct() >= 0) {
      figures.push_back(measure(file_alone(bench, way, true), runs));
    }
    figures.push_back(measure(by_hand(bench, way, false, 1, 16 * kMiB), runs));
    figures.push_back(measure(classic(bench, way), runs));
  }
  return figures;
}

}  // namespace ais_bench
