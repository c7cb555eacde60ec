// SPDX-License-Identifier: MIT
#include "bench.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace ais_bench {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kShifts = 64;                 // pages by which writes begin later, in turn
constexpr size_t kPinned = size_t{256} << 20;  // for blocks of all threads together
constexpr size_t kPiece = size_t{4} << 20;     // of fills and checks
constexpr int kPoison = 0x5a;

unsigned checkers() { return std::clamp(std::thread::hardware_concurrency(), 1u, 16u); }

}  // namespace

Bench::Bench(const Options& options)
    : options_(options),
      device_(options.device),
      file_(options),
      memory_(device_, Memory::Kind::kDevice, file_.size() + kShifts * kPage),
      pinned_(device_, Memory::Kind::kPinned, kPinned),
      streams_(device_, kMostThreads) {}

void Bench::fill_device() {
  const unsigned threads = checkers();
  (void)time_threads(threads, [&](unsigned index) {
    device_.make_current();
    char* piece = pinned(index, kPiece);
    for (size_t at = index * kPiece; at < memory_.size(); at += threads * kPiece) {
      const size_t size = std::min(kPiece, memory_.size() - at);
      fill_pattern(piece, size, at + (size_t{1} << 40));
      streams_.copy(index, memory_.data() + at, piece, size, hipMemcpyHostToDevice);
    }
  });
}

void Bench::prepare(Way way, unsigned run) {
  if (way == Way::kWrite) {
    if (!is_filled_) fill_device();
    shift_ = (run % kShifts + 1) % kShifts * kPage;
  } else {
    shift_ = 0;
    file_.stamp(run);
    device_.check(device_.hip().Memset(memory_.data(), kPoison, memory_.size()), "cannot fill");
    device_.check(device_.hip().DeviceSynchronize(), "cannot fill");
  }
  is_filled_ = way == Way::kWrite;
  if (file_.may_write()) file_.flush();
  if (options_.is_cold) {
    file_.drop();
  } else {
    warm_file();
  }
}

void Bench::warm_file() {
  const unsigned threads = checkers();
  (void)time_threads(threads, [&](unsigned index) {
    for (size_t at = index * kPiece; at < size(); at += threads * kPiece) {
      read_fully(file_.buffered(), pinned(index, kPiece), std::min(kPiece, size() - at),
                 static_cast<off_t>(at));
    }
  });
}

void Bench::check() {
  const unsigned threads = checkers();
  std::atomic<size_t> wrong{SIZE_MAX};
  (void)time_threads(threads, [&](unsigned index) {
    device_.make_current();
    char* there = pinned(2 * index, kPiece);
    char* here = pinned(2 * index + 1, kPiece);
    for (size_t at = index * kPiece; at < size(); at += threads * kPiece) {
      const size_t bytes = std::min(kPiece, size() - at);
      read_fully(file_.buffered(), here, bytes, static_cast<off_t>(at));
      streams_.copy(index, there, target() + at, bytes, hipMemcpyDeviceToHost);
      if (std::memcmp(here, there, bytes) != 0) wrong = at;
    }
  });
  if (wrong != SIZE_MAX) {
    fail("file and device differ in the 4 MiB from byte " + std::to_string(wrong) + " on");
  }
}

Range Bench::share(unsigned index, unsigned count, size_t grain) const {
  const size_t pieces = (size() + grain - 1) / grain;
  const size_t each = pieces / count;
  const size_t more = pieces % count;  // the first so many have one more
  Range range;
  range.begin = std::min(size(), (index * each + std::min<size_t>(index, more)) * grain);
  range.end = std::min(size(), range.begin + (each + (index < more ? 1 : 0)) * grain);
  return range;
}

}  // namespace ais_bench
