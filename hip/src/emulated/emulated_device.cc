// SPDX-License-Identifier: MIT
//
// Memory and work of an emulated device. What it says of itself is in properties.cc, its file
// transfers are in file_transfer.cc.

#include "emulated_device.h"

#include <algorithm>

#include "memory_limits.h"

namespace hip_portable::emulated {
namespace {

// A machine that tells nothing about its memory.
constexpr std::uint64_t kUnknownMemory = std::uint64_t{1} << 30;

// Half of what the process may take, shared by all devices: the other half is the program's.
std::uint64_t limit_of_each(const Settings& settings) {
  std::uint64_t available = available_memory();
  if (available == kNoLimit) available = kUnknownMemory;
  const std::uint64_t most = available / 2 / static_cast<std::uint64_t>(settings.devices);
  return settings.memory != 0 ? std::min(settings.memory, most) : most;
}

}  // namespace

hipError_t make_emulated_devices(const Settings& settings,
                                 std::vector<std::unique_ptr<Device>>* devices) {
  auto machine = std::make_unique<Machine>();
  machine->settings = settings;
  if (settings.has_hazards) machine->hazards.switch_on();
  if (!machine->memory.start(settings.devices, limit_of_each(settings), settings.is_strict)) {
    return hipErrorOutOfMemory;
  }
  machine->ranges.start(settings.devices, settings.is_strict);
  for (int ordinal = 0; ordinal < settings.devices; ++ordinal) {
    devices->push_back(std::make_unique<EmulatedDevice>(*machine, ordinal));
  }
  machine.release();  // the devices and their threads use it until the process ends
  return hipSuccess;
}

EmulatedDevice::EmulatedDevice(Machine& machine, int ordinal)
    : machine_(machine),
      ordinal_(ordinal),
      null_stream_(machine, ordinal, QueueKind::kNull,
                   machine.hazards.hardware_queue(ordinal, Hazards::kNullStream)) {}

hipError_t EmulatedDevice::memory_info(std::size_t* free, std::size_t* total) {
  *total = machine_.memory.limit();
  *free = machine_.memory.left(ordinal_);
  return hipSuccess;
}

hipError_t EmulatedDevice::allocate(std::size_t size, unsigned flags, void** pointer) {
  // The host writes what streams wait for.
  if (flags == hipMallocSignalMemory) return allocate_managed(size, flags, pointer);
  *pointer = machine_.memory.allocate(ordinal_, size, flags);
  return *pointer != nullptr ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t EmulatedDevice::allocate_managed(std::size_t size, unsigned flags, void** pointer) {
  if (!machine_.memory.charge(ordinal_, size)) return hipErrorOutOfMemory;
  *pointer = machine_.host.allocate(HostKind::kManaged, size, ordinal_, flags);
  if (*pointer != nullptr) return hipSuccess;
  machine_.memory.discharge(ordinal_, size);
  return hipErrorOutOfMemory;
}

hipError_t EmulatedDevice::allocate_async(std::size_t size, DeviceStream& stream, void** pointer) {
  const hipError_t error = allocate(size, hipDeviceMallocDefault, pointer);
  if (error != hipErrorOutOfMemory) return error;
  // What was freed in the order of this stream may be enough.
  (void)stream.synchronize();
  return allocate(size, hipDeviceMallocDefault, pointer);
}

hipError_t EmulatedDevice::release(void* pointer) {
  if (const std::optional<Block> block = machine_.memory.detach(pointer)) {
    machine_.drain(block->device);
    machine_.memory.give_back(*block);
    return hipSuccess;
  }
  const std::optional<HostRange> range = machine_.host.remove(pointer, HostKind::kManaged);
  if (!range) return hipErrorInvalidValue;
  machine_.drain(range->device);
  give_back(*range);
  return hipSuccess;
}

hipError_t EmulatedDevice::release_async(void* pointer, DeviceStream& stream) {
  auto& queue = static_cast<EmulatedStream&>(stream);
  Machine& machine = machine_;
  if (const std::optional<Block> block = machine_.memory.detach(pointer)) {
    queue.submit([&machine, block = *block] { machine.memory.give_back(block); }, true);
    return hipSuccess;
  }
  const std::optional<HostRange> range = machine_.host.remove(pointer, HostKind::kManaged);
  if (!range) return hipErrorInvalidValue;
  queue.submit([this, range = *range] { give_back(range); }, true);
  return hipSuccess;
}

void EmulatedDevice::give_back(const HostRange& range) {
  if (range.kind == HostKind::kManaged) machine_.memory.discharge(range.device, range.size);
  HostRanges::unmap(range);
}

hipError_t EmulatedDevice::allocate_host(std::size_t size, unsigned flags, void** pointer) {
  *pointer = machine_.host.allocate(HostKind::kPinned, size, ordinal_, flags);
  return *pointer != nullptr ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t EmulatedDevice::release_host(void* pointer) {
  const std::optional<HostRange> range = machine_.host.remove(pointer, HostKind::kPinned);
  if (!range) return hipErrorInvalidValue;
  machine_.drain(range->device);
  give_back(*range);
  return hipSuccess;
}

hipError_t EmulatedDevice::register_host(void* pointer, std::size_t size, unsigned flags) {
  if (machine_.memory.contains(pointer) || machine_.ranges.contains(pointer)) {
    return hipErrorInvalidValue;
  }
  return machine_.host.add(pointer, size, ordinal_, flags);
}

hipError_t EmulatedDevice::unregister_host(void* pointer) {
  const std::optional<HostRange> range = machine_.host.remove(pointer, HostKind::kRegistered);
  if (!range) return hipErrorHostMemoryNotRegistered;
  machine_.drain(range->device);
  return hipSuccess;
}

hipError_t EmulatedDevice::describe(const void* pointer, PointerInfo* info) {
  return machine_.describe(pointer, info);
}

hipError_t EmulatedDevice::check_access(const void* pointer, std::size_t size,
                                        hipMemAccessFlags access) {
  return machine_.ranges.check_access(pointer, size, ordinal_, access);
}

hipError_t EmulatedDevice::copy(void* to, const void* from, std::size_t size) {
  Machine& machine = machine_;
  machine.hazards.drain(ordinal_);
  const Place place =
      null_stream_.submit([&machine, to, from, size] { machine.copy(to, from, size); }, true);
  machine_.scheduler.wait(place);
  return hipSuccess;
}

hipError_t EmulatedDevice::synchronize() {
  machine_.scheduler.wait_for_device(ordinal_);
  return machine_.scheduler.error_of_device(ordinal_);
}

// There is nothing here that could run code.
hipError_t EmulatedDevice::load_module(const void* /*image*/,
                                       std::unique_ptr<DeviceModule>* /*module*/) {
  machine_.hazards.drain(ordinal_);
  return hipErrorNoBinaryForGpu;
}

hipError_t EmulatedDevice::create_stream(unsigned flags, int priority,
                                         std::unique_ptr<DeviceStream>* stream) {
  const bool is_blocking = (flags & hipStreamNonBlocking) == 0;
  *stream = std::make_unique<EmulatedStream>(
      machine_, ordinal_, is_blocking ? QueueKind::kBlocking : QueueKind::kNonBlocking,
      machine_.hazards.hardware_queue(ordinal_, priority));
  return hipSuccess;
}

hipError_t EmulatedDevice::create_event(unsigned flags, std::unique_ptr<DeviceEvent>* event) {
  *event = std::make_unique<EmulatedEvent>(machine_, flags);
  return hipSuccess;
}

hipError_t EmulatedDevice::reset() {
  machine_.drain(ordinal_);
  machine_.ranges.reset(ordinal_);
  for (const Block& block : machine_.memory.detach_all(ordinal_)) machine_.memory.give_back(block);
  for (const HostRange& range : machine_.host.remove_all(ordinal_)) give_back(range);
  return hipSuccess;
}

void EmulatedDevice::shut_down() {
  // One order of work for all devices.
  if (ordinal_ == 0) machine_.scheduler.drop_queued();
}

}  // namespace hip_portable::emulated
