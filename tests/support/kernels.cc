// SPDX-License-Identifier: MIT
#include "kernels.h"

#include <gtest/gtest.h>

#include <cstring>

// The driver wants a zero behind the text.
asm(R"(
  .pushsection .rodata
  .hidden hipfile_test_kernels
  .globl hipfile_test_kernels
hipfile_test_kernels:
  .incbin ")" HIPFILE_TEST_KERNELS R"("
  .byte 0
  .popsection
)");
extern "C" const char hipfile_test_kernels[];

namespace hipfile::test {

Kernels::Kernels() : error_(hipModuleLoadData(&module_, hipfile_test_kernels)) {
  if (error_ != hipSuccess) (void)hipGetLastError();
}

Kernels::~Kernels() {
  if (are_there()) (void)hipModuleUnload(module_);  // a reset of the device may have done it
}

std::string Kernels::why() const {
  return std::string("the device runs no code of programs: ") + hipGetErrorName(error_);
}

void Kernels::launch(const char* name, void** parameters, hipStream_t stream) const {
  constexpr unsigned kBlocks = 264, kThreads = 256;
  hipFunction_t kernel = nullptr;
  ASSERT_EQ(hipSuccess, hipModuleGetFunction(&kernel, module_, name));
  ASSERT_EQ(hipSuccess, hipModuleLaunchKernel(kernel, kBlocks, 1, 1, kThreads, 1, 1, 0, stream,
                                              parameters, nullptr));
}

void Kernels::sum(const void* bytes, size_t size, uint64_t* sum, hipStream_t stream) const {
  void* parameters[] = {&bytes, &size, &sum};
  launch("hipfile_test_sum", parameters, stream);
}

void Kernels::add(void* bytes, size_t size, uint8_t value, hipStream_t stream) const {
  uint64_t wide = value;
  void* parameters[] = {&bytes, &size, &wide};
  launch("hipfile_test_add", parameters, stream);
}

void Kernels::fill(void* bytes, size_t size, uint64_t seed, uint64_t position,
                   hipStream_t stream) const {
  void* parameters[] = {&bytes, &size, &seed, &position};
  launch("hipfile_test_fill", parameters, stream);
}

void Kernels::count_wrong(const void* bytes, size_t size, uint64_t seed, uint64_t position,
                          uint64_t* wrong, hipStream_t stream) const {
  void* parameters[] = {&bytes, &size, &seed, &position, &wrong};
  launch("hipfile_test_count_wrong", parameters, stream);
}

uint64_t number(const Buffer& result) {
  uint64_t value = 0;
  std::memcpy(&value, result.get(0, sizeof value).data(), sizeof value);
  return value;
}

}  // namespace hipfile::test
