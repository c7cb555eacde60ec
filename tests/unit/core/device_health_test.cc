// SPDX-License-Identifier: MIT
#include "gpu/device_health.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>

#include "gpu/loader.h"

namespace hipfile {
namespace {

std::atomic<int> answers{0};
std::atomic<hipError_t> next_answer{hipSuccess};

gpu::HipTable answering() {
  gpu::HipTable hip;
  hip.PeekAtLastError = [] { return hipSuccess; };
  hip.GetDevice = [](int* device) { return *device = 0, hipSuccess; };
  hip.MemGetInfo = [](size_t*, size_t*) {
    const hipError_t answer = next_answer;
    ++answers;
    return answer;
  };
  return hip;
}

// Asks until the device has answered once more.
void ask(DeviceHealth& health, const gpu::Runtime& runtime, hipError_t answer) {
  const int before = answers;
  next_answer.store(answer);
  health.ask(runtime, 0);
  while (answers == before) sched_yield();
}

TEST(DeviceHealth, OneErrorMayPassAndThreeInARowAreALoss) {
  static auto& runtime = *new gpu::Runtime;  // the thread that asks never ends
  static auto& health = *new DeviceHealth;
  runtime.hip = answering();
  ASSERT_TRUE(health.start_thread());
  ask(health, runtime, hipErrorUnknown);
  ask(health, runtime, hipErrorUnknown);
  ask(health, runtime, hipSuccess);
  ask(health, runtime, hipErrorUnknown);
  ask(health, runtime, hipErrorUnknown);
  EXPECT_FALSE(health.is_lost(runtime, 0));
  ask(health, runtime, hipErrorUnknown);
  while (!health.is_lost(runtime, 0)) sched_yield();
}

}  // namespace
}  // namespace hipfile
