# SPDX-License-Identifier: MIT
#
# find_package(hip) -> hip::host, where no ROCm was found before this package. A ROCm of HIP 6 or
# later under ROCM_PATH, HIP_PATH (variables of CMake or of the environment) or /opt/rocm is handed
# over to; else hip::host is the stand-in: our headers, and a libamdhip64 that is our runtime.

get_filename_component(_hip_self "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_hip_stand_in "${_hip_self}/../../../hip_portable" ABSOLUTE)
set(_hip_rocm "")
foreach(_hip_candidate "${ROCM_PATH}" "$ENV{ROCM_PATH}" "${HIP_PATH}" "$ENV{HIP_PATH}" /opt/rocm)
  set(_hip_version "${_hip_candidate}/include/hip/hip_version.h")
  if(_hip_candidate STREQUAL "" OR NOT EXISTS "${_hip_candidate}/lib/cmake/hip/hip-config.cmake"
     OR NOT EXISTS "${_hip_version}" OR EXISTS "${_hip_candidate}/lib/libhip_portable.so.0")
    continue()
  endif()
  file(STRINGS "${_hip_version}" _hip_major REGEX "define[ \t]+HIP_VERSION_MAJOR[ \t]")
  if(_hip_major MATCHES "HIP_VERSION_MAJOR[ \t]+([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 6)
    set(_hip_rocm "${_hip_candidate}")
    break()
  endif()
endforeach()

if(_hip_rocm)
  list(APPEND CMAKE_PREFIX_PATH "${_hip_rocm}")
  include("${_hip_rocm}/lib/cmake/hip/hip-config.cmake")
elseif(NOT TARGET hip::host)
  add_library(hip::amdhip64 SHARED IMPORTED)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_hip_stand_in}/lib/libamdhip64.so"
    IMPORTED_SONAME libamdhip64.so.7
    INTERFACE_INCLUDE_DIRECTORIES "${_hip_stand_in}/include")
  add_library(hip::host INTERFACE IMPORTED)
  set_target_properties(hip::host PROPERTIES
    INTERFACE_LINK_LIBRARIES hip::amdhip64
    INTERFACE_COMPILE_DEFINITIONS __HIP_PLATFORM_AMD__=1)
  set(hip_INCLUDE_DIR "${_hip_stand_in}/include")
  set(hip_INCLUDE_DIRS "${_hip_stand_in}/include")
  set(HIP_PLATFORM amd)
  set(HIP_RUNTIME rocclr)
endif()

unset(_hip_self)
unset(_hip_stand_in)
unset(_hip_rocm)
unset(_hip_candidate)
unset(_hip_version)
unset(_hip_major)
