// SPDX-License-Identifier: MIT
// Buffers of tests, by the HIP runtime that the test program is linked to.
#include "device_buffer.h"

#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hipfile::test {
namespace {

void must(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "test support: %s: %s\n", what, hipGetErrorString(error));
  std::abort();
}

bool is_host_visible(MemoryKind kind) { return kind != MemoryKind::kDevice; }

}  // namespace

const char* memory_kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return "Device";
    case MemoryKind::kPinned:
      return "Pinned";
    case MemoryKind::kManaged:
      return "Managed";
    case MemoryKind::kHost:
      return "Host";
  }
  return "?";
}

Buffer::Buffer(size_t size, MemoryKind kind) : size_(size), kind_(kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      must(hipMalloc(&data_, size), "hipMalloc");
      break;
    case MemoryKind::kPinned:
      must(hipHostMalloc(&data_, size, hipHostMallocDefault), "hipHostMalloc");
      break;
    case MemoryKind::kManaged:
      must(hipMallocManaged(&data_, size, hipMemAttachGlobal), "hipMallocManaged");
      break;
    case MemoryKind::kHost:
      data_ = std::malloc(size);
      if (data_ == nullptr) must(hipErrorOutOfMemory, "malloc");
      break;
  }
}

Buffer::~Buffer() {
  switch (kind_) {
    case MemoryKind::kDevice:
    case MemoryKind::kManaged:
      (void)hipFree(data_);
      break;
    case MemoryKind::kPinned:
      (void)hipHostFree(data_);
      break;
    case MemoryKind::kHost:
      std::free(data_);
      break;
  }
}

void Buffer::set(const std::vector<uint8_t>& bytes, size_t offset) {
  if (bytes.empty()) return;
  if (is_host_visible(kind_)) {
    std::memcpy(at(offset), bytes.data(), bytes.size());
  } else {
    must(hipMemcpy(at(offset), bytes.data(), bytes.size(), hipMemcpyHostToDevice), "hipMemcpy");
  }
}

void Buffer::fill(uint8_t value) {
  if (is_host_visible(kind_)) {
    std::memset(data_, value, size_);
  } else {
    must(hipMemset(data_, value, size_), "hipMemset");
    must(hipDeviceSynchronize(), "hipDeviceSynchronize");
  }
}

std::vector<uint8_t> Buffer::get(size_t offset, size_t size) const {
  std::vector<uint8_t> bytes(size);
  if (size == 0) return bytes;
  if (is_host_visible(kind_)) {
    std::memcpy(bytes.data(), at(offset), size);
  } else {
    must(hipMemcpy(bytes.data(), at(offset), size, hipMemcpyDeviceToHost), "hipMemcpy");
  }
  return bytes;
}

}  // namespace hipfile::test
