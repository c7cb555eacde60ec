// SPDX-License-Identifier: MIT
//
// The version, and the texts of the codes.
#include "api/entry.h"

namespace hipfile::entry {

hipFileError_t get_version(unsigned* major, unsigned* minor, unsigned* patch) {
  if (major != nullptr) *major = HIPFILE_VERSION_MAJOR;
  if (minor != nullptr) *minor = HIPFILE_VERSION_MINOR;
  if (patch != nullptr) *patch = HIPFILE_VERSION_PATCH;
  return {hipFileSuccess, hipSuccess};
}

const char* get_op_error_string(hipFileOpError_t status) {
  switch (static_cast<int>(status)) {
    case hipFileSuccess:
      return "success";
    case hipFileDriverNotInitialized:
      return "the hipFile library is not open";
    case hipFileDriverInvalidProps:
      return "a driver property is not acceptable";
    case hipFileDriverUnsupportedLimit:
      return "a limit is out of the supported range";
    case hipFileDriverVersionMismatch:
      return "kernel driver and library do not fit together";
    case hipFileDriverVersionReadError:
      return "the version of the kernel driver cannot be read";
    case hipFileDriverClosing:
      return "the hipFile library is closed or closing";
    case hipFilePlatformNotSupported:
      return "this platform cannot run hipFile";
    case hipFileIONotSupported:
      return "this kind of file or handle is not supported";
    case hipFileDeviceNotSupported:
      return "the GPU is not supported";
    case hipFileDriverError:
      return "the kernel driver failed";
    case hipFileHipDriverError:
      return "a HIP call failed";
    case hipFileHipPointerInvalid:
      return "the GPU pointer is invalid";
    case hipFileHipMemoryTypeInvalid:
      return "this kind of memory cannot be used";
    case hipFileHipPointerRangeError:
      return "the range leaves the memory allocation";
    case hipFileHipContextMismatch:
      return "the GPU context is another one";
    case hipFileInvalidMappingSize:
      return "the size exceeds the registered range";
    case hipFileInvalidMappingRange:
      return "the access leaves the registered range";
    case hipFileInvalidFileType:
      return "this type of file cannot be used";
    case hipFileInvalidFileOpenFlag:
      return "the flags the file was opened with cannot be used";
    case hipFileDIONotSet:
      return "the file was not opened with O_DIRECT";
    case hipFileInvalidValue:
      return "an argument is invalid";
    case hipFileMemoryAlreadyRegistered:
      return "the buffer is registered already";
    case hipFileMemoryNotRegistered:
      return "the buffer is not registered";
    case hipFilePermissionDenied:
      return "no permission for the device or file";
    case hipFileDriverAlreadyOpen:
      return "the hipFile library is open already";
    case hipFileHandleNotRegistered:
      return "the file handle is not registered";
    case hipFileHandleAlreadyRegistered:
      return "the file descriptor is registered already";
    case hipFileDeviceNotFound:
      return "no such GPU";
    case hipFileInternalError:
      return "internal error";
    case hipFileGetNewFDFailed:
      return "no new file descriptor could be had";
    case hipFileDriverSetupError:
      return "the hipFile library could not be set up";
    case hipFileIODisabled:
      return "the configuration forbids I/O on this file";
    case hipFileBatchSubmitFailed:
      return "the batch could not be submitted";
    case hipFileGPUMemoryPinningFailed:
      return "GPU memory could not be pinned";
    case hipFileBatchFull:
      return "the batch has no room for so many requests";
    case hipFileAsyncNotSupported:
      return "asynchronous I/O is not available";
    case hipFileIOMaxError:
      return "end of the hipFile error codes";
    default:
      return "unknown hipFile error";
  }
}

}  // namespace hipfile::entry
