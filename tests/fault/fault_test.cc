// SPDX-License-Identifier: MIT
// The Nth call fails, N counted up until a run is untouched: every HIP call that an operation
// makes, and every storage operation that it queues.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "temp_dir.h"
#include "trial.h"

namespace hipfile::test {
namespace {

constexpr uint64_t kMostCalls = 400;  // more would mean that the count never ends
constexpr size_t kLarge = 5 << 18;    // five chunks
constexpr size_t kOdd = kLarge + 77;
constexpr size_t kRound = 5 << 19;   // more than the staging of a stream
constexpr size_t kParted = 5 << 20;  // of a batch: its parts are queued with the engine

constexpr Operation kRead = Operation::kRead, kWrite = Operation::kWrite;
constexpr MemoryKind kDevice = MemoryKind::kDevice, kPinned = MemoryKind::kPinned;

// Each by {fast path, bounce} x {uring, threads}, as far as it makes a difference.
// clang-format off
const Trial kTrials[] = {
    {"ReadSmall", Operation::kRead, 4096, 4096},
    {"ReadSmallUnaligned", Operation::kRead, 5000, 123, 77},
    {"ReadLargeUnaligned", Operation::kRead, kOdd, 123, 0, false, true, true},
    {"ReadSmallBounce", Operation::kRead, 5000, 123, 77, true},
    {"ReadLargeBounce", Operation::kRead, kLarge, 4096, 4096, true, true, true},
    {"ReadLargeUnalignedBounce", Operation::kRead, kOdd, 123, 77, true, false},
    {"ReadLargeHost", Operation::kRead, kOdd, 4096, 4096, false, true, false, MemoryKind::kHost},
    {"ReadLargePinned", Operation::kRead, kOdd, 123, 0, false, false, true, MemoryKind::kPinned},
    {"WriteSmall", Operation::kWrite, 4096, 4096},
    {"WriteSmallUnaligned", Operation::kWrite, 5000, 123, 77},
    {"WriteLargeUnaligned", Operation::kWrite, kOdd, 123, 0, false, true, true},
    {"WriteSmallBounce", Operation::kWrite, 5000, 123, 77, true},
    {"WriteLargeBounce", Operation::kWrite, kLarge, 1 << 20, 4096, true, true, true},
    {"WriteLargeUnalignedBounce", Operation::kWrite, kOdd, 123, 77, true, true},
    {"WriteLargeBufferedBounce", Operation::kWrite, kOdd, 123, 77, true, false},
    {"WriteManaged", Operation::kWrite, kOdd, 123, 0, false, false, false, MemoryKind::kManaged},
    {"RegisterFile", Operation::kRegisterFile},
    {"RegisterBuffer", Operation::kRegisterBuffer},
    {"Open", Operation::kOpen},
    {"Close", Operation::kClose, kLarge, 0, 0, true, true, true},
    {"RegisterStream", Operation::kRegisterStream},
    {"StreamReadSmall", kRead, 5000, 123, 77, true, true, false, kDevice, Way::kStream},
    {"StreamReadUnaligned", kRead, kOdd, 123, 77, true, false, false, kDevice, Way::kStream},
    {"StreamReadRound", kRead, kRound, 4096, 4096, true, true, true, kDevice, Way::kStream},
    {"StreamReadDirect", kRead, kLarge, 4096, 4096, false, true, true, kDevice, Way::kStream},
    {"StreamReadPinned", kRead, kOdd, 123, 0, false, true, false, kPinned, Way::kStream},
    {"StreamWriteUnaligned", kWrite, kOdd, 123, 77, true, false, false, kDevice, Way::kStream},
    {"StreamWriteRound", kWrite, kRound, 4096, 4096, true, true, true, kDevice, Way::kStream},
    {"StreamWriteDirect", kWrite, kLarge, 4096, 4096, false, true, true, kDevice, Way::kStream},
    {"BatchRead", kRead, kLarge, 4096, 4096, false, true, true, kDevice, Way::kBatch},
    {"BatchReadSmall", kRead, 50000, 123, 77, true, true, false, kDevice, Way::kBatch},
    {"BatchReadLarge", kRead, kParted, 4096, 0, true, true, true, kDevice, Way::kBatch},
    {"BatchWrite", kWrite, kLarge, 4096, 4096, false, true, true, kDevice, Way::kBatch},
    {"BatchWriteLarge", kWrite, kParted, 123, 0, true, false, false, kDevice, Way::kBatch},
    {"BatchCancelLarge", kRead, kParted, 4096, 0, true, true, true, kDevice, Way::kCancelledBatch},
};
// clang-format on

constexpr size_t kLargestInline = 1 << 20;  // beyond it requests are queued with the engine

using Case = std::tuple<const Trial*, const char*>;

// Whether the engines get to see the trial: streams and small requests do without.
bool is_queued(const Trial& trial) {
  if (trial.way == Way::kStream) return false;
  const size_t parts = trial.way == Way::kCall ? 1 : 4;
  return trial.size / parts > kLargestInline;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Trial& trial : kTrials) {
    all.emplace_back(&trial, "threads");
    if (is_queued(trial)) all.emplace_back(&trial, "uring");
  }
  return all;
}

std::vector<Case> some_cases(bool (*is_wanted)(const Trial&)) {
  std::vector<Case> all;
  for (const Case& one : cases()) {
    if (is_wanted(*std::get<0>(one))) all.push_back(one);
  }
  return all;
}

bool is_queued_transfer(const Trial& trial) { return trial.is_transfer() && is_queued(trial); }
bool is_later(const Trial& trial) { return trial.way != Way::kCall; }

// The step of a loop: HIPFILE_TEST_STRIDE for all of them (1 in the soak), else `usual`.
uint64_t stride(uint64_t usual) {
  const char* text = std::getenv("HIPFILE_TEST_STRIDE");
  return text != nullptr ? std::max(1ul, std::strtoul(text, nullptr, 10)) : usual;
}

// What many trials tell alike needs fewer of them.
uint64_t usual_stride(const Trial& trial) {
  if (trial.way == Way::kCall || trial.size <= kLargestInline) return 1;
  return trial.way == Way::kStream ? 3 : 11;
}

class FaultTest : public testing::TestWithParam<Case> {
 protected:
  Report attempt(const Fault& fault) const {
    return run_trial(trial(), fault, std::get<1>(GetParam()), dir_.file("f"));
  }

  // Counts up until nothing fails. Returns the number of faults that were met.
  template <typename MakeFault>
  uint64_t count_up(MakeFault make_fault, uint64_t step) {
    const Report untouched = attempt({});
    EXPECT_STREQ("", untouched.complaint) << "without a fault";
    for (uint64_t nth = 1; nth <= kMostCalls; nth += step) {
      const Report report = attempt(make_fault(nth));
      EXPECT_STREQ("", report.complaint) << "fault " << nth;
      EXPECT_EQ("", leak_of(report.remains, untouched.remains)) << "leaked by fault " << nth;
      if (!report.has_fired) return nth - 1;
      if (HasFailure()) return nth;
    }
    ADD_FAILURE() << "no end of it";
    return kMostCalls;
  }

  const Trial& trial() const { return *std::get<0>(GetParam()); }

  TempDir dir_;
};

hipError_t hip_code(uint64_t nth) {
  constexpr hipError_t kCodes[] = {hipErrorOutOfMemory, hipErrorInvalidValue, hipErrorUnknown,
                                   hipErrorNotReady, hipErrorNoDevice};
  return kCodes[nth % std::size(kCodes)];
}

TEST_P(FaultTest, NthHipCallFails) {
  const bool is_again = std::string(std::get<1>(GetParam())) == "uring";
  const uint64_t met = count_up(
      [](uint64_t nth) {
        return Fault{nth, hip_code(nth)};
      },
      stride(std::max<uint64_t>(is_again ? 3 : 1, usual_stride(trial()))));
  const bool must_ask = trial().is_transfer() && trial().kind == MemoryKind::kDevice &&
                        trial().way != Way::kCancelledBatch;
  EXPECT_GE(met, must_ask ? 1u : 0u);
}

TEST_P(FaultTest, AllHipCallsFailFromTheNthOn) {
  (void)count_up(
      [](uint64_t nth) {
        return Fault{nth, hip_code(nth), true};
      },
      stride(2 + usual_stride(trial())));
}

int error_code(uint64_t nth) {
  constexpr int kCodes[] = {EIO, ENOSPC, EINTR, EAGAIN};
  return kCodes[nth % std::size(kCodes)];
}

class StorageFaultTest : public FaultTest {};

TEST_P(StorageFaultTest, NthStorageOperationFails) {
  (void)count_up(
      [](uint64_t nth) {
        return Fault{0, hipSuccess, false, nth, error_code(nth)};
      },
      stride(usual_stride(trial())));
}

TEST_P(StorageFaultTest, NthStorageOperationFailsHalfWay) {
  (void)count_up(
      [](uint64_t nth) { return Fault{0, hipSuccess, false, nth, error_code(nth), true}; },
      stride(usual_stride(trial())));
}

// As if the file ended there: another process has cut it.
TEST_P(StorageFaultTest, NthStorageReadIsShort) {
  if (trial().operation != Operation::kRead) return;
  for (const bool moves_half : {false, true}) {
    (void)count_up(
        [moves_half](uint64_t nth) { return Fault{0, hipSuccess, false, nth, 0, moves_half}; },
        stride(usual_stride(trial())));
  }
}

// The same for what runs behind the call: calls fail, whoever makes them.
class LaterFaultTest : public FaultTest {
 protected:
  void count_up_calls(CallFault fault) {
    (void)count_up(
        [fault](uint64_t nth) {
          Fault made;
          made.call = fault;
          made.call.nth = nth;
          if (fault.error < 0) made.call.error = error_code(nth);
          return made;
        },
        stride(std::max<uint64_t>(2, usual_stride(trial()))));
  }
};

TEST_P(LaterFaultTest, NthStorageCallFails) { count_up_calls({0, -1, false}); }

TEST_P(LaterFaultTest, NthStorageCallFailsHalfWay) { count_up_calls({0, -1, true}); }

TEST_P(LaterFaultTest, NthStorageCallIsShort) {
  if (trial().operation != Operation::kRead) return;
  count_up_calls({0, 0, false});
  count_up_calls({0, 0, true});
}

// The storage works when the call fails: nothing does any more when it returns.
TEST_P(LaterFaultTest, NthHipCallFailsWhileStorageIsSlow) {
  if (trial().way != Way::kStream || trial().size <= kLargestInline) return;
  (void)count_up(
      [](uint64_t nth) {
        Fault fault{nth, hip_code(nth)};
        fault.call.delay_ms = 20;
        return fault;
      },
      stride(4));
}

std::string name_of(const testing::TestParamInfo<Case>& instance) {
  return std::string(std::get<0>(instance.param)->name) + "_" + std::get<1>(instance.param);
}

INSTANTIATE_TEST_SUITE_P(, FaultTest, testing::ValuesIn(cases()), name_of);
INSTANTIATE_TEST_SUITE_P(, StorageFaultTest, testing::ValuesIn(some_cases(&is_queued_transfer)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(, LaterFaultTest, testing::ValuesIn(some_cases(&is_later)), name_of);

}  // namespace
}  // namespace hipfile::test
