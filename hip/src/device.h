// SPDX-License-Identifier: MIT
//
// The seam between HIP's entry points and what is behind them: a device, its streams, its events.
// The emulated device and NVIDIA's driver both implement it. The entry points look after handles,
// arguments, ranges, the current device and the last error; an implementation gets valid objects of
// its own kind and ranges that lie inside one allocation.
//
// Everything may be called from any thread. No exceptions come out, except std::bad_alloc.
#pragma once

#include <hip/hip_portable.h>
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "virtual_memory.h"

namespace hip_portable {

// The allocation that a pointer lies in. Plain host memory: type hipMemoryTypeUnregistered and
// nothing else.
struct PointerInfo {
  hipMemoryType type = hipMemoryTypeUnregistered;
  int device = hipInvalidDeviceId;
  void* base = nullptr;            // start of the allocation or of the registered range
  std::size_t size = 0;            // from base; 0: not known, of what another library pinned
  void* device_pointer = nullptr;  // the address asked for, as the device sees it
  void* host_pointer = nullptr;    // the same for the host; null where the host has no access
  unsigned flags = 0;              // given when it was allocated or registered
};

class DeviceStream;

// Code of a program on its device. The destructor waits for what still runs of it.
class DeviceModule {
 public:
  virtual ~DeviceModule() = default;

  // What a kernel of that name is to a launch, as long as the module lives. hipErrorNotFound
  virtual hipError_t find(const char* name, void** kernel) = 0;
};

struct Launch {
  void* kernel = nullptr;  // found in a module of the stream's device
  dim3 grid{};
  dim3 block{};
  unsigned shared_bytes = 0;
  // One of the two may be given, in HIP's form; both are read before the launch returns.
  void** parameters = nullptr;
  void** extra = nullptr;
};

class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;  // does not wait

  virtual hipError_t record(DeviceStream& stream) = 0;
  // hipErrorNotReady before the last record is reached, hipSuccess if there is none.
  virtual hipError_t query() = 0;
  virtual hipError_t synchronize() = 0;
  // Time from `start` to this event. hipErrorNotReady, or hipErrorInvalidHandle where one of the
  // two was never recorded or has no timing.
  virtual hipError_t elapsed_since(DeviceEvent& start, float* milliseconds) = 0;
};

enum class ValueWidth { k32, k64 };

struct ValueWait {
  void* address = nullptr;  // aligned to the width, known to the runtime
  std::uint64_t value = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  unsigned condition = hipStreamWaitValueGte;
  ValueWidth width = ValueWidth::k32;
};

// Work in order. All but query and synchronize queue and return; sources and targets may be freed
// by the program only after the work is done.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;  // does not wait; work that is queued is still done

  // Not once its device was reset, where that ends streams.
  virtual bool is_alive() const { return true; }

  // Pageable memory may be read or written before the call returns, or later if `is_pageable` is
  // false.
  virtual hipError_t copy(void* to, const void* from, std::size_t size, bool is_pageable) = 0;
  // The descriptor lies in pinned or managed memory. hipErrorNotSupported
  virtual hipError_t copy_indirect(const hipPortableIndirectCopy_t* descriptor) = 0;
  virtual hipError_t fill(void* to, unsigned char value, std::size_t size) = 0;
  virtual hipError_t wait_event(DeviceEvent& event) = 0;
  virtual hipError_t wait_value(const ValueWait& wait) = 0;
  virtual hipError_t write_value(void* address, std::uint64_t value, ValueWidth width) = 0;
  virtual hipError_t host_function(std::function<void()> function) = 0;
  virtual hipError_t launch(const Launch& /*launch*/) { return hipErrorInvalidDeviceFunction; }

  // Whether something else than this runtime captures the stream. `id` is set while it does.
  virtual hipError_t capture_status(hipStreamCaptureStatus* status, unsigned long long* /*id*/) {
    *status = hipStreamCaptureStatusNone;
    return hipSuccess;
  }

  virtual hipError_t query() = 0;  // hipErrorNotReady while there is work
  virtual hipError_t synchronize() = 0;
};

enum class FileDirection { kRead, kWrite };

struct FileTransfer {
  FileDirection direction = FileDirection::kRead;
  int fd = -1;
  void* address = nullptr;  // any value: the device checks it
  std::uint64_t size = 0;
  std::int64_t offset = 0;
  bool takes_any_file = false;  // no rule but the system's: also through the page cache
};

class Device {
 public:
  virtual ~Device() = default;

  // ---- What it is
  virtual bool is_emulated() const = 0;
  virtual hipError_t properties(hipDeviceProp_t* properties) = 0;
  // hipErrorInvalidValue for an attribute that is unknown.
  virtual hipError_t attribute(hipDeviceAttribute_t attribute, int* value) = 0;
  virtual hipError_t driver_version(int* version) = 0;
  virtual hipError_t can_access_peer(int peer, bool* can) = 0;
  virtual hipError_t priority_range(int* least, int* greatest) = 0;
  virtual hipError_t memory_info(std::size_t* free, std::size_t* total) = 0;

  // ---- Memory. Sizes are not 0.
  virtual hipError_t allocate(std::size_t size, unsigned flags, void** pointer) = 0;
  virtual hipError_t allocate_managed(std::size_t size, unsigned flags, void** pointer) = 0;
  virtual hipError_t allocate_async(std::size_t size, DeviceStream& stream, void** pointer) = 0;
  // Waits for the device. hipErrorInvalidValue unless it is the start of an allocation of
  // allocate, allocate_managed or allocate_async, of whichever device.
  virtual hipError_t release(void* pointer) = 0;
  // The pointer is unknown at once; the memory is given back when the stream gets there.
  virtual hipError_t release_async(void* pointer, DeviceStream& stream) = 0;
  virtual hipError_t allocate_host(std::size_t size, unsigned flags, void** pointer) = 0;
  // Waits for the device. hipErrorInvalidValue unless it came from allocate_host.
  virtual hipError_t release_host(void* pointer) = 0;
  // hipErrorHostMemoryAlreadyRegistered, hipErrorInvalidValue
  virtual hipError_t register_host(void* pointer, std::size_t size, unsigned flags) = 0;
  // Waits for the device. hipErrorHostMemoryNotRegistered
  virtual hipError_t unregister_host(void* pointer) = 0;
  // Answers for the pointers of all devices. hipErrorInvalidValue for device memory that was freed.
  // Of virtual memory one mapping may be described alone.
  virtual hipError_t describe(const void* pointer, PointerInfo* info) = 0;
  // Makes what describe() found all mappings that follow each other. Takes time for each of them.
  virtual void widen(PointerInfo* /*info*/) {}

  // Whether this device may read a range of device memory (hipMemAccessFlagsProtRead), or write it
  // as well (ProtReadWrite). hipErrorInvalidValue
  virtual hipError_t check_access(const void* /*pointer*/, std::size_t /*size*/,
                                  hipMemAccessFlags /*access*/) {
    return hipSuccess;
  }
  // The same for a value of device memory that a stream of this device waits for, or writes.
  virtual hipError_t check_value_access(const void* /*pointer*/, hipMemAccessFlags /*access*/) {
    return hipSuccess;
  }
  // The same for all devices; null where they have none.
  virtual VirtualMemory* virtual_memory() { return nullptr; }

  // ---- Work
  // Copies in the order of the null stream; the bytes have arrived when it returns.
  virtual hipError_t copy(void* to, const void* from, std::size_t size) = 0;
  // Waits for all work of this device.
  virtual hipError_t synchronize() = 0;
  // hipErrorNoBinaryForGpu, or what the driver says of the image.
  virtual hipError_t load_module(const void* image, std::unique_ptr<DeviceModule>* module) = 0;
  // What copy_indirect() answers in streams of this device.
  virtual hipError_t indirect_copy_status() { return hipSuccess; }
  virtual DeviceStream& null_stream() = 0;
  // flags: hipStreamDefault or hipStreamNonBlocking. The priority lies in priority_range.
  virtual hipError_t create_stream(unsigned flags, int priority,
                                   std::unique_ptr<DeviceStream>* stream) = 0;
  // A stream of this device that the program made by other means than this runtime, which does not
  // own it. hipErrorInvalidHandle
  virtual hipError_t adopt_stream(void* /*handle*/, std::unique_ptr<DeviceStream>* /*stream*/) {
    return hipErrorInvalidHandle;
  }
  // The capture mode that the driver keeps for the calling thread becomes this one.
  virtual hipError_t set_capture_mode(hipStreamCaptureMode /*mode*/) { return hipSuccess; }
  virtual hipError_t create_event(unsigned flags, std::unique_ptr<DeviceEvent>* event) = 0;

  // hipAmdFileRead, hipAmdFileWrite and hipPortableFileRead. `status` gets an errno, `copied` the
  // bytes moved.
  virtual hipError_t transfer_file(const FileTransfer& transfer, std::uint64_t* copied,
                                   std::int32_t* status) = 0;

  // ---- End
  // Frees all memory of the device. Waits first.
  virtual hipError_t reset() = 0;
  // From the atexit handler: drops what is queued and waits at most 2 s for what runs. The emulated
  // device goes on working afterwards.
  virtual void shut_down() = 0;
};

}  // namespace hip_portable
