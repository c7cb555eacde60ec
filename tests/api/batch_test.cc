// SPDX-License-Identifier: MIT
//
// The batch calls (specification 6, 12.4).
#include <sys/resource.h>

#include <csignal>
#include <ctime>
#include <memory>
#include <set>
#include <thread>

#include "batch_fixture.h"

namespace hipfile::test {
namespace {

constexpr size_t kMiB = 1 << 20;

TEST_F(BatchTest, SetUpChecksItsArgumentsAndOpensNothing) {
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSetUp(nullptr, 1));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSetUp(&batch_, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSetUp(&batch_, 129));
  EXPECT_EQ(nullptr, batch_);
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOSetUp(&batch_, 128));
  EXPECT_NE(nullptr, batch_);
  EXPECT_EQ(0, hipFileUseCount());
}

TEST_F(BatchTest, SubmitRejectsInvalidArguments) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  set_up(1);
  auto good = request(hipFileBatchRead, f.handle(), buffer.data(), 4096);
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(batch_, 0, &good, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(batch_, 1, nullptr, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(nullptr, 1, &good, 0));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOSubmit(&good, 1, &good, 0));
  EXPECT_CODE(hipFileBatchFull, submit({good, good}));
  EXPECT_CODE(hipFileHandleNotRegistered,
              submit({request(hipFileBatchRead, &good, buffer.data(), 4096)}));
  for (int wrong : {0, 2, -1}) {
    auto bad = good;
    bad.mode = static_cast<hipFileBatchMode_t>(wrong);
    EXPECT_CODE(hipFileInvalidValue, submit({bad}));
  }
  for (int wrong : {2, -1, 1000}) {
    auto bad = good;
    bad.opcode = static_cast<hipFileOpcode_t>(wrong);
    EXPECT_CODE(hipFileInvalidValue, submit({bad}));
  }
  const auto h = f.handle();
  void* const b = buffer.data();
  for (const auto& bad :
       {request(hipFileBatchRead, h, b, 4096, -1), request(hipFileBatchRead, h, b, 4096, 0, -1),
        request(hipFileBatchRead, h, b, 1, 0, 8192), request(hipFileBatchRead, h, b, 8193),
        request(hipFileBatchRead, h, b, 4097, 0, 4096), request(hipFileBatchRead, h, nullptr, 1)}) {
    EXPECT_CODE(hipFileInvalidValue, submit({bad}));
  }
  EXPECT_TRUE(collect(0, 1).empty());
  EXPECT_CODE(hipFileSuccess, submit({good}));  // the slot is still free
  EXPECT_EQ(1u, collect(1, 1).size());
}

TEST_F(BatchTest, OneBadRequestQueuesNothing) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  set_up(4);
  buffer.fill(0xee);
  EXPECT_CODE(hipFileInvalidValue,
              submit({request(hipFileBatchRead, f.handle(), buffer.data(), 4096),
                      request(hipFileBatchRead, f.handle(), buffer.data(), 4096, -1)}));
  EXPECT_TRUE(collect(4, 4).empty());
  EXPECT_EQ("", first_difference(buffer.get(), std::vector<uint8_t>(8192, 0xee)));
}

TEST_F(BatchTest, ClosedLibraryTakesNothing) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  close_library();
  set_up(1);
  EXPECT_CODE(hipFileInternalError,
              submit({request(hipFileBatchRead, f.handle(), buffer.data(), 4096)}));
}

TEST_F(BatchTest, GetStatusRejectsInvalidArguments) {
  set_up(4);
  hipFileIOEvents_t events[4];
  unsigned nr = 1;
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(batch_, 0, nullptr, events, nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(batch_, 0, &nr, nullptr, nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(batch_, 2, &nr, events, nullptr));
  nr = 0;
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(batch_, 0, &nr, events, nullptr));
  nr = 4;
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(nullptr, 0, &nr, events, nullptr));
  for (timespec bad : {timespec{-1, 0}, timespec{0, -1}, timespec{0, 1000000000}}) {
    EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(batch_, 0, &nr, events, &bad));
  }
  EXPECT_EQ(4u, nr);
}

TEST_F(BatchTest, NothingOutstandingReturnsAtOnce) {
  set_up(4);
  EXPECT_TRUE(collect(1, 4).empty());
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOCancel(batch_));
  EXPECT_TRUE(collect(4, 4).empty());
}

TEST_F(BatchTest, UnknownIdsAreInvalidOrIgnored) {
  int other = 0;
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOCancel(nullptr));
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOCancel(&other));
  hipFileBatchIODestroy(nullptr);
  hipFileBatchIODestroy(&other);
  set_up(1);
  const hipFileBatchHandle_t old = batch_;
  hipFileBatchIODestroy(batch_);
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOCancel(old));
  hipFileBatchIODestroy(old);
  batch_ = nullptr;
}

TEST_F(BatchTest, SingleReadAndSingleWrite) {
  RegisteredFile from(file("from"), 4096, 1), to(file("to"), 0, 0);
  Buffer buffer(4096);
  set_up(1);
  for (const auto& one : {request(hipFileBatchRead, from.handle(), buffer.data(), 4096),
                          request(hipFileBatchWrite, to.handle(), buffer.data(), 4096)}) {
    EXPECT_CODE(hipFileSuccess, submit({one}));
    const hipFileIOEvents_t event = collect(1, 1).at(1);
    EXPECT_EQ(hipFileComplete, event.status);
    EXPECT_EQ(4096u, event.ret);
  }
  EXPECT_EQ("", first_difference(read_file(to.path()), make_pattern(4096, 1)));
}

TEST_F(BatchTest, ReadsAndWritesOfEveryMemory) {
  for (const MemoryKind kind :
       {MemoryKind::kDevice, MemoryKind::kPinned, MemoryKind::kManaged, MemoryKind::kHost}) {
    RegisteredFile from(file("from"), 4 * kMiB, 1);
    RegisteredFile to(file("to"), 0, 0);
    Buffer buffer(4 * kMiB, kind);
    buffer.fill(0);
    set_up(8);
    std::vector<hipFileIOParams_t> reads, writes;
    for (uintptr_t at = 0; at < 4; ++at) {
      const auto offset = hoff_t(at * kMiB);
      reads.push_back(
          request(hipFileBatchRead, from.handle(), buffer.data(), kMiB, offset, offset, at + 1));
      writes.push_back(
          request(hipFileBatchWrite, to.handle(), buffer.data(), kMiB, offset, offset, at + 1));
    }
    EXPECT_CODE(hipFileSuccess, submit(reads));
    auto events = collect(4, 8);
    ASSERT_EQ(4u, events.size());
    for (const auto& [cookie, event] : events) {
      EXPECT_EQ(hipFileComplete, event.status);
      EXPECT_EQ(kMiB, event.ret);
    }
    EXPECT_EQ("", first_difference(buffer.get(), make_pattern(4 * kMiB, 1)));
    EXPECT_CODE(hipFileSuccess, submit(writes));
    events = collect(4, 8);
    EXPECT_EQ(4u, events.size());
    EXPECT_EQ("", first_difference(read_file(to.path()), make_pattern(4 * kMiB, 1)));
    hipFileBatchIODestroy(batch_);
    batch_ = nullptr;
    hipFileHandleDeregister(from.handle());
    hipFileHandleDeregister(to.handle());
  }
}

TEST_F(BatchTest, ShortReadIsComplete) {
  RegisteredFile f(file("f"), 5000, 1);
  Buffer buffer(8192);
  set_up(2);
  EXPECT_CODE(hipFileSuccess,
              submit({request(hipFileBatchRead, f.handle(), buffer.data(), 8192, 0, 0, 1),
                      request(hipFileBatchRead, f.handle(), buffer.data(), 0, 0, 0, 2)}));
  auto events = collect(2, 2);
  EXPECT_EQ(hipFileComplete, events[1].status);
  EXPECT_EQ(5000u, events[1].ret);
  EXPECT_EQ(hipFileComplete, events[2].status);
  EXPECT_EQ(0u, events[2].ret);
}

TEST_F(BatchTest, CanSubmitAfterCancel) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  set_up(1);
  const auto read = request(hipFileBatchRead, f.handle(), buffer.data(), 4096);
  EXPECT_CODE(hipFileSuccess, submit({read}));
  EXPECT_EQ(1u, collect(1, 1).size());
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOCancel(batch_));
  EXPECT_CODE(hipFileSuccess, submit({read}));
  EXPECT_EQ(1u, collect(1, 1).size());
}

TEST_F(BatchTest, SmallEventBufferReturnsTheRestLater) {
  RegisteredFile f(file("f"), 8192, 1);
  Buffer buffer(8192);
  set_up(4);
  const std::vector<hipFileIOParams_t> reads = slices(f.handle(), buffer, 4);
  EXPECT_CODE(hipFileSuccess, submit(reads));
  EXPECT_CODE(hipFileBatchFull, submit({reads[0]}));  // a slot is taken until its event is fetched
  std::set<uintptr_t> seen;
  while (seen.size() < 4) {
    const auto events = collect(1, 2);
    ASSERT_FALSE(events.empty());
    for (const auto& [cookie, event] : events) EXPECT_TRUE(seen.insert(cookie).second);
  }
  EXPECT_TRUE(collect(1, 2).empty());
}

TEST_F(BatchTest, TimeoutsAndPolling) {
  RegisteredFile f(file("f"), 64 * kMiB, 1);
  Buffer buffer(64 * kMiB);
  set_up(4);
  timespec poll = {0, 0};
  EXPECT_TRUE(collect(4, 4, &poll).empty());
  EXPECT_CODE(hipFileSuccess, submit(slices(f.handle(), buffer, 4)));
  timespec soon = {0, 1000};
  size_t count = collect(4, 4, &soon).size();
  timespec late = {60, 0};
  count += collect(4, 4, &late).size();
  EXPECT_EQ(4u, count);
}

TEST_F(BatchTest, FailureIsToldInTheEvent) {
  RegisteredFile f(file("f"), 0, 0);
  Buffer buffer(8192);
  buffer.fill(1);
  set_up(1);
  rlimit before = {};
  ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {100, before.rlim_max};
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
  EXPECT_CODE(hipFileSuccess,
              submit({request(hipFileBatchWrite, f.handle(), buffer.data(), 4095, 101)}));
  const auto events = collect(1, 1);
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
  (void)std::signal(SIGXFSZ, old);
  ASSERT_EQ(1u, events.size());
  EXPECT_EQ(hipFileFailed, events.at(1).status);
  EXPECT_EQ(static_cast<size_t>(-EFBIG), events.at(1).ret);
}

TEST_F(BatchTest, CancelLeavesWhatHasNotBegunUntouched) {
  constexpr size_t kCount = 64;
  RegisteredFile f(file("f"), 8 * kMiB, 1);
  std::vector<std::unique_ptr<Buffer>> buffers;
  set_up(kCount);
  std::vector<hipFileIOParams_t> reads;
  for (uintptr_t at = 0; at < kCount; ++at) {
    buffers.push_back(std::make_unique<Buffer>(8 * kMiB));
    buffers.back()->fill(0xee);
    reads.push_back(
        request(hipFileBatchRead, f.handle(), buffers.back()->data(), 8 * kMiB, 0, 0, at + 1));
  }
  EXPECT_CODE(hipFileSuccess, submit(reads));
  EXPECT_CODE(hipFileSuccess, hipFileBatchIOCancel(batch_));
  const auto events = collect(kCount, kCount);
  ASSERT_EQ(kCount, events.size());
  size_t cancelled = 0;
  for (uintptr_t at = 0; at < kCount; ++at) {
    const hipFileIOEvents_t& event = events.at(at + 1);
    if (event.status == hipFileCanceled) {
      ++cancelled;
      EXPECT_EQ(0u, event.ret);
      EXPECT_EQ("", first_difference(buffers[at]->get(), std::vector<uint8_t>(8 * kMiB, 0xee)));
    } else {
      EXPECT_EQ(hipFileComplete, event.status);
      EXPECT_EQ("", first_difference(buffers[at]->get(), make_pattern(8 * kMiB, 1)));
    }
  }
  EXPECT_GT(cancelled, 0u);
}

TEST_F(BatchTest, DestroyWithRequestsInFlight) {
  RegisteredFile f(file("f"), 8 * kMiB, 1);
  Buffer buffer(64 * kMiB);
  EXPECT_CODE(hipFileSuccess, hipFileBufRegister(buffer.data(), 64 * kMiB, 0));
  for (int round = 0; round < 10; ++round) {
    set_up(16);
    EXPECT_CODE(hipFileSuccess, submit(slices(f.handle(), buffer, 16)));
    hipFileBatchIODestroy(batch_);
    batch_ = nullptr;
  }
  EXPECT_CODE(hipFileSuccess, hipFileBufDeregister(buffer.data()));
}

TEST_F(BatchTest, ClosingTheDriverEndsBatches) {
  set_up(1);
  EXPECT_CODE(hipFileSuccess, hipFileDriverOpen());
  EXPECT_CODE(hipFileSuccess, hipFileDriverClose());
  hipFileIOEvents_t event;
  unsigned nr = 1;
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(batch_, 0, &nr, &event, nullptr));
  RegisteredFile f(file("f"), 8 * kMiB, 1);
  Buffer buffer(64 * kMiB);
  set_up(16);
  EXPECT_CODE(hipFileSuccess, submit(slices(f.handle(), buffer, 16)));
  close_library();
  EXPECT_CODE(hipFileInvalidValue, hipFileBatchIOGetStatus(batch_, 0, &nr, &event, nullptr));
}

TEST_F(BatchTest, DestroyWakesWhoWaits) {
  RegisteredFile f(file("f"), 64 * kMiB, 1);
  Buffer buffer(64 * kMiB);
  set_up(8);
  EXPECT_CODE(hipFileSuccess, submit(slices(f.handle(), buffer, 8)));
  std::thread waiter([this] {
    std::vector<hipFileIOEvents_t> events(8);
    unsigned nr = 8;
    const hipFileError_t error = hipFileBatchIOGetStatus(batch_, 8, &nr, events.data(), nullptr);
    EXPECT_TRUE(error.err == hipFileSuccess || error.err == hipFileInvalidValue);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  hipFileBatchIODestroy(batch_);
  waiter.join();
  batch_ = nullptr;
}

TEST_F(BatchTest, FilesDirectionsAndDevicesMix) {
  int devices = 0;
  ASSERT_EQ(hipSuccess, hipGetDeviceCount(&devices));
  RegisteredFile a(file("a"), kMiB, 1), b(file("b"), 0, 0);
  Buffer zero(kMiB);
  ASSERT_EQ(hipSuccess, hipSetDevice(devices - 1));
  Buffer last(kMiB);
  ASSERT_EQ(hipSuccess, hipSetDevice(0));
  last.set(make_pattern(kMiB, 2));
  zero.fill(0);
  set_up(2);
  EXPECT_CODE(hipFileSuccess,
              submit({request(hipFileBatchRead, a.handle(), zero.data(), kMiB),
                      request(hipFileBatchWrite, b.handle(), last.data(), kMiB, 0, 0, 2)}));
  EXPECT_EQ(2u, collect(2, 2).size());
  EXPECT_EQ("", first_difference(zero.get(), make_pattern(kMiB, 1)));
  EXPECT_EQ("", first_difference(read_file(b.path()), make_pattern(kMiB, 2)));
}

}  // namespace
}  // namespace hipfile::test
