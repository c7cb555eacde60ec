// SPDX-License-Identifier: MIT
//
// What the tests of virtual memory share: reservations and memory that go at the end of a test.
#pragma once

#include "hip_test.h"

namespace hip_test {

constexpr size_t kGrain = 2 * kMiB;

inline hipMemAllocationProp on_device(int device) {
  hipMemAllocationProp properties{};
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, device};
  return properties;
}

inline hipMemGenericAllocationHandle_t create(size_t size, int device = 0) {
  const hipMemAllocationProp properties = on_device(device);
  hipMemGenericAllocationHandle_t handle = nullptr;
  EXPECT_HIP(hipSuccess, hipMemCreate(&handle, size, &properties, 0));
  return handle;
}

inline hipError_t allow(void* pointer, size_t size, hipMemAccessFlags flags, int device = 0) {
  const hipMemAccessDesc access{{hipMemLocationTypeDevice, device}, flags};
  return hipMemSetAccess(pointer, size, &access, 1);
}

inline size_t free_bytes() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_HIP(hipSuccess, hipMemGetInfo(&free, &total));
  return free;
}

// A reservation; what is mapped in it is unmapped at the end of the test.
class Reservation {
 public:
  explicit Reservation(size_t size) : size_(size) {
    void* start = nullptr;
    EXPECT_HIP(hipSuccess, hipMemAddressReserve(&start, size, 0, nullptr, 0));
    start_ = static_cast<char*>(start);
  }
  ~Reservation() {
    for (size_t at = 0; at < size_; at += kGrain) {
      for (size_t size = kGrain; size <= size_ - at; size += kGrain) {
        if (hipMemUnmap(start_ + at, size) == hipSuccess) break;
      }
    }
    EXPECT_HIP(hipSuccess, hipMemAddressFree(start_, size_));
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  char* at(size_t offset = 0) const { return start_ + offset; }

  // Memory of its own, which goes when it is unmapped.
  void fill_in(size_t offset, hipMemAccessFlags access = hipMemAccessFlagsProtReadWrite) const {
    const hipMemGenericAllocationHandle_t handle = create(kGrain);
    EXPECT_HIP(hipSuccess, hipMemMap(at(offset), kGrain, 0, handle, 0));
    EXPECT_HIP(hipSuccess, hipMemRelease(handle));
    EXPECT_HIP(hipSuccess, allow(at(offset), kGrain, access));
  }

 private:
  size_t size_;
  char* start_ = nullptr;
};

class HipVirtual : public testing::Test {
 protected:
  void SetUp() override { before_ = free_bytes(); }
  void TearDown() override {
    (void)hipSetDevice(0);
    expect_taken(0, "memory is lost");
  }
  // Of the current device's memory since the test began. On a GPU the driver takes some for itself
  // now and then, and so do other programs.
  void expect_taken(size_t bytes, const char* what = "") const {
    if (is_on_gpu()) return;
    EXPECT_EQ(before_ - free_bytes(), bytes) << what;
  }

  size_t before_ = 0;
};

}  // namespace hip_test
