// SPDX-License-Identifier: MIT
//
// What an emulated device says of itself: enough for programs that choose by it, and nothing that
// looks like a GPU that can run code.

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

#include "emulated_device.h"

namespace hip_portable::emulated {
namespace {

constexpr int kPciDomain = 0xffff;  // no machine has it
constexpr int kLeastPriority = 1;
constexpr int kGreatestPriority = -1;
constexpr int kWarp = 64;
constexpr int kMostThreads = 1024;
constexpr int kClock = 1000000;  // kHz

struct PropertyName {
  hipDeviceAttribute_t attribute;
  int hipDeviceProp_t::*field;
};

// Attributes whose value stands in the property structure.
constexpr PropertyName kFromProperties[] = {
    {hipDeviceAttributeAsyncEngineCount, &hipDeviceProp_t::asyncEngineCount},
    {hipDeviceAttributeCanMapHostMemory, &hipDeviceProp_t::canMapHostMemory},
    {hipDeviceAttributeCanUseHostPointerForRegisteredMem,
     &hipDeviceProp_t::canUseHostPointerForRegisteredMem},
    {hipDeviceAttributeClockRate, &hipDeviceProp_t::clockRate},
    {hipDeviceAttributeComputeMode, &hipDeviceProp_t::computeMode},
    {hipDeviceAttributeConcurrentManagedAccess, &hipDeviceProp_t::concurrentManagedAccess},
    {hipDeviceAttributeDirectManagedMemAccessFromHost,
     &hipDeviceProp_t::directManagedMemAccessFromHost},
    {hipDeviceAttributeHostRegisterSupported, &hipDeviceProp_t::hostRegisterSupported},
    {hipDeviceAttributeIntegrated, &hipDeviceProp_t::integrated},
    {hipDeviceAttributeManagedMemory, &hipDeviceProp_t::managedMemory},
    {hipDeviceAttributeMaxThreadsPerBlock, &hipDeviceProp_t::maxThreadsPerBlock},
    {hipDeviceAttributeMaxThreadsPerMultiProcessor, &hipDeviceProp_t::maxThreadsPerMultiProcessor},
    {hipDeviceAttributeMultiprocessorCount, &hipDeviceProp_t::multiProcessorCount},
    {hipDeviceAttributePciBusId, &hipDeviceProp_t::pciBusID},
    {hipDeviceAttributePciDeviceId, &hipDeviceProp_t::pciDeviceID},
    {hipDeviceAttributePciDomainId, &hipDeviceProp_t::pciDomainID},
    {hipDeviceAttributeStreamPrioritiesSupported, &hipDeviceProp_t::streamPrioritiesSupported},
    {hipDeviceAttributeUnifiedAddressing, &hipDeviceProp_t::unifiedAddressing},
    {hipDeviceAttributeWarpSize, &hipDeviceProp_t::warpSize},
    {hipDeviceAttributeComputeCapabilityMajor, &hipDeviceProp_t::major},
    {hipDeviceAttributeComputeCapabilityMinor, &hipDeviceProp_t::minor},
    {hipDeviceAttributeClockInstructionRate, &hipDeviceProp_t::clockInstructionRate},
};

struct AttributeValue {
  hipDeviceAttribute_t attribute;
  int value;
};

constexpr AttributeValue kOwn[] = {
    {hipDeviceAttributeCanUseStreamWaitValue, 1},
    {hipDeviceAttributeMaxBlockDimX, kMostThreads},
    {hipDeviceAttributeMaxBlockDimY, kMostThreads},
    {hipDeviceAttributeMaxBlockDimZ, kMostThreads},
    {hipDeviceAttributeMaxGridDimX, INT_MAX},
    {hipDeviceAttributeMaxGridDimY, USHRT_MAX},
    {hipDeviceAttributeMaxGridDimZ, USHRT_MAX},
    {hipDeviceAttributeMaxPitch, INT_MAX},
    {hipDeviceAttributeTextureAlignment, 256},
    {hipDeviceAttributeFineGrainSupport, 1},
    {hipDeviceAttributeNumberOfXccs, 1},
    {hipDeviceAttributePhysicalMultiProcessorCount, 1},
    {hipDeviceAttributeWallClockRate, kClock},
};

bool exists(hipDeviceAttribute_t attribute) {
  const int number = attribute;
  return (number >= hipDeviceAttributeCudaCompatibleBegin &&
          number <= hipDeviceAttributeHostNumaId) ||
         (number >= hipDeviceAttributeAmdSpecificBegin && number <= hipDeviceAttributePciChipId);
}

void set_names(hipDeviceProp_t* filled, int ordinal) {
  std::snprintf(filled->name, sizeof(filled->name), "hipFile emulated device");
  std::snprintf(filled->gcnArchName, sizeof(filled->gcnArchName), "gfx000:emulated");
  char uuid[sizeof(filled->uuid.bytes) + 1];
  std::snprintf(uuid, sizeof(uuid), "emulated%08x", static_cast<unsigned>(ordinal));
  std::memcpy(filled->uuid.bytes, uuid, sizeof(filled->uuid.bytes));
  filled->pciDomainID = kPciDomain;
  filled->pciBusID = ordinal;
}

void set_limits(hipDeviceProp_t* filled) {
  filled->warpSize = kWarp;
  filled->maxThreadsPerBlock = kMostThreads;
  filled->maxThreadsPerMultiProcessor = kMostThreads;
  for (int& size : filled->maxThreadsDim) size = kMostThreads;
  filled->maxGridSize[0] = INT_MAX;
  filled->maxGridSize[1] = filled->maxGridSize[2] = USHRT_MAX;
  filled->memPitch = INT_MAX;
  filled->textureAlignment = 256;
  filled->multiProcessorCount = 1;
  filled->clockRate = filled->clockInstructionRate = kClock;
}

void set_abilities(hipDeviceProp_t* filled) {
  filled->canMapHostMemory = 1;
  filled->unifiedAddressing = 1;
  filled->asyncEngineCount = 2;
  filled->deviceOverlap = 1;
  filled->streamPrioritiesSupported = 1;
  filled->managedMemory = 1;
  filled->concurrentManagedAccess = 1;
  filled->directManagedMemAccessFromHost = 1;
  filled->canUseHostPointerForRegisteredMem = 1;
  filled->hostRegisterSupported = 1;
}

}  // namespace

hipError_t EmulatedDevice::properties(hipDeviceProp_t* properties) {
  hipDeviceProp_t filled{};
  set_names(&filled, ordinal_);
  set_limits(&filled);
  set_abilities(&filled);
  filled.totalGlobalMem = machine_.memory.limit();
  *properties = filled;
  return hipSuccess;
}

hipError_t EmulatedDevice::attribute(hipDeviceAttribute_t attribute, int* value) {
  if (!exists(attribute)) return hipErrorInvalidValue;
  *value = 0;  // what is not named is not there
  for (const AttributeValue& own : kOwn) {
    if (own.attribute == attribute) *value = own.value;
  }
  if (attribute == hipDeviceAttributeTotalGlobalMem) {
    *value = static_cast<int>(std::min(machine_.memory.limit(), std::size_t{INT_MAX}));
  }
  hipDeviceProp_t filled;
  const hipError_t error = properties(&filled);
  for (const PropertyName& name : kFromProperties) {
    if (name.attribute == attribute) *value = filled.*name.field;
  }
  return error;
}

hipError_t EmulatedDevice::driver_version(int* version) {
  *version = HIP_VERSION;
  return hipSuccess;
}

hipError_t EmulatedDevice::can_access_peer(int peer, bool* can) {
  *can = peer != ordinal_;
  return hipSuccess;
}

hipError_t EmulatedDevice::priority_range(int* least, int* greatest) {
  *least = kLeastPriority;
  *greatest = kGreatestPriority;
  return hipSuccess;
}

}  // namespace hip_portable::emulated
