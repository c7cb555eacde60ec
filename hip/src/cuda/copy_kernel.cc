// SPDX-License-Identifier: MIT
//
// Loading and launching the late-bound copy. Its PTX lies in the library as it was committed.

#include "copy_kernel.h"

// The driver wants a zero behind the text.
asm(R"(
  .pushsection .rodata
  .hidden hip_portable_copy_image
  .globl hip_portable_copy_image
hip_portable_copy_image:
  .incbin ")" HIP_PORTABLE_COPY_IMAGE R"("
  .byte 0
  .popsection
)");
extern "C" const char hip_portable_copy_image[];

namespace hip_portable::cuda {
namespace {

// More are slower over the link, one is not enough.
constexpr unsigned kBlocks = 2;
constexpr unsigned kThreads = 1024;
constexpr unsigned kNonBlocking = 1;

}  // namespace

Result CopyKernel::load(const Driver& driver) {
  Module module = nullptr;
  load_result_ = driver.module_load_data(&module, hip_portable_copy_image);
  if (load_result_ == kSuccess) {
    load_result_ =
        driver.module_get_function(&function_, module, "hip_portable_indirect_copy");
  }
  if (load_result_ == kSuccess) load_result_ = run_once(driver);
  return load_result_;
}

// Drivers put code onto the device when it is first launched, unless they are told otherwise.
Result CopyKernel::run_once(const Driver& driver) {
  Stream stream = nullptr;
  Result result = driver.stream_create(&stream, kNonBlocking, 0);
  if (result != kSuccess) return result;
  result = queue(driver, stream, nullptr);
  const Result finished = driver.stream_synchronize(stream);
  const Result destroyed = driver.stream_destroy(stream);
  if (result == kSuccess) result = finished;
  return result == kSuccess ? destroyed : result;
}

Result CopyKernel::launch(const Driver& driver, Stream stream,
                          const hipPortableIndirectCopy_t* descriptor) {
  return load_result_ == kSuccess ? queue(driver, stream, descriptor) : load_result_;
}

// The number tells the launches in flight apart; see the kernel.
Result CopyKernel::queue(const Driver& driver, Stream stream,
                         const hipPortableIndirectCopy_t* descriptor) {
  std::uint32_t launch = launches_.fetch_add(1, std::memory_order_relaxed);
  void* parameters[] = {&descriptor, &launch};
  return driver.launch_kernel(function_, kBlocks, 1, 1, kThreads, 1, 1, 0, stream, parameters,
                              nullptr);
}

}  // namespace hip_portable::cuda
