// SPDX-License-Identifier: MIT
//
// The reading pipeline over a runtime whose copies end only when they are waited for, while more
// and more others begin to read.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "backend/bounce_pipeline.h"
#include "support/kept.h"
#include "support/pattern.h"

namespace hipfile {
namespace {

constexpr size_t kChunk = 4096;
constexpr size_t kSize = 64 * kChunk;

gpu::HipTable slow_copies() {
  gpu::HipTable hip;
  hip.PeekAtLastError = [] { return hipSuccess; };
  hip.GetDevice = [](int* device) { return *device = 0, hipSuccess; };
  hip.MemcpyAsync = [](void* to, const void* from, size_t size, hipMemcpyKind, hipStream_t) {
    return std::memcpy(to, from, size), hipSuccess;
  };
  hip.EventCreateWithFlags = [](hipEvent_t*, unsigned) { return hipSuccess; };
  hip.EventRecord = [](hipEvent_t, hipStream_t) { return hipSuccess; };
  hip.EventQuery = [](hipEvent_t) { return hipErrorNotReady; };
  hip.EventSynchronize = [](hipEvent_t) { return hipSuccess; };
  hip.StreamSynchronize = [](hipStream_t) { return hipSuccess; };
  return hip;
}

// A file that is the pattern. The others come with its nth completion.
class CrowdedQueue : public IoQueue {
 public:
  CrowdedQueue(ReaderCrowd& crowd, size_t others, int nth)
      : crowd_(crowd), others_(others), nth_(nth) {}

  void submit(const IoOp& op) override { in_flight_.push_back(op); }
  IoDone reap() override {
    if (nth_-- == 0) {
      while (members_.size() < others_) {
        members_.push_back(std::make_unique<ReaderCrowd::Member>(crowd_));
      }
    }
    const IoOp op = in_flight_.front();
    in_flight_.pop_front();
    test::fill_pattern(op.data, op.size, 1, static_cast<uint64_t>(op.offset));
    return {op.tag, op.size, 0};
  }
  unsigned depth() const override { return 16; }

 private:
  ReaderCrowd& crowd_;
  const size_t others_;
  int nth_;
  std::deque<IoOp> in_flight_;
  std::vector<std::unique_ptr<ReaderCrowd::Member>> members_;
};

class ReadPipelineTest : public ::testing::Test {
 protected:
  ReadPipelineTest() {
    runtime_.hip = slow_copies();
    stream_.runtime = &runtime_;
  }

  // Reads while `others` begin to read too, at the nth completion.
  void read(size_t others, int nth) {
    std::vector<uint8_t> memory(kSize, 0xee);
    Request request;
    request.address = reinterpret_cast<char*>(memory.data());
    request.size = kSize;
    ReaderCrowd crowd;
    const ReaderCrowd::Member member(crowd);
    CrowdedQueue queue(crowd, others, nth);
    const PipelineParts parts = {gpu_, ring_, queue, stream_, -1, 1, kChunk, 16, &member};
    const Outcome outcome = read_pipeline(request, parts);
    EXPECT_EQ(kSize, outcome.done);
    EXPECT_FALSE(outcome.failed());
    EXPECT_EQ("", test::first_difference(memory, test::make_pattern(kSize, 1)));
  }

  Gpu gpu_;
  gpu::Runtime runtime_;
  CopyStream stream_;
  PinnedRing& ring_ = *kept(std::make_unique<PinnedRing>(gpu_, 32 * PinnedRing::kSlabSize));
};

TEST_F(ReadPipelineTest, Rule31_WhoGivesSlotsBackToOthersReadsToTheEnd) {
  for (const size_t others : {0, 1, 2, 7, 11, 12, 23, 63}) {
    for (int nth = 0; nth < 40; ++nth) {
      SCOPED_TRACE(testing::Message() << others << " others at completion " << nth);
      read(others, nth);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hipfile
