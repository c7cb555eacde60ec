// SPDX-License-Identifier: MIT
#include "device.h"

#include "measure.h"

namespace ais_bench {

Device::Device(int ordinal) : ordinal_(ordinal) {
  const auto bound = hipfile::gpu::bind();
  if (!bound.ok()) fail("cannot use a GPU runtime: " + hipfile::gpu::bind_failure());
  runtime_ = bound.value();
  check(hip().Init(0), "cannot use a GPU");
  make_current();
  const auto ask = hip().PortableDeviceIsEmulated;
  is_emulated_ = ask != nullptr && ask(ordinal) == 1;
}

void Device::check(hipError_t error, const char* what) const {
  if (error == hipSuccess) return;
  const char* name = hip().GetErrorName(error);
  fail(std::string(what) + ": " + (name != nullptr ? name : "an unknown HIP error"));
}

void Device::make_current() const { check(hip().SetDevice(ordinal_), "cannot use the device"); }

std::string Device::name() const {
  char name[256] = "";
  check(hip().DeviceGetName(name, sizeof name, ordinal_), "the device has no name");
  return name;
}

Memory::Memory(const Device& device, Kind kind, size_t size)
    : device_(device), kind_(kind), size_(size) {
  if (kind == Kind::kDevice) {
    device.check(device.hip().Malloc(&data_, size), "cannot allocate device memory");
  } else {
    device.check(device.hip().HostMalloc(&data_, size, hipHostMallocPortable),
                 "cannot allocate pinned memory");
  }
}

Memory::~Memory() {
  device_.check(kind_ == Kind::kDevice ? device_.hip().Free(data_) : device_.hip().HostFree(data_),
                "cannot free memory");
}

Streams::Streams(const Device& device, unsigned count) : device_(device), streams_(count) {
  for (hipStream_t& stream : streams_) {
    device.check(device.hip().StreamCreateWithFlags(&stream, hipStreamNonBlocking),
                 "cannot make a stream");
  }
}

Streams::~Streams() {
  for (hipStream_t stream : streams_) {
    device_.check(device_.hip().StreamDestroy(stream), "cannot destroy a stream");
  }
}

void Streams::copy(size_t index, void* to, const void* from, size_t size,
                   hipMemcpyKind kind) const {
  device_.check(device_.hip().MemcpyAsync(to, from, size, kind, streams_[index]), "cannot copy");
  device_.check(device_.hip().StreamSynchronize(streams_[index]), "a copy failed");
}

}  // namespace ais_bench
