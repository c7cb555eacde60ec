// SPDX-License-Identifier: MIT
//
// A device of NVIDIA's driver that is lost in the middle of a program: from some call on, every
// call of the driver answers the same error. Each call here hands it on, none hangs or crashes, and
// no context is left current. Only the fake driver can be told to lose its device.

#include "cuda_device_fixture.h"

// What stands in a stream of a lost device is never run, and so never freed.
// Visible, else the sanitizer's library does not find it.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:CudaStream::host_function";
}

namespace hip_portable::cuda::test {
namespace {

constexpr Result kEccUncorrectable = 214;

class CudaLostTest : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    void* handle = dlopen(library(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(handle, nullptr);
    lose_ = reinterpret_cast<void (*)(long, Result)>(dlsym(handle, "fakeCudaLose"));
    is_lost_ = reinterpret_cast<int (*)()>(dlsym(handle, "fakeCudaIsLost"));
    dlclose(handle);
    if (lose_ == nullptr) GTEST_SKIP() << "only the fake driver can be told";
  }
  void TearDown() override {
    if (lose_ != nullptr) lose_(0, kSuccess);
    CudaDeviceTest::TearDown();
  }

  // One call of every kind. What an earlier one did not make is left out.
  void program(Device& device) {
    void* memory = nullptr;
    void* pinned = nullptr;
    take(device.allocate(4096, hipDeviceMallocDefault, &memory));
    take(device.allocate_host(4096, 0, &pinned));
    std::unique_ptr<DeviceStream> stream;
    std::unique_ptr<DeviceEvent> event;
    take(device.create_stream(hipStreamNonBlocking, 0, &stream));
    take(device.create_event(hipEventDefault, &event));
    if (memory != nullptr && pinned != nullptr) {
      PointerInfo info;
      take(device.describe(memory, &info));
      take(device.copy(memory, pinned, 4096));
    }
    if (memory != nullptr && pinned != nullptr && stream != nullptr && event != nullptr) {
      auto* const descriptor = static_cast<hipPortableIndirectCopy_t*>(pinned);
      *descriptor = {memory, static_cast<char*>(pinned) + 64, 64, nullptr, 0};
      take(stream->copy(memory, pinned, 4096, false));
      take(stream->copy_indirect(descriptor));
      take(stream->fill(memory, 1, 16));
      take(stream->write_value(pinned, 1, ValueWidth::k32));
      ValueWait wait;
      wait.address = pinned;
      wait.value = 1;
      take(stream->wait_value(wait));
      take(stream->host_function([] {}));
      take(event->record(*stream));
      take(event->synchronize());
      take(stream->synchronize());
      take(stream->query());
    }
    take(device.synchronize());
    std::size_t free = 0;
    std::size_t total = 0;
    take(device.memory_info(&free, &total));
    if (memory != nullptr) take(device.release(memory));
    if (pinned != nullptr) take(device.release_host(pinned));
  }

  // Before the loss all goes well, afterwards nothing that asks the driver does.
  void take(hipError_t error) {
    const bool was_lost = is_lost_() != 0;
    EXPECT_TRUE(error == hipSuccess || error == hipErrorECCNotCorrectable) << error;
    EXPECT_TRUE(error == hipSuccess || was_lost) << error;
    failures_ += error != hipSuccess ? 1 : 0;
  }

  void (*lose_)(long, Result) = nullptr;
  int (*is_lost_)() = nullptr;
  int failures_ = 0;
};

TEST_F(CudaLostTest, EachCallFailsCleanlyFromWhicheverOn) {
  constexpr long kMost = 500;
  long calls = 0;
  for (; calls < kMost; ++calls) {
    hipError_t error = hipErrorUnknown;
    const std::vector<std::unique_ptr<Device>> fresh = make_cuda_devices(&error);
    ASSERT_EQ(error, hipSuccess);
    lose_(calls, kEccUncorrectable);
    failures_ = 0;
    program(*fresh.front());
    const bool was_lost = is_lost_() != 0;
    // A loss that only the last clean-up or the loading of the kernel met shows in no answer.
    EXPECT_TRUE(was_lost || failures_ == 0);
    lose_(0, kSuccess);
    if (!was_lost) break;
  }
  EXPECT_GT(calls, 20);
  EXPECT_LT(calls, kMost);
}

}  // namespace
}  // namespace hip_portable::cuda::test
