// SPDX-License-Identifier: MIT
#include "memory_kinds.h"

#include <cstdlib>
#include <string>

#include "cuda_program.h"
#include "lender.h"
#include "modes.h"

namespace hipfile::test {
namespace {

using hip_portable::cuda::AllocationHandle;
using hip_portable::cuda::DevicePtr;
using hip_portable::cuda::Result;

constexpr size_t kGrain = 2 << 20;  // of virtual memory
constexpr size_t kSize = 3 * kGrain;
constexpr size_t kLarge = 66 << 20;  // more than a pool takes from the device at once

bool is_had(Memory& memory, hipError_t error) {
  if (error != hipSuccess) memory.reason = hipGetErrorName(error);
  return error == hipSuccess;
}
bool is_had(Memory& memory, const char* call, Result result) {
  if (result != hip_portable::cuda::kSuccess) {
    memory.reason = std::string(call) + " answers " + std::to_string(result);
  }
  return result == hip_portable::cuda::kSuccess;
}

void set(Memory& memory, DevicePtr address, size_t size) {
  memory.data = reinterpret_cast<void*>(address);
  memory.size = size;
}

// By HIP.

void plain(Memory& memory) {
  if (!is_had(memory, hipMalloc(&memory.data, kSize))) return;
  memory.size = kSize;
  memory.give_back = [data = memory.data] { (void)hipFree(data); };
}

void managed(Memory& memory) {
  if (!is_had(memory, hipMallocManaged(&memory.data, kSize, hipMemAttachGlobal))) return;
  memory.size = kSize;
  memory.type = hipMemoryTypeManaged;
  memory.give_back = [data = memory.data] { (void)hipFree(data); };
}

void pinned(Memory& memory) {
  if (!is_had(memory, hipHostMalloc(&memory.data, kSize, hipHostMallocDefault))) return;
  memory.size = kSize;
  memory.type = hipMemoryTypeHost;
  memory.give_back = [data = memory.data] { (void)hipHostFree(data); };
}

void write_combined(Memory& memory) {
  if (!is_had(memory, hipHostMalloc(&memory.data, kSize, hipHostMallocWriteCombined))) return;
  memory.size = kSize;
  memory.type = hipMemoryTypeHost;
  memory.give_back = [data = memory.data] { (void)hipHostFree(data); };
}

void registered(Memory& memory) {
  void* data = std::aligned_alloc(kGrain, kSize);
  if (!is_had(memory, hipHostRegister(data, kSize, hipHostRegisterDefault))) {
    return std::free(data);
  }
  memory.data = data;
  memory.size = kSize;
  memory.type = hipMemoryTypeHost;
  memory.give_back = [data] {
    (void)hipHostUnregister(data);
    std::free(data);
  };
}

void stream_ordered(Memory& memory) {
  if (!is_had(memory, hipMallocAsync(&memory.data, kLarge, nullptr))) return;
  (void)hipStreamSynchronize(nullptr);
  memory.size = kLarge;
  memory.give_back = [data = memory.data] {
    (void)hipFreeAsync(data, nullptr);
    (void)hipStreamSynchronize(nullptr);
  };
}

void virtual_memory(Memory& memory) {
  hipMemAllocationProp properties = {};
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  const hipMemAccessDesc access = {properties.location, hipMemAccessFlagsProtReadWrite};
  void* start = nullptr;
  if (!is_had(memory, hipMemAddressReserve(&start, kSize + kGrain, 0, nullptr, 0))) return;
  for (size_t at = 0; at < kSize; at += kGrain) {
    hipMemGenericAllocationHandle_t handle = nullptr;
    if (!is_had(memory, hipMemCreate(&handle, kGrain, &properties, 0))) return;
    (void)hipMemMap(static_cast<char*>(start) + at, kGrain, 0, handle, 0);
    (void)hipMemRelease(handle);
  }
  if (!is_had(memory, hipMemSetAccess(start, kSize, &access, 1))) return;
  memory.data = start;
  memory.size = kSize;
  memory.give_back = [start] {
    (void)hipMemUnmap(start, kSize);
    (void)hipMemAddressFree(start, kSize + kGrain);
  };
}

// By the driver.

void driver_plain(Memory& memory) {
  const InCudaContext context;
  DevicePtr address = 0;
  if (!is_had(memory, "cuMemAlloc", cuda().mem_alloc(&address, kSize))) return;
  set(memory, address, kSize);
  memory.give_back = [address] {
    const InCudaContext current;
    (void)cuda().mem_free(address);
  };
}

void driver_managed(Memory& memory) {
  const InCudaContext context;
  DevicePtr address = 0;
  if (!is_had(memory, "cuMemAllocManaged", cuda().mem_alloc_managed(&address, kSize, 1))) return;
  set(memory, address, kSize);
  memory.type = hipMemoryTypeManaged;
  memory.give_back = [address] {
    const InCudaContext current;
    (void)cuda().mem_free(address);
  };
}

void driver_pinned(Memory& memory) {
  const InCudaContext context;
  void* data = nullptr;
  if (!is_had(memory, "cuMemHostAlloc", cuda().mem_host_alloc(&data, kSize, 0))) return;
  memory.data = data;
  memory.size = kSize;
  memory.type = hipMemoryTypeHost;
  memory.give_back = [data] {
    const InCudaContext current;
    (void)cuda().mem_free_host(data);
  };
}

void driver_registered(Memory& memory) {
  const InCudaContext context;
  void* data = std::aligned_alloc(kGrain, kSize);
  if (!is_had(memory, "cuMemHostRegister", cuda().mem_host_register(data, kSize, 0))) {
    return std::free(data);
  }
  memory.data = data;
  memory.size = kSize;
  memory.type = hipMemoryTypeHost;
  memory.is_range_known = false;
  memory.give_back = [data] {
    const InCudaContext current;
    (void)cuda().mem_host_unregister(data);
    std::free(data);
  };
}

void free_to_pool(DevicePtr address) {
  (void)cuda().mem_free_async(address, nullptr);
  (void)cuda().stream_synchronize(nullptr);
}

void driver_default_pool(Memory& memory) {
  const InCudaContext context;
  DevicePtr address = 0;
  if (!is_had(memory, "cuMemAllocAsync", cuda().mem_alloc_async(&address, kSize, nullptr))) return;
  (void)cuda().stream_synchronize(nullptr);
  set(memory, address, kSize);
  memory.give_back = [address] {
    const InCudaContext current;
    free_to_pool(address);
  };
}

void driver_own_pool(Memory& memory) {
  const InCudaContext context;
  CudaPoolProperties properties = {};
  properties.type = hip_portable::cuda::kAllocationPinned;
  properties.location = {hip_portable::cuda::kLocationDevice, 0};
  CudaPool pool = nullptr;
  DevicePtr address = 0;
  if (!is_had(memory, "cuMemPoolCreate", cuda().pool_create(&pool, &properties))) return;
  if (!is_had(memory, "cuMemAllocFromPoolAsync",
              cuda().mem_alloc_from_pool(&address, kLarge, pool, nullptr))) {
    return;
  }
  (void)cuda().stream_synchronize(nullptr);
  set(memory, address, kLarge);
  memory.give_back = [address, pool] {
    const InCudaContext current;
    free_to_pool(address);
    (void)cuda().pool_destroy(pool);
  };
}

hip_portable::cuda::AllocationProperties on_the_device(int handle_types) {
  hip_portable::cuda::AllocationProperties properties = {};
  properties.type = hip_portable::cuda::kAllocationPinned;
  properties.handle_types = handle_types;
  properties.location = {hip_portable::cuda::kLocationDevice, 0};
  return properties;
}

// Handles side by side in a range that is a grain larger; the range has them from then on.
void map(Memory& memory, const std::vector<AllocationHandle>& handles, size_t grain) {
  const hip_portable::cuda::AccessDescription access = {{hip_portable::cuda::kLocationDevice, 0},
                                                        hipMemAccessFlagsProtReadWrite};
  const size_t size = handles.size() * grain;
  DevicePtr start = 0;
  if (!is_had(memory, "cuMemAddressReserve",
              cuda().mem_address_reserve(&start, size + kGrain, 0, 0, 0))) {
    return;
  }
  for (size_t at = 0; at < handles.size(); ++at) {
    const Result mapped = cuda().mem_map(start + at * grain, grain, 0, handles[at], 0);
    if (!is_had(memory, "cuMemMap", mapped)) return;
    (void)cuda().mem_release(handles[at]);
  }
  if (!is_had(memory, "cuMemSetAccess", cuda().mem_set_access(start, size, &access, 1))) return;
  set(memory, start, size);
  memory.give_back = [start, size] {
    const InCudaContext current;
    (void)cuda().context_synchronize();
    (void)cuda().mem_unmap(start, size);
    (void)cuda().mem_address_free(start, size + kGrain);
  };
}

// As PyTorch's expandable segments.
void driver_virtual(Memory& memory) {
  const InCudaContext context;
  const auto properties = on_the_device(0);
  std::vector<AllocationHandle> handles(kSize / kGrain);
  for (AllocationHandle& handle : handles) {
    if (!is_had(memory, "cuMemCreate", cuda().mem_create(&handle, kGrain, &properties, 0))) return;
  }
  map(memory, handles, kGrain);
}

// From another process, which lives as long as its memory here.

void lent_by_handle(Memory& memory) {
  const auto lender = std::make_shared<Lender>("handle", kSize);
  const InCudaContext context;
  DevicePtr address = 0;
  if (!is_had(memory, "cuIpcGetMemHandle in the other process", lender->result())) return;
  if (!is_had(memory, "cuIpcOpenMemHandle",
              cuda().ipc_open(&address, lender->handle(), kCudaIpcLazyPeerAccess))) {
    return;
  }
  set(memory, address, kSize);
  memory.give_back = [address, lender] {
    const InCudaContext current;
    (void)cuda().ipc_close(address);
  };
}

void lent_by_descriptor(Memory& memory) {
  const auto lender = std::make_shared<Lender>("descriptor", kSize);
  const InCudaContext context;
  AllocationHandle handle = 0;
  if (!is_had(memory, "cuMemExportToShareableHandle in the other process", lender->result())) {
    return;
  }
  void* const fd = reinterpret_cast<void*>(static_cast<intptr_t>(lender->descriptor()));
  if (!is_had(memory, "cuMemImportFromShareableHandle",
              cuda().mem_import(&handle, fd, kCudaHandleIsDescriptor))) {
    return;
  }
  map(memory, {handle}, kSize);
  if (!memory.give_back) return;
  memory.give_back = [lender, give_back = std::move(memory.give_back)] { give_back(); };
}

// The other process.

Result lend(const std::string& kind, size_t size, Loan& loan) {
  const InCudaContext context;
  DevicePtr address = 0;
  if (kind == "handle") {
    const Result result = cuda().mem_alloc(&address, size);
    return result != hip_portable::cuda::kSuccess ? result : cuda().ipc_get(&loan.handle, address);
  }
  const auto properties = on_the_device(kCudaHandleIsDescriptor);
  AllocationHandle handle = 0;
  const Result result = cuda().mem_create(&handle, size, &properties, 0);
  if (result != hip_portable::cuda::kSuccess) return result;
  return cuda().mem_export(&loan.descriptor, handle, kCudaHandleIsDescriptor, 0);
}

}  // namespace

std::vector<KindOfMemory> memory_kinds() {
  std::vector<KindOfMemory> kinds = {{"Plain", plain},           {"Managed", managed},
                                     {"Pinned", pinned},         {"WriteCombined", write_combined},
                                     {"Registered", registered}, {"StreamOrdered", stream_ordered},
                                     {"Virtual", virtual_memory}};
  if (!is_on_nvidia()) return kinds;
  const std::vector<KindOfMemory> of_the_driver = {{"DriverPlain", driver_plain},
                                                   {"DriverManaged", driver_managed},
                                                   {"DriverPinned", driver_pinned},
                                                   {"DriverRegistered", driver_registered},
                                                   {"DriverDefaultPool", driver_default_pool},
                                                   {"DriverOwnPool", driver_own_pool},
                                                   {"DriverVirtual", driver_virtual},
                                                   {"LentByHandle", lent_by_handle},
                                                   {"LentByDescriptor", lent_by_descriptor}};
  kinds.insert(kinds.end(), of_the_driver.begin(), of_the_driver.end());
  return kinds;
}

bool lends_memory(int argc, char** argv, int* status) {
  return is_lender(argc, argv, &lend, status);
}

}  // namespace hipfile::test
