// SPDX-License-Identifier: MIT
//
// The runtime behind a global one: this program exports a hipMalloc and a hipMemcpyAsync of its
// own, as a program does that links ROCm's library. What the portable runtime calls must be its
// own.

#include <dlfcn.h>

#include <hip/hip_runtime_api.h>

#include <gtest/gtest.h>

namespace {
int g_calls_of_the_global_one = 0;
}  // namespace

#undef hipGetDeviceProperties
#define HIP_TEST_EXPORT extern "C" __attribute__((visibility("default"), used))

HIP_TEST_EXPORT hipError_t hipMalloc(void** ptr, size_t) {
  ++g_calls_of_the_global_one;
  *ptr = nullptr;
  return hipErrorUnknown;
}

HIP_TEST_EXPORT hipError_t hipStreamIsCapturing(hipStream_t, hipStreamCaptureStatus*) {
  ++g_calls_of_the_global_one;
  return hipErrorUnknown;
}

namespace {

class BehindGlobal : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(HIP_PORTABLE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }

  template <typename Function>
  Function symbol(const char* name) {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_ = nullptr;
};

TEST_F(BehindGlobal, Rule5_ItsSymbolsAreItsOwn) {
  void* pointer = nullptr;
  const auto allocate = symbol<hipError_t (*)(void**, size_t)>("hipMalloc");
  EXPECT_EQ(allocate(&pointer, 64), hipSuccess);
  EXPECT_NE(pointer, nullptr);
  EXPECT_EQ(g_calls_of_the_global_one, 0);
}

TEST_F(BehindGlobal, Rule5_FunctionsByNameAreItsOwn) {
  void* function = nullptr;
  const auto find = symbol<decltype(&hipGetProcAddress)>("hipGetProcAddress");
  ASSERT_EQ(find("hipMalloc", &function, HIP_VERSION, 0, nullptr), hipSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(reinterpret_cast<hipError_t (*)(void**, size_t)>(function)(&pointer, 64), hipSuccess);
  EXPECT_EQ(g_calls_of_the_global_one, 0);
}

TEST_F(BehindGlobal, Rule5_CallsInsideStayInside) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  unsigned long long id = 0;
  const auto ask = symbol<decltype(&hipStreamGetCaptureInfo)>("hipStreamGetCaptureInfo");
  EXPECT_EQ(ask(nullptr, &status, &id), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  EXPECT_EQ(g_calls_of_the_global_one, 0);
}

TEST_F(BehindGlobal, Rule6_StaysAfterDlclose) {
  ASSERT_EQ(dlclose(library_), 0);
  EXPECT_NE(dlopen(HIP_PORTABLE_LIBRARY, RTLD_NOW | RTLD_NOLOAD), nullptr);
}

}  // namespace
