// SPDX-License-Identifier: MIT
#include "busy.h"

#include <algorithm>
#include <string>
#include <thread>

// The driver wants a zero behind the text.
asm(R"(
  .pushsection .rodata
  .hidden ais_bench_busy_image
  .globl ais_bench_busy_image
ais_bench_busy_image:
  .incbin ")" AIS_BENCH_BUSY_IMAGE R"("
  .byte 0
  .popsection
)");
extern "C" const char ais_bench_busy_image[];

namespace ais_bench {
namespace {

constexpr unsigned kThreads = 1024;        // of a block
constexpr int64_t kMost = 10'000'000'000;  // nanoseconds: what never ends would lock the device
constexpr char kNoKernel[] = "no kernel can run here, so that --busy has nothing to measure";

}  // namespace

template <class Call>
void BusyKernel::find(const char* name, Call* call) const {
  void* found = nullptr;
  device_.check(device_.hip().GetProcAddress(name, &found, HIP_VERSION, 0, nullptr), kNoKernel);
  *call = reinterpret_cast<Call>(found);
}

uint32_t BusyKernel::attribute(hipDeviceAttribute_t attribute) const {
  int value = 0;
  if (device_.hip().DeviceGetAttribute == nullptr) fail(kNoKernel);
  device_.check(device_.hip().DeviceGetAttribute(&value, attribute, device_.ordinal()), kNoKernel);
  return static_cast<uint32_t>(value);
}

volatile uint32_t* BusyKernel::signals() const {
  return reinterpret_cast<volatile uint32_t*>(signals_.data());
}

BusyKernel::BusyKernel(const Device& device)
    : device_(device),
      signals_(device, Memory::Kind::kPinned, 2 * sizeof(uint32_t)),
      stream_(device, 1) {
  find("hipModuleLoadData", &calls_.load);
  find("hipModuleUnload", &calls_.unload);
  find("hipModuleGetFunction", &calls_.get_function);
  find("hipModuleLaunchKernel", &calls_.launch);
  device.check(calls_.load(&module_, ais_bench_busy_image), kNoKernel);
  device.check(calls_.get_function(&kernel_, module_, "ais_bench_busy"), kNoKernel);
  blocks_ = std::max(1u, attribute(hipDeviceAttributeMultiprocessorCount) *
                             attribute(hipDeviceAttributeMaxThreadsPerMultiProcessor) / kThreads);
  signals()[0] = 0;
  signals()[1] = 0;
}

BusyKernel::~BusyKernel() { device_.check(calls_.unload(module_), "cannot unload the kernel"); }

void BusyKernel::start() {
  void* signals = signals_.data();
  int64_t most = kMost;
  ++number_;
  void* parameters[] = {&signals, &number_, &most};
  device_.check(
      calls_.launch(kernel_, blocks_, 1, 1, kThreads, 1, 1, 0, stream_[0], parameters, nullptr),
      "cannot launch the kernel");
  const int64_t end = monotonic_ns() + kMost;
  while (this->signals()[0] != number_) {
    if (monotonic_ns() > end) fail("the kernel does not begin");
    std::this_thread::yield();
  }
}

void BusyKernel::stop() {
  const bool is_running = device_.hip().StreamQuery(stream_[0]) == hipErrorNotReady;
  signals()[1] = number_;
  device_.check(device_.hip().StreamSynchronize(stream_[0]), "the kernel failed");
  if (!is_running) fail("the kernel ended before the run beside it");
}

Work beside_kernel(const Work& quiet, BusyKernel& kernel) {
  Work work = quiet;
  work.name += ", beside a kernel";
  work.run = [run = quiet.run, &kernel] {
    kernel.start();
    const Sample sample = run();
    kernel.stop();
    return sample;
  };
  return work;
}

}  // namespace ais_bench
