// SPDX-License-Identifier: MIT
//
// Calls of a program that wait for the streams of the device, and keep the copies of other threads
// out meanwhile: what NVIDIA's driver does, and HIP_PORTABLE_HAZARDS=1 plays.
#pragma once

#include <unistd.h>

#include <vector>

#include "async_fixture.h"
#include "kernels.h"

namespace hipfile::test {

struct Disturbance {
  const char* name;
  void (*call)();
};

inline void disturb_by_free() {
  void* memory = nullptr;
  EXPECT_EQ(hipSuccess, hipMalloc(&memory, 4096));
  EXPECT_EQ(hipSuccess, hipFree(memory));
}

inline void disturb_by_host_free() {
  void* memory = nullptr;
  EXPECT_EQ(hipSuccess, hipHostMalloc(&memory, 4096, 0));
  EXPECT_EQ(hipSuccess, hipHostFree(memory));
}

inline void disturb_by_unregister() {
  std::vector<uint8_t> memory(8192);
  EXPECT_EQ(hipSuccess, hipHostRegister(memory.data(), memory.size(), 0));
  EXPECT_EQ(hipSuccess, hipHostUnregister(memory.data()));
}

// Refused where the device runs no code, after it has waited.
inline void disturb_by_module() { const Kernels loaded_and_unloaded; }

// Drivers place code when it is first launched.
inline void disturb_by_first_launch() {
  const Kernels kernels;
  if (!kernels.are_there()) return;
  const TestStream stream;
  Buffer memory(4096);
  kernels.fill(memory.data(), memory.size(), 1, 0, stream);
}

inline void disturb_by_copy() {
  static thread_local Buffer buffer(4096);
  (void)buffer.get();
}

inline void disturb_by_waiting() { EXPECT_EQ(hipSuccess, hipDeviceSynchronize()); }

const Disturbance kDisturbances[] = {{"Free", &disturb_by_free},
                                     {"HostFree", &disturb_by_host_free},
                                     {"HostUnregister", &disturb_by_unregister},
                                     {"ModuleLoad", &disturb_by_module},
                                     {"FirstLaunch", &disturb_by_first_launch},
                                     {"Copy", &disturb_by_copy},
                                     {"DeviceSynchronize", &disturb_by_waiting}};

// What hangs ends the program.
class TimeLimited : public ApiTest {
 protected:
  static constexpr unsigned kTimeLimit = 120;  // seconds

  void SetUp() override {
    ApiTest::SetUp();
    alarm(kTimeLimit);
  }
  void TearDown() override {
    alarm(0);
    ApiTest::TearDown();
  }
};

}  // namespace hipfile::test
