// SPDX-License-Identifier: MIT
//
// Names for people. A value outside the enumeration has the name "unknown".
#include "backend/names.h"

namespace hipfile {

const char* name_of(hipFileExtBackend_t backend) {
  switch (backend) {
    case hipFileExtBackendNone:
      return "none";
    case hipFileExtBackendFastpath:
      return "fastpath";
    case hipFileExtBackendHost:
      return "host";
    case hipFileExtBackendBounce:
      return "bounce";
    case hipFileExtBackendCount:
      break;
  }
  return "unknown";
}

const char* name_of(hipFileExtRefusal_t refusal) {
  switch (refusal) {
    case hipFileExtRefusalNone:
      return "accepted";
    case hipFileExtRefusalRuntimeLacksDirect:
      return "the HIP runtime has no direct file I/O";
    case hipFileExtRefusalForcedCompat:
      return "HIPFILE_FORCE_COMPAT_MODE is set";
    case hipFileExtRefusalNoDirectView:
      return "the file has no direct view";
    case hipFileExtRefusalNotDeviceMemory:
      return "the buffer is not device memory";
    case hipFileExtRefusalFileSystem:
      return "not ext4 with ordered data, xfs or a block device";
    case hipFileExtRefusalUnalignedFileOffset:
      return "the file offset is not aligned";
    case hipFileExtRefusalUnalignedSize:
      return "the size is not aligned";
    case hipFileExtRefusalUnalignedMemory:
      return "the address is not aligned";
    case hipFileExtRefusalFailedBefore:
      return "it failed for this file before";
    case hipFileExtRefusalCompatDisallowed:
      return "HIPFILE_ALLOW_COMPAT_MODE is false";
    case hipFileExtRefusalNotHostMemory:
      return "the buffer is device memory";
    case hipFileExtRefusalHostDisabled:
      return "HIPFILE_HOST is false";
    case hipFileExtRefusalCount:
      break;
  }
  return "unknown";
}

const char* name_of(hipFileExtViewReason_t reason) {
  switch (reason) {
    case hipFileExtViewOk:
      return "both views";
    case hipFileExtViewNoProc:
      return "/proc is not there";
    case hipFileExtViewNoPermission:
      return "no permission to open the file again";
    case hipFileExtViewNoDescriptors:
      return "no descriptor left";
    case hipFileExtViewNotSupported:
      return "O_DIRECT is not supported";
    case hipFileExtViewFileType:
      return "neither a regular file nor a block device";
    case hipFileExtViewChanged:
      return "another file was found";
    case hipFileExtViewLeased:
      return "a lease stands in the way";
    case hipFileExtViewOther:
      return "it could not be opened";
  }
  return "unknown";
}

}  // namespace hipfile
