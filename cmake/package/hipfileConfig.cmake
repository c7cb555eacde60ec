# SPDX-License-Identifier: MIT
#
# find_package(hipfile CONFIG) -> hip::hipfile. It brings hip::host with it: from the HIP package
# that the project has found already, from ROCm, or from the stand-in beside this file.

# The real path: this file is also reached through lib/hip_portable/lib/cmake.
get_filename_component(_hipfile_self "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_hipfile_prefix "${_hipfile_self}/../../../.." ABSOLUTE)

if(NOT TARGET hip::host)
  include("${_hipfile_prefix}/lib/cmake/hip/hip-config.cmake")
endif()

if(NOT TARGET hip::host)
  set(hipfile_FOUND FALSE)
  set(hipfile_NOT_FOUND_MESSAGE "no HIP headers were found")
elseif(NOT TARGET hip::hipfile)
  add_library(hip::hipfile SHARED IMPORTED)
  set_target_properties(hip::hipfile PROPERTIES
    IMPORTED_LOCATION "${_hipfile_prefix}/lib/libhipfile.so"
    IMPORTED_SONAME libhipfile.so.0
    INTERFACE_INCLUDE_DIRECTORIES "${_hipfile_prefix}/include"
    INTERFACE_LINK_LIBRARIES hip::host)
endif()

unset(_hipfile_self)
unset(_hipfile_prefix)
