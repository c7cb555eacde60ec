// SPDX-License-Identifier: MIT
//
// The groups of the interface that this version exports and refuses: async, streams, batch,
// properties, parameters, statistics. Each answers hipFileInternalError, as AMD's own library does
// for those it lacks, touches no argument and has no side effect.
#include <hipfile.h>

#include "api/return_code.h"

namespace {
hipFileError_t refused() { return hipfile::to_error(hipFileInternalError); }
}  // namespace

hipFileError_t hipFileDriverGetProperties(hipFileDriverProps_t*) { return refused(); }
hipFileError_t hipFileDriverSetPollMode(bool, size_t) { return refused(); }
hipFileError_t hipFileDriverSetMaxDirectIOSize(size_t) { return refused(); }
hipFileError_t hipFileDriverSetMaxCacheSize(size_t) { return refused(); }
hipFileError_t hipFileDriverSetMaxPinnedMemSize(size_t) { return refused(); }

hipFileError_t hipFileBatchIOSetUp(hipFileBatchHandle_t*, unsigned) { return refused(); }
hipFileError_t hipFileBatchIOSubmit(hipFileBatchHandle_t, unsigned, hipFileIOParams_t*, unsigned) {
  return refused();
}
hipFileError_t hipFileBatchIOGetStatus(hipFileBatchHandle_t, unsigned, unsigned*,
                                       hipFileIOEvents_t*, struct timespec*) {
  return refused();
}
hipFileError_t hipFileBatchIOCancel(hipFileBatchHandle_t) { return refused(); }
void hipFileBatchIODestroy(hipFileBatchHandle_t) {}

hipFileError_t hipFileReadAsync(hipFileHandle_t, void*, size_t*, hoff_t*, hoff_t*, ssize_t*,
                                hipStream_t) {
  return refused();
}
hipFileError_t hipFileWriteAsync(hipFileHandle_t, void*, size_t*, hoff_t*, hoff_t*, ssize_t*,
                                 hipStream_t) {
  return refused();
}
hipFileError_t hipFileStreamRegister(hipStream_t, unsigned) { return refused(); }
hipFileError_t hipFileStreamDeregister(hipStream_t) { return refused(); }

hipFileError_t hipFileGetParameterSizeT(hipFileSizeTConfigParameter_t, size_t*) {
  return refused();
}
hipFileError_t hipFileGetParameterBool(hipFileBoolConfigParameter_t, bool*) { return refused(); }
hipFileError_t hipFileGetParameterString(hipFileStringConfigParameter_t, char*, int) {
  return refused();
}
hipFileError_t hipFileSetParameterSizeT(hipFileSizeTConfigParameter_t, size_t) { return refused(); }
hipFileError_t hipFileSetParameterBool(hipFileBoolConfigParameter_t, bool) { return refused(); }
hipFileError_t hipFileSetParameterString(hipFileStringConfigParameter_t, const char*) {
  return refused();
}

hipFileError_t hipFileGetStatsL1(hipFileStatsLevel1_t*) { return refused(); }
hipFileError_t hipFileGetStatsL2(hipFileStatsLevel2_t*) { return refused(); }
hipFileError_t hipFileGetStatsL3(hipFileStatsLevel3_t*) { return refused(); }
