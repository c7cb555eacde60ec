// SPDX-License-Identifier: MIT
//
// 8 threads, each with 8 streams, read and write pieces of mixed sizes and offsets in all of them
// at once, and by calls and in a batch meanwhile, against a model. Every way has an area of the
// file and of the memory to itself; so what it does is known, whatever the order of the ways. The
// same in four processes with four threads each, on one device and in one directory.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "async_fixture.h"
#include "process.h"
#include "random_run.h"

namespace hipfile::test {
namespace {

constexpr size_t kThreads = 8, kStreams = 8;
constexpr size_t kProcesses = 4, kThreadsOfAProcess = 4;
constexpr size_t kArea = 512 << 10;
constexpr size_t kInStream = 6;  // operations of a stream before it is waited for
constexpr size_t kCalls = 4;
constexpr size_t kInBatch = 4;

using Bytes = std::vector<uint8_t>;

// What lies in an area of the file, and what in that of the memory.
struct Model {
  Bytes file, memory;
};

struct Piece {
  bool is_read = true;
  size_t file_offset = 0, memory_offset = 0;  // in the area
  AsyncCall call;                             // in the whole file and memory
};

class Worker {
 public:
  Worker(const std::string& path, uint64_t seed, int direct_flag)
      : random_(seed),
        file_(path, kAreas * kArea, seed + 1, O_RDWR | (seed % 2 == 0 ? direct_flag : 0)),
        memory_(kAreas * kArea) {
    memory_.fill(0);
    for (size_t area = 0; area < kAreas; ++area) {
      models_[area] = {make_pattern(kArea, seed + 1, area * kArea), Bytes(kArea)};
    }
    if (seed % 4 < 2) {
      EXPECT_CODE(hipFileSuccess, hipFileBufRegister(memory_.data(), memory_.size(), 0));
    }
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch_, kInBatch));
  }
  ~Worker() { hipFileBatchIODestroy(batch_); }

  // All ways at once, then all is compared. Returns how many operations it was.
  size_t run_round() {
    std::vector<std::unique_ptr<Piece>> pieces;  // values of the calls must stay where they are
    for (size_t at = 0; at < kInStream * kStreams; ++at) {
      const size_t stream = at % kStreams;
      pieces.push_back(some_piece(stream, 0, kArea));
      Piece& piece = *pieces.back();
      EXPECT_CODE(hipFileSuccess,
                  piece.is_read ? piece.call.read(file_.handle(), memory_, streams_[stream])
                                : piece.call.write(file_.handle(), memory_, streams_[stream]));
    }
    submit_batch(&pieces);
    for (size_t at = 0; at < kCalls; ++at) {
      pieces.push_back(some_piece(kStreams, 0, kArea));
      move(*pieces.back());
    }
    fetch_batch(kInStream * kStreams, &pieces);
    for (const TestStream& stream : streams_) synchronize(stream);
    for (const auto& piece : pieces) {
      EXPECT_EQ(static_cast<ssize_t>(piece->call.size), piece->call.bytes);
    }
    compare();
    return pieces.size();
  }

 private:
  static constexpr size_t kAreas = kStreams + 2;  // of the streams, of calls, of the batch

  size_t below(size_t end) { return random_() % end; }

  // Anywhere in a part of an area; the model has it done at once, in the order of the calls.
  std::unique_ptr<Piece> some_piece(size_t area, size_t begin, size_t room) {
    auto piece = std::make_unique<Piece>();
    const size_t grain = below(2) == 0 ? 4096 : 1;
    const size_t most = below(4) == 0 ? room : room / 16;
    const size_t size = std::max(grain, below(most) / grain * grain);
    piece->is_read = below(2) == 0;
    piece->file_offset = begin + below(room - size + 1) / grain * grain;
    piece->memory_offset = begin + below(room - size + 1) / grain * grain;
    piece->call.size = size;
    piece->call.file_offset = static_cast<hoff_t>(area * kArea + piece->file_offset);
    piece->call.buffer_offset = static_cast<hoff_t>(area * kArea + piece->memory_offset);
    Model& model = models_[area];
    Bytes& from = piece->is_read ? model.file : model.memory;
    Bytes& to = piece->is_read ? model.memory : model.file;
    const size_t source = piece->is_read ? piece->file_offset : piece->memory_offset;
    const size_t target = piece->is_read ? piece->memory_offset : piece->file_offset;
    std::copy_n(from.begin() + static_cast<ptrdiff_t>(source), size,
                to.begin() + static_cast<ptrdiff_t>(target));
    return piece;
  }

  void move(Piece& piece) {
    AsyncCall& call = piece.call;
    call.bytes = piece.is_read ? hipFileRead(file_.handle(), memory_.data(), call.size,
                                             call.file_offset, call.buffer_offset)
                               : hipFileWrite(file_.handle(), memory_.data(), call.size,
                                              call.file_offset, call.buffer_offset);
  }

  // Requests of a batch have no order: each has a part of the area.
  void submit_batch(std::vector<std::unique_ptr<Piece>>* pieces) {
    std::vector<hipFileIOParams_t> requests(kInBatch);
    for (size_t at = 0; at < kInBatch; ++at) {
      constexpr size_t kRoom = kArea / kInBatch;
      pieces->push_back(some_piece(kStreams + 1, at * kRoom, kRoom));
      const Piece& piece = *pieces->back();
      hipFileIOParams_t& request = requests[at];
      request.mode = hipFileBatch;
      request.opcode = piece.is_read ? hipFileBatchRead : hipFileBatchWrite;
      request.fh = file_.handle();
      request.cookie = reinterpret_cast<void*>(at);
      request.u.batch = {memory_.data(), piece.call.file_offset, piece.call.buffer_offset,
                         piece.call.size};
    }
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSubmit(batch_, kInBatch, requests.data(), 0));
  }

  // The pieces of the batch stand from `first` on.
  void fetch_batch(size_t first, std::vector<std::unique_ptr<Piece>>* pieces) {
    hipFileIOEvents_t events[kInBatch];
    unsigned count = kInBatch;
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOGetStatus(batch_, kInBatch, &count, events, nullptr));
    for (unsigned at = 0; at < count; ++at) {
      const auto place = reinterpret_cast<uintptr_t>(events[at].cookie);
      (*pieces)[first + place]->call.bytes = static_cast<ssize_t>(events[at].ret);
    }
  }

  void compare() {
    const Bytes memory = memory_.get(), file = read_file(file_.path());
    ASSERT_EQ(kAreas * kArea, file.size());
    for (size_t area = 0; area < kAreas; ++area) {
      const auto part = [area](const Bytes& bytes) {
        const auto begin = bytes.begin() + static_cast<ptrdiff_t>(area * kArea);
        return Bytes(begin, begin + kArea);
      };
      ASSERT_EQ("", first_difference(part(memory), models_[area].memory)) << "memory " << area;
      ASSERT_EQ("", first_difference(part(file), models_[area].file)) << "file " << area;
    }
  }

  std::mt19937_64 random_;
  RegisteredFile file_;
  Buffer memory_;
  TestStream streams_[kStreams];
  hipFileBatchHandle_t batch_ = nullptr;
  Model models_[kAreas];
};

class ManyStreamsTest : public ApiTest {};

TEST_F(ManyStreamsTest, WhatLiesInFilesAndMemoryIsThatOfTheModel) {
  const uint64_t seed = random_run_generator()();
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(number_from_environment("HIPFILE_TEST_SECONDS", 2));
  std::vector<std::thread> threads;
  std::atomic<size_t> operations{0};
  const size_t count = number_from_environment("HIPFILE_TEST_THREADS", kThreads);
  for (size_t at = 0; at < count; ++at) {
    threads.emplace_back([&, at] {
      Worker worker(file(std::to_string(at)), seed + at, direct_flag_of(dir_.path()));
      do {
        operations += worker.run_round();
      } while (!HasFailure() && std::chrono::steady_clock::now() < end);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%zu operations\n", operations.load());
}

TEST_F(ManyStreamsTest, ProcessesShareADevice) {
  const uint64_t seed = random_run_generator()();
  std::vector<std::unique_ptr<RunningProcess>> processes;
  for (size_t at = 0; at < kProcesses; ++at) {
    ProcessOptions options;
    options.environment = {"HIPFILE_TEST_DIR=" + dir_.path(), "GTEST_OUTPUT",
                           "HIPFILE_TEST_SEED=" + std::to_string(seed + at),
                           "HIPFILE_TEST_THREADS=" + std::to_string(kThreadsOfAProcess)};
    options.timeout_s =
        static_cast<unsigned>(number_from_environment("HIPFILE_TEST_SECONDS", 2) + 240);
    processes.push_back(std::make_unique<RunningProcess>(
        std::vector<std::string>{"/proc/self/exe", "--gtest_filter=*IsThatOfTheModel"}, options));
  }
  for (const auto& process : processes) {
    const ProcessResult result = process->wait();
    EXPECT_EQ(0, result.exit_code) << result.out << result.err;
    EXPECT_NE(std::string::npos, result.out.find("operations")) << result.out;
  }
}

}  // namespace
}  // namespace hipfile::test
