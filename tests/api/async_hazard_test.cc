// SPDX-License-Identifier: MIT
//
// What a program may call while operations are in flight, from the same and from another thread.
// Each of these calls waits for the streams of the device and keeps other threads' copies out
// meanwhile, on NVIDIA's driver and with HIP_PORTABLE_HAZARDS=1: a library whose pool copies behind
// a stream's wait never comes back from them (HipDesignDeathTest shows it).
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "async_fixture.h"
#include "disturbances.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kStreams = 8;
constexpr size_t kOperations = 32;  // of each stream: 256 in all
constexpr size_t kSlice = 128 << 10;

class DisturbedBatchTest : public TimeLimited {};

// By disturbance, and whether another thread makes it.
class DisturbedTest : public TimeLimited,
                      public testing::WithParamInterface<std::tuple<size_t, bool>> {
 protected:
  const Disturbance& disturbance() const { return kDisturbances[std::get<0>(GetParam())]; }
};

// Streams read a file into slices of a buffer of their own and write the slices to another.
TEST_P(DisturbedTest, Rule9_OperationsInFlightFinish) {
  const bool is_elsewhere = std::get<1>(GetParam());
  RegisteredFile from(file("from"), 4 * kMiB, 1);
  RegisteredFile to(file("to"), 0, 0);
  std::vector<std::unique_ptr<TestStream>> streams;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::vector<AsyncCall>> calls(kStreams, std::vector<AsyncCall>(kOperations));
  for (size_t at = 0; at < kStreams; ++at) {
    streams.push_back(std::make_unique<TestStream>(at % 2 == 0 ? hipStreamNonBlocking : 0));
    buffers.push_back(std::make_unique<Buffer>(kOperations / 2 * kSlice));
  }
  std::atomic<bool> may_end{false};
  std::thread other;
  if (is_elsewhere) {
    other = std::thread([&] {
      while (!may_end) disturbance().call();
    });
  }
  for (size_t op = 0; op < kOperations; ++op) {
    for (size_t at = 0; at < kStreams; ++at) {
      const auto slice = hoff_t(op / 2 * kSlice);
      AsyncCall& call = calls[at][op];
      // The odd start of some makes both the direct path and the staging work.
      const hoff_t start = at % 4 == 3 ? 77 : 0;
      if (op % 2 == 0) {
        call = {kSlice, start, slice};
        EXPECT_CODE(hipFileSuccess, call.read(from.handle(), *buffers[at], *streams[at]));
      } else {
        call = {kSlice, hoff_t(at * kOperations / 2 * kSlice) + slice, slice};
        EXPECT_CODE(hipFileSuccess, call.write(to.handle(), *buffers[at], *streams[at]));
      }
    }
    if (!is_elsewhere && op % 4 == 3) disturbance().call();
  }
  for (const auto& stream : streams) synchronize(*stream);
  may_end = true;
  if (other.joinable()) other.join();
  for (size_t at = 0; at < kStreams; ++at) {
    for (const AsyncCall& call : calls[at]) EXPECT_EQ(ssize_t(kSlice), call.bytes);
  }
  const std::vector<uint8_t> written = read_file(to.path());
  ASSERT_EQ(kStreams * kOperations / 2 * kSlice, written.size());
  for (size_t slice = 0; slice < kStreams * kOperations / 2; ++slice) {
    const size_t stream = slice / (kOperations / 2);
    const auto begin = written.begin() + std::ptrdiff_t(slice * kSlice);
    ASSERT_EQ("", first_difference({begin, begin + kSlice},
                                   make_pattern(kSlice, 1, stream % 4 == 3 ? 77 : 0)));
  }
}

// A batch whose requests all copy occupies every thread of the pool, behind a call that waits for
// the streams: an operation in a stream must not need one of these threads.
TEST_F(DisturbedBatchTest, Rule9_OperationsInFlightFinishBesideABatch) {
  RegisteredFile from(file("from"), 4 * kMiB, 1);
  constexpr size_t kRequest = 70001;
  Buffer read_by_batch(kOperations * kRequest);
  Buffer read_in_stream(kMiB);
  TestStream stream(hipStreamNonBlocking);
  std::atomic<bool> may_end{false};
  std::thread batches([&] {
    hipFileBatchHandle_t batch = nullptr;
    EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch, kOperations));
    hipFileIOParams_t request = {};
    request.mode = hipFileBatch;
    request.fh = from.handle();
    request.u.batch.devPtr_base = read_by_batch.data();
    request.u.batch.file_offset = 3;  // off the alignment: copied by threads of the pool
    request.u.batch.size = kRequest;
    std::vector<hipFileIOParams_t> requests(kOperations, request);
    for (size_t at = 0; at < kOperations; ++at) {
      requests[at].u.batch.devPtr_offset = hoff_t(at * kRequest);
    }
    std::vector<hipFileIOEvents_t> events(kOperations);
    while (!may_end) {
      EXPECT_CODE(hipFileSuccess, hipFileBatchIOSubmit(batch, kOperations, requests.data(), 0));
      unsigned count = kOperations;
      EXPECT_CODE(hipFileSuccess,
                  hipFileBatchIOGetStatus(batch, count, &count, events.data(), nullptr));
    }
    hipFileBatchIODestroy(batch);
  });
  std::thread frees([&] {
    while (!may_end) {
      disturb_by_free();
      usleep(200);
    }
  });
  for (int round = 0; round < 100; ++round) {
    AsyncCall call = {100001, 5, 0};
    EXPECT_CODE(hipFileSuccess, call.read(from.handle(), read_in_stream, stream));
    synchronize(stream);
    EXPECT_EQ(100001, call.bytes);
  }
  may_end = true;
  batches.join();
  frees.join();
}

INSTANTIATE_TEST_SUITE_P(, DisturbedTest,
                         testing::Combine(testing::Range(size_t{0}, std::size(kDisturbances)),
                                          testing::Bool()),
                         [](const auto& it) {
                           return std::string(kDisturbances[std::get<0>(it.param)].name) +
                                  (std::get<1>(it.param) ? "Elsewhere" : "Here");
                         });

}  // namespace
}  // namespace hipfile::test
