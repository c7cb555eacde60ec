# SPDX-License-Identifier: MIT
#
# The install tree. `cmake --install` writes it; `./x install` stages it and keeps a manifest.
#
#   bin/{aiscp,ais-bench,ais-stats}   include/hipfile{,_ext,-api-trace}.h   lib/libhipfile.so*
#   lib/libhip_portable.so*
#   lib/cmake/{hipfile,hip}   lib/pkgconfig/hipfile.pc   share/doc/hipfile
#   lib/hip_portable/{include,lib}   what a program needs where there is no ROCm, usable as ROCM_PATH
#
# Everything finds everything else relative to itself, so the tree may be moved. Links in it are
# relative, and libraries are linked, never copied: a second copy of the runtime would be a second
# runtime with a heap of its own.
#
# The same lib/hip_portable lies in the build tree.

set(HIPFILE_ROCM_PATH "" CACHE PATH
    "ROCm that hipfile.pc names; empty: the stand-in headers and libamdhip64 of this project")

add_custom_target(install_tree ALL)
foreach(target hipfile hip_portable ais_bench ais_stats aiscp)
  if(TARGET ${target})
    add_dependencies(install_tree ${target})
  endif()
endforeach()
if(NOT TARGET hip_portable OR NOT TARGET hipfile OR HIPFILE_SANITIZE)
  return()
endif()

# ---- The stand-in for libamdhip64: a filter (rule 5) -------------------------------------------
#
# A program linked against it records libamdhip64.so.7, so it meets ROCm on a machine that has it.
# Elsewhere the loader brings libhip_portable.so.0 in front of it and binds every name there. The
# stub has the names only for the linker; behind each stands a trap that is never reached.

set(stand_in "${CMAKE_BINARY_DIR}/lib/hip_portable")
file(MAKE_DIRECTORY "${stand_in}/lib" "${stand_in}/include")
set(stub_source "${CMAKE_BINARY_DIR}/amdhip64_stub.c")
add_custom_command(OUTPUT "${stub_source}"
  COMMAND sh "${PROJECT_SOURCE_DIR}/cmake/make_stub.sh" "${CMAKE_NM}" $<TARGET_FILE:hip_portable>
          "${stub_source}"
  DEPENDS hip_portable "${PROJECT_SOURCE_DIR}/cmake/make_stub.sh" VERBATIM)

set(stubs "")
foreach(major 6 7)
  set(stub "${stand_in}/lib/libamdhip64.so.${major}")
  add_custom_command(OUTPUT "${stub}"
    COMMAND ${CMAKE_C_COMPILER} -shared -nostdlib -fPIC -Os -fno-builtin -o "${stub}"
            "${stub_source}" -Wl,-soname,libamdhip64.so.${major} -Wl,-F,libhip_portable.so.0
            -Wl,--enable-new-dtags "-Wl,-rpath,$ORIGIN/../.." -Wl,-z,noexecstack
    DEPENDS "${stub_source}" VERBATIM)
  list(APPEND stubs "${stub}")
endforeach()
add_custom_target(amdhip64_stubs DEPENDS ${stubs})
add_dependencies(install_tree amdhip64_stubs)

# relative_link(PATH TARGET): a link in the build tree's stand-in folder, installed as it is.
function(hipfile_relative_link path target)
  file(CREATE_LINK "${target}" "${stand_in}/${path}" SYMBOLIC)
  get_filename_component(folder "lib/hip_portable/${path}" DIRECTORY)
  install(FILES "${stand_in}/${path}" DESTINATION ${folder})
endfunction()

hipfile_relative_link(lib/libamdhip64.so libamdhip64.so.7)
foreach(name libhipfile.so libhipfile.so.0 libhip_portable.so libhip_portable.so.0)
  hipfile_relative_link(lib/${name} ../../${name})
endforeach()
hipfile_relative_link(lib/cmake ../../cmake)
foreach(header hipfile.h hipfile_ext.h hipfile-api-trace.h)
  hipfile_relative_link(include/${header} ../../../include/${header})
endforeach()
install(PROGRAMS ${stubs} DESTINATION lib/hip_portable/lib)
install(DIRECTORY hip/include/hip DESTINATION lib/hip_portable/include
        FILES_MATCHING PATTERN "*.h")

# ---- Libraries, programs, headers, package files -----------------------------------------------

install(TARGETS hipfile hip_portable LIBRARY DESTINATION lib)
foreach(program ais_bench ais_stats aiscp)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION bin)
  endif()
endforeach()
install(FILES include/hipfile.h include/hipfile_ext.h include/hipfile-api-trace.h
        DESTINATION include)

include(CMakePackageConfigHelpers)
set(packages "${CMAKE_BINARY_DIR}/packages")
file(STRINGS hip/include/hip/hip_version.h hip_version REGEX "define HIP_VERSION_(MAJOR|MINOR)")
string(REGEX REPLACE ".*MAJOR +([0-9]+).*MINOR +([0-9]+).*" "\\1.\\2.0" hip_version
       "${hip_version}")
write_basic_package_version_file("${packages}/hipfile/hipfileConfigVersion.cmake"
                                 VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
write_basic_package_version_file("${packages}/hip/hip-config-version.cmake"
                                 VERSION ${hip_version} COMPATIBILITY AnyNewerVersion)
configure_file(cmake/package/hipfileConfig.cmake "${packages}/hipfile/hipfileConfig.cmake" COPYONLY)
configure_file(cmake/package/hip-config.cmake "${packages}/hip/hip-config.cmake" COPYONLY)
install(DIRECTORY "${packages}/hipfile" "${packages}/hip" DESTINATION lib/cmake)

if(HIPFILE_ROCM_PATH)
  set(pc_hip_include "${HIPFILE_ROCM_PATH}/include")
  set(pc_hip_lib "${HIPFILE_ROCM_PATH}/lib")
else()
  set(pc_hip_include "\${prefix}/lib/hip_portable/include")
  set(pc_hip_lib "\${prefix}/lib/hip_portable/lib")
endif()
configure_file(cmake/package/hipfile.pc.in "${packages}/hipfile.pc" @ONLY)
install(FILES "${packages}/hipfile.pc" DESTINATION lib/pkgconfig)

# ---- Documents ---------------------------------------------------------------------------------

foreach(file LICENSE README.md CHANGELOG.md)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${file}")
    install(FILES ${file} DESTINATION share/doc/hipfile)
  endif()
endforeach()
if(EXISTS "${PROJECT_SOURCE_DIR}/docs")
  install(DIRECTORY docs/ DESTINATION share/doc/hipfile FILES_MATCHING
          PATTERN "*.md" PATTERN "hipfile.json")
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/examples")
  install(DIRECTORY examples/ DESTINATION share/doc/hipfile/examples
          PATTERN "build*" EXCLUDE)
endif()
