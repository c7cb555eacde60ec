// SPDX-License-Identifier: MIT
//
// The bad habits of drivers that HIP_PORTABLE_HAZARDS=1 plays, one by one. Without that setting the
// same tests show that the emulated device has none of them.

#include <functional>
#include <memory>

#include "hip_test.h"

namespace {

using namespace hip_test;

constexpr size_t kMostOperations = 1020;
constexpr std::chrono::seconds kTimeLimit{60};  // after which a call counts as hung

// Until it is true, or as long as what hangs.
template <typename Condition>
bool becomes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kTimeLimit;
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

// Runs `call` on a thread of its own and knows whether it has returned.
class Caller {
 public:
  explicit Caller(std::function<void()> call)
      : thread_([this, call = std::move(call)] {
          call();
          has_returned_ = true;
        }) {}
  ~Caller() { join(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  bool has_returned() const { return has_returned_.load(); }
  bool returns() const {
    return becomes_true([this] { return has_returned(); });
  }

 private:
  std::atomic<bool> has_returned_{false};
  std::thread thread_;
};

// ---- Calls that drain the device

struct Draining {
  const char* name;
  void (*call)();
  bool waits_always;  // for the stream, in every mode
};

void free_device() {
  void* memory = nullptr;
  EXPECT_HIP(hipSuccess, hipMalloc(&memory, 64));
  EXPECT_HIP(hipSuccess, hipFree(memory));
}
void free_pinned() {
  void* memory = nullptr;
  EXPECT_HIP(hipSuccess, hipHostMalloc(&memory, 64));
  EXPECT_HIP(hipSuccess, hipHostFree(memory));
}
void unregister() {
  alignas(4096) static char memory[4096];
  EXPECT_HIP(hipSuccess, hipHostRegister(memory, sizeof(memory), hipHostRegisterDefault));
  EXPECT_HIP(hipSuccess, hipHostUnregister(memory));
}
void load_module() {
  hipModule_t module = nullptr;
  EXPECT_NE(hipModuleLoadData(&module, "code"), hipSuccess);
}
void copy() {
  char from = 1;
  char to = 0;
  EXPECT_HIP(hipSuccess, hipMemcpy(&to, &from, 1, hipMemcpyHostToHost));
}

constexpr Draining kDraining[] = {
    {"Free", &free_device, true},          {"HostFree", &free_pinned, true},
    {"HostUnregister", &unregister, true}, {"ModuleLoad", &load_module, false},
    {"SynchronousCopy", &copy, false},
};

class HipHazards : public testing::TestWithParam<Draining> {};

TEST_P(HipHazards, Rule9_Rule29_DrainingCallKeepsCopiesOfOtherThreadsOut) {
  const TestStream held(hipStreamNonBlocking);
  const TestStream other(hipStreamNonBlocking);
  const PinnedBuffer from(64);
  const PinnedBuffer to(64);
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(held.get()));
  const Caller drain(GetParam().call);
  // Whether a driver looks at an image before it waits is its own affair.
  const bool is_open = is_on_nvidia() && GetParam().call == &load_module;
  if (GetParam().waits_always || has_hazards()) {
    let_others_run();
    EXPECT_FALSE(drain.has_returned());
  } else if (!is_open) {
    EXPECT_TRUE(drain.returns());
  }
  std::vector<std::unique_ptr<Caller>> copiers;
  const auto copy = [&] {
    copiers.push_back(std::make_unique<Caller>([&] {
      EXPECT_HIP(hipSuccess,
                 hipMemcpyAsync(to.data(), from.data(), 64, hipMemcpyDefault, other.get()));
    }));
  };
  // Until the call has begun, copies get through.
  const auto is_kept_out = [&] {
    copy();
    let_others_run();
    return !copiers.back()->has_returned();
  };
  if (has_hazards()) {
    EXPECT_TRUE(becomes_true(is_kept_out));
  } else if (!is_open) {
    copy();
    EXPECT_TRUE(copiers.back()->returns());
  }
  gate.open();
}

INSTANTIATE_TEST_SUITE_P(, HipHazards, testing::ValuesIn(kDraining),
                         [](const auto& row) { return row.param.name; });

// ---- Order and room

// Five streams made in a row: the first and the last share one of four hardware queues.
class HipHardwareQueues : public testing::Test {
 protected:
  void SetUp() override {
    for (auto& stream : streams_) stream = std::make_unique<TestStream>(hipStreamNonBlocking);
    ASSERT_HIP(hipSuccess, gate_.close_stream(streams_[0]->get()));
  }
  bool is_idle(size_t stream) { return hipStreamQuery(streams_[stream]->get()) == hipSuccess; }
  bool becomes_idle(size_t stream) {
    return becomes_true([this, stream] { return is_idle(stream); });
  }
  hipError_t queue(hipStream_t stream) {
    return hipLaunchHostFunc(
        stream, [](void*) {}, nullptr);
  }

  std::unique_ptr<TestStream> streams_[5];
  Gate gate_;
};

TEST_F(HipHardwareQueues, Rule15_Rule29_FifthStreamWaitsForTheFirst) {
  for (auto& stream : streams_) ASSERT_HIP(hipSuccess, queue(stream->get()));
  for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(becomes_idle(i)) << i;
  if (has_hazards()) {
    let_others_run();
    EXPECT_FALSE(is_idle(4));
  } else {
    EXPECT_TRUE(becomes_idle(4));
  }
  gate_.open();
  EXPECT_TRUE(becomes_idle(4));
}

TEST_F(HipHardwareQueues, Rule15_OtherPriorityHasQueuesOfItsOwn) {
  int least = 0;
  int greatest = 0;
  ASSERT_HIP(hipSuccess, hipDeviceGetStreamPriorityRange(&least, &greatest));
  for (int i = 0; i < 5; ++i) {
    hipStream_t stream = nullptr;
    ASSERT_HIP(hipSuccess, hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest));
    EXPECT_HIP(hipSuccess, queue(stream));
    EXPECT_HIP(hipSuccess, hipStreamSynchronize(stream));
    EXPECT_HIP(hipSuccess, hipStreamDestroy(stream));
  }
}

TEST_F(HipHardwareQueues, Rule15_DestroyedStreamIsStillInOrder) {
  auto last = std::move(streams_[4]);
  std::atomic<bool> is_done{false};
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(last->get(), &set_flag, &is_done));
  last.reset();
  streams_[0].reset();
  if (has_hazards()) {
    let_others_run();
    EXPECT_FALSE(is_done.load());
  } else {
    EXPECT_TRUE(becomes_true([&] { return is_done.load(); }));
  }
  gate_.open();
  EXPECT_HIP(hipSuccess, hipDeviceSynchronize());
  EXPECT_TRUE(is_done.load());
}

TEST(HipRoom, Rule11_Rule29_StreamTakes1020OperationsAndTheNextBlocksOnlyItsCaller) {
  const TestStream stream(hipStreamNonBlocking);
  const TestStream other(hipStreamNonBlocking);
  const PinnedBuffer value(8);
  const PinnedBuffer other_value(8);
  Gate gate;
  ASSERT_HIP(hipSuccess, gate.close_stream(stream.get()));  // two operations
  std::atomic<size_t> queued{2};
  const Caller caller([&] {
    while (queued < 2 * kMostOperations) {
      EXPECT_HIP(hipSuccess, hipStreamWriteValue64(stream.get(), value.data(), 7, 0));
      ++queued;
    }
  });
  if (has_hazards()) {
    EXPECT_TRUE(becomes_true([&] { return queued >= kMostOperations; }));
    let_others_run();
    EXPECT_EQ(queued.load(), kMostOperations);
    EXPECT_FALSE(caller.has_returned());
  } else if (is_on_nvidia()) {  // takes about as many
    for (size_t before = 0; before != queued; let_others_run()) before = queued;
    EXPECT_FALSE(caller.has_returned());
  } else {
    EXPECT_TRUE(caller.returns());
  }
  EXPECT_HIP(hipSuccess, hipStreamWriteValue64(other.get(), other_value.data(), 7, 0));
  EXPECT_HIP(hipSuccess, hipMemcpyAsync(other_value.data(), other_value.data(), 8, hipMemcpyDefault,
                                        other.get()));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(other.get()));
  gate.open();
  EXPECT_TRUE(caller.returns());
}

// ---- Host functions

const bool kOneAtATime = has_hazards() || is_on_nvidia();

struct Meeting {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};

  static void attend(void* data) {
    auto& meeting = *static_cast<Meeting*>(data);
    const int now = ++meeting.inside;
    if (now > meeting.most) meeting.most = now;
    // Waits for the other, in vain where host functions run one at a time.
    if (kOneAtATime) {
      let_others_run();
    } else {
      (void)becomes_true([&] { return meeting.most >= 2; });
    }
    --meeting.inside;
  }
};

TEST(HipHostFunctions, Rule10_Rule29_RunOneAtATime) {
  const TestStream first(hipStreamNonBlocking);
  const TestStream second(hipStreamNonBlocking);
  Meeting meeting;
  const auto callback = [](hipStream_t, hipError_t, void* data) { Meeting::attend(data); };
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(first.get(), &Meeting::attend, &meeting));
  ASSERT_HIP(hipSuccess, hipStreamAddCallback(second.get(), callback, &meeting, 0));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(first.get()));
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(second.get()));
  EXPECT_EQ(meeting.most.load(), kOneAtATime ? 1 : 2);
}

TEST(HipHostFunctions, Rule10_RunOnOneThread) {
  std::thread::id seen[2];
  for (std::thread::id& id : seen) {
    const TestStream stream(hipStreamNonBlocking);
    const auto look = [](void* data) {
      *static_cast<std::thread::id*>(data) = std::this_thread::get_id();
    };
    ASSERT_HIP(hipSuccess, hipLaunchHostFunc(stream.get(), look, &id));
    ASSERT_HIP(hipSuccess, hipStreamSynchronize(stream.get()));
  }
  if (has_hazards()) {
    EXPECT_EQ(seen[0], seen[1]);
  }
}

TEST(HipHostFunctions, Rule10_OneThatStandsHoldsUpThoseOfAllStreams) {
  const TestStream first(hipStreamNonBlocking);
  const TestStream second(hipStreamNonBlocking);
  std::atomic<bool> may_go{false};
  std::atomic<bool> is_done{false};
  const auto stand = [](void* data) {
    while (!static_cast<std::atomic<bool>*>(data)->load()) std::this_thread::yield();
  };
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(first.get(), stand, &may_go));
  let_others_run();
  ASSERT_HIP(hipSuccess, hipLaunchHostFunc(second.get(), &set_flag, &is_done));
  let_others_run();
  if (kOneAtATime) {
    EXPECT_FALSE(is_done.load());
  }
  may_go = true;
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(second.get()));
  EXPECT_TRUE(is_done.load());
  EXPECT_HIP(hipSuccess, hipStreamSynchronize(first.get()));
}

}  // namespace
