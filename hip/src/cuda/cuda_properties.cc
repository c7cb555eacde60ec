// SPDX-License-Identifier: MIT
//
// Attributes and properties: two tables from the driver's numbers to HIP's words. Only textures and
// surfaces are left out; a field that is not in the table is 0.

#include "cuda_properties.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

#include "cuda_errors.h"

namespace hip_portable::cuda {
namespace {

struct AttributeName {
  hipDeviceAttribute_t hip;
  DeviceAttribute cuda;
};

constexpr AttributeName kAttributes[] = {
    {hipDeviceAttributeEccEnabled, kEccEnabled},
    {hipDeviceAttributeAsyncEngineCount, kAsyncEngineCount},
    {hipDeviceAttributeCanMapHostMemory, kCanMapHostMemory},
    {hipDeviceAttributeCanUseHostPointerForRegisteredMem, kCanUseHostPointerForRegisteredMem},
    {hipDeviceAttributeClockRate, kClockRate},
    {hipDeviceAttributeComputeMode, kComputeMode},
    {hipDeviceAttributeComputePreemptionSupported, kComputePreemptionSupported},
    {hipDeviceAttributeConcurrentKernels, kConcurrentKernels},
    {hipDeviceAttributeConcurrentManagedAccess, kConcurrentManagedAccess},
    {hipDeviceAttributeCooperativeLaunch, kCooperativeLaunch},
    {hipDeviceAttributeDeviceOverlap, kGpuOverlap},
    {hipDeviceAttributeDirectManagedMemAccessFromHost, kDirectManagedMemAccessFromHost},
    {hipDeviceAttributeGlobalL1CacheSupported, kGlobalL1CacheSupported},
    {hipDeviceAttributeHostNativeAtomicSupported, kHostNativeAtomicSupported},
    {hipDeviceAttributeIntegrated, kIntegrated},
    {hipDeviceAttributeIsMultiGpuBoard, kMultiGpuBoard},
    {hipDeviceAttributeKernelExecTimeout, kKernelExecTimeout},
    {hipDeviceAttributeL2CacheSize, kL2CacheSize},
    {hipDeviceAttributeLocalL1CacheSupported, kLocalL1CacheSupported},
    {hipDeviceAttributeComputeCapabilityMajor, kComputeCapabilityMajor},
    {hipDeviceAttributeComputeCapabilityMinor, kComputeCapabilityMinor},
    {hipDeviceAttributeManagedMemory, kManagedMemory},
    {hipDeviceAttributeMaxBlocksPerMultiProcessor, kMaxBlocksPerMultiprocessor},
    {hipDeviceAttributeMaxBlockDimX, kMaxBlockDimX},
    {hipDeviceAttributeMaxBlockDimY, kMaxBlockDimY},
    {hipDeviceAttributeMaxBlockDimZ, kMaxBlockDimZ},
    {hipDeviceAttributeMaxGridDimX, kMaxGridDimX},
    {hipDeviceAttributeMaxGridDimY, kMaxGridDimY},
    {hipDeviceAttributeMaxGridDimZ, kMaxGridDimZ},
    {hipDeviceAttributeMaxThreadsPerBlock, kMaxThreadsPerBlock},
    {hipDeviceAttributeMaxThreadsPerMultiProcessor, kMaxThreadsPerMultiprocessor},
    {hipDeviceAttributeMaxPitch, kMaxPitch},
    {hipDeviceAttributeMemoryBusWidth, kMemoryBusWidth},
    {hipDeviceAttributeMemoryClockRate, kMemoryClockRate},
    {hipDeviceAttributeMultiGpuBoardGroupID, kMultiGpuBoardGroupId},
    {hipDeviceAttributeMultiprocessorCount, kMultiprocessorCount},
    {hipDeviceAttributePageableMemoryAccess, kPageableMemoryAccess},
    {hipDeviceAttributePageableMemoryAccessUsesHostPageTables,
     kPageableMemoryAccessUsesHostPageTables},
    {hipDeviceAttributePciBusId, kPciBusId},
    {hipDeviceAttributePciDeviceId, kPciDeviceId},
    {hipDeviceAttributePciDomainId, kPciDomainId},
    {hipDeviceAttributeMaxRegistersPerBlock, kMaxRegistersPerBlock},
    {hipDeviceAttributeMaxRegistersPerMultiprocessor, kMaxRegistersPerMultiprocessor},
    {hipDeviceAttributeMaxSharedMemoryPerBlock, kMaxSharedMemoryPerBlock},
    {hipDeviceAttributeSharedMemPerBlockOptin, kMaxSharedMemoryPerBlockOptin},
    {hipDeviceAttributeSharedMemPerMultiprocessor, kMaxSharedMemoryPerMultiprocessor},
    {hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, kMaxSharedMemoryPerMultiprocessor},
    {hipDeviceAttributeStreamPrioritiesSupported, kStreamPrioritiesSupported},
    {hipDeviceAttributeSurfaceAlignment, kSurfaceAlignment},
    {hipDeviceAttributeTccDriver, kTccDriver},
    {hipDeviceAttributeTextureAlignment, kTextureAlignment},
    {hipDeviceAttributeTexturePitchAlignment, kTexturePitchAlignment},
    {hipDeviceAttributeTotalConstantMemory, kTotalConstantMemory},
    {hipDeviceAttributeUnifiedAddressing, kUnifiedAddressing},
    {hipDeviceAttributeWarpSize, kWarpSize},
    {hipDeviceAttributeHostRegisterSupported, kHostRegisterSupported},
    {hipDeviceAttributeHostNumaId, kHostNumaId},
    {hipDeviceAttributeClockInstructionRate, kClockRate},
    {hipDeviceAttributeCanUseStreamWaitValue, kCanUse64BitStreamMemOps},
    {hipDeviceAttributePhysicalMultiProcessorCount, kMultiprocessorCount},
};

// The runtime's own answers: what it offers does not follow from what the driver could do.
struct AttributeValue {
  hipDeviceAttribute_t hip;
  int value;
};

constexpr AttributeValue kOwnAnswers[] = {
    {hipDeviceAttributeMemoryPoolsSupported, 0},
    {hipDeviceAttributeVirtualMemoryManagementSupported, 1},
    {hipDeviceAttributeMemoryPoolSupportedHandleTypes, 0},
    {hipDeviceAttributeCooperativeMultiDeviceLaunch, 0},
    {hipDeviceAttributeFineGrainSupport, 1},
    {hipDeviceAttributeImageSupport, 0},
    {hipDeviceAttributeIsLargeBar, 0},
    {hipDeviceAttributeAsicRevision, 0},
    {hipDeviceAttributeNumberOfXccs, 1},
    {hipDeviceAttributeWallClockRate, 1000000},  // nanosecond timer, in kHz
};

struct PropertyName {
  int hipDeviceProp_t::*field;
  DeviceAttribute cuda;
};

constexpr PropertyName kProperties[] = {
    {&hipDeviceProp_t::regsPerBlock, kMaxRegistersPerBlock},
    {&hipDeviceProp_t::warpSize, kWarpSize},
    {&hipDeviceProp_t::maxThreadsPerBlock, kMaxThreadsPerBlock},
    {&hipDeviceProp_t::clockRate, kClockRate},
    {&hipDeviceProp_t::major, kComputeCapabilityMajor},
    {&hipDeviceProp_t::minor, kComputeCapabilityMinor},
    {&hipDeviceProp_t::deviceOverlap, kGpuOverlap},
    {&hipDeviceProp_t::multiProcessorCount, kMultiprocessorCount},
    {&hipDeviceProp_t::kernelExecTimeoutEnabled, kKernelExecTimeout},
    {&hipDeviceProp_t::integrated, kIntegrated},
    {&hipDeviceProp_t::canMapHostMemory, kCanMapHostMemory},
    {&hipDeviceProp_t::computeMode, kComputeMode},
    {&hipDeviceProp_t::concurrentKernels, kConcurrentKernels},
    {&hipDeviceProp_t::ECCEnabled, kEccEnabled},
    {&hipDeviceProp_t::pciBusID, kPciBusId},
    {&hipDeviceProp_t::pciDeviceID, kPciDeviceId},
    {&hipDeviceProp_t::pciDomainID, kPciDomainId},
    {&hipDeviceProp_t::tccDriver, kTccDriver},
    {&hipDeviceProp_t::asyncEngineCount, kAsyncEngineCount},
    {&hipDeviceProp_t::unifiedAddressing, kUnifiedAddressing},
    {&hipDeviceProp_t::memoryClockRate, kMemoryClockRate},
    {&hipDeviceProp_t::memoryBusWidth, kMemoryBusWidth},
    {&hipDeviceProp_t::l2CacheSize, kL2CacheSize},
    {&hipDeviceProp_t::maxThreadsPerMultiProcessor, kMaxThreadsPerMultiprocessor},
    {&hipDeviceProp_t::streamPrioritiesSupported, kStreamPrioritiesSupported},
    {&hipDeviceProp_t::globalL1CacheSupported, kGlobalL1CacheSupported},
    {&hipDeviceProp_t::localL1CacheSupported, kLocalL1CacheSupported},
    {&hipDeviceProp_t::regsPerMultiprocessor, kMaxRegistersPerMultiprocessor},
    {&hipDeviceProp_t::managedMemory, kManagedMemory},
    {&hipDeviceProp_t::isMultiGpuBoard, kMultiGpuBoard},
    {&hipDeviceProp_t::multiGpuBoardGroupID, kMultiGpuBoardGroupId},
    {&hipDeviceProp_t::hostNativeAtomicSupported, kHostNativeAtomicSupported},
    {&hipDeviceProp_t::pageableMemoryAccess, kPageableMemoryAccess},
    {&hipDeviceProp_t::concurrentManagedAccess, kConcurrentManagedAccess},
    {&hipDeviceProp_t::computePreemptionSupported, kComputePreemptionSupported},
    {&hipDeviceProp_t::canUseHostPointerForRegisteredMem, kCanUseHostPointerForRegisteredMem},
    {&hipDeviceProp_t::cooperativeLaunch, kCooperativeLaunch},
    {&hipDeviceProp_t::pageableMemoryAccessUsesHostPageTables,
     kPageableMemoryAccessUsesHostPageTables},
    {&hipDeviceProp_t::directManagedMemAccessFromHost, kDirectManagedMemAccessFromHost},
    {&hipDeviceProp_t::maxBlocksPerMultiProcessor, kMaxBlocksPerMultiprocessor},
    {&hipDeviceProp_t::hostRegisterSupported, kHostRegisterSupported},
    {&hipDeviceProp_t::gpuDirectRDMASupported, kGpuDirectRdmaSupported},
    {&hipDeviceProp_t::clockInstructionRate, kClockRate},
};

struct SizePropertyName {
  std::size_t hipDeviceProp_t::*field;
  DeviceAttribute cuda;
};

constexpr SizePropertyName kSizeProperties[] = {
    {&hipDeviceProp_t::sharedMemPerBlock, kMaxSharedMemoryPerBlock},
    {&hipDeviceProp_t::memPitch, kMaxPitch},
    {&hipDeviceProp_t::totalConstMem, kTotalConstantMemory},
    {&hipDeviceProp_t::textureAlignment, kTextureAlignment},
    {&hipDeviceProp_t::texturePitchAlignment, kTexturePitchAlignment},
    {&hipDeviceProp_t::surfaceAlignment, kSurfaceAlignment},
    {&hipDeviceProp_t::sharedMemPerMultiprocessor, kMaxSharedMemoryPerMultiprocessor},
    {&hipDeviceProp_t::sharedMemPerBlockOptin, kMaxSharedMemoryPerBlockOptin},
    {&hipDeviceProp_t::maxSharedMemoryPerMultiProcessor, kMaxSharedMemoryPerMultiprocessor},
};

// 0 for an attribute that is newer than the driver.
int number(const Driver& driver, DeviceId device, DeviceAttribute attribute) {
  int value = 0;
  return driver.device_get_attribute(&value, attribute, device) == kSuccess ? value : 0;
}

hipError_t read_total_memory(const Driver& driver, DeviceId device, int* value) {
  std::size_t bytes = 0;
  const Result result = driver.device_total_mem(&bytes, device);
  *value = static_cast<int>(std::min(bytes, std::size_t{INT_MAX}));
  return to_hip(result);
}

}  // namespace

hipError_t read_attribute(const Driver& driver, DeviceId device, hipDeviceAttribute_t attribute,
                          int* value) {
  for (const AttributeValue& own : kOwnAnswers) {
    if (own.hip == attribute) {
      *value = own.value;
      return hipSuccess;
    }
  }
  for (const AttributeName& name : kAttributes) {
    if (name.hip == attribute) {
      return to_hip(driver.device_get_attribute(value, name.cuda, device));
    }
  }
  if (attribute == hipDeviceAttributeTotalGlobalMem) {
    return read_total_memory(driver, device, value);
  }
  return hipErrorInvalidValue;
}

hipError_t read_properties(const Driver& driver, DeviceId device, hipDeviceProp_t* properties) {
  hipDeviceProp_t filled{};
  Result result = driver.device_get_name(filled.name, sizeof(filled.name), device);
  if (result == kSuccess) result = driver.device_total_mem(&filled.totalGlobalMem, device);
  Uuid uuid{};
  if (result == kSuccess) result = driver.device_get_uuid(&uuid, device);
  if (result != kSuccess) return to_hip(result);
  std::memcpy(filled.uuid.bytes, uuid.bytes, sizeof(uuid.bytes));
  for (const PropertyName& name : kProperties) {
    filled.*name.field = number(driver, device, name.cuda);
  }
  for (const SizePropertyName& name : kSizeProperties) {
    filled.*name.field = static_cast<std::size_t>(number(driver, device, name.cuda));
  }
  constexpr DeviceAttribute kBlock[] = {kMaxBlockDimX, kMaxBlockDimY, kMaxBlockDimZ};
  constexpr DeviceAttribute kGrid[] = {kMaxGridDimX, kMaxGridDimY, kMaxGridDimZ};
  for (int axis = 0; axis < 3; ++axis) {
    filled.maxThreadsDim[axis] = number(driver, device, kBlock[axis]);
    filled.maxGridSize[axis] = number(driver, device, kGrid[axis]);
  }
  // AMD's programs branch on "gfx..."; this must not look like one.
  std::snprintf(filled.gcnArchName, sizeof(filled.gcnArchName), "sm_%d%d", filled.major,
                filled.minor);
  *properties = filled;
  return hipSuccess;
}

}  // namespace hip_portable::cuda
