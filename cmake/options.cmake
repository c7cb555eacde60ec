# SPDX-License-Identifier: MIT
#
# What every target shares: build type, language level, warnings, sanitizers, and the optional
# third-party packages. A package that is missing takes a feature away and says so; it never fails
# the configuration, so that the library also builds where only a compiler and CMake are installed.
#
#   project_options        warnings and language level; link it PRIVATE into every target of ours
#   shared_options         how a shared library of ours is linked (rules 5 and 6 of docs/design)
#   dep_uring              liburing, static;   defines HIPFILE_HAVE_URING=1 where it is there
#   dep_libmount           libmount;           defines HIPFILE_HAVE_LIBMOUNT=1
#   dep_cli11              CLI11, headers only; the tools that need it are built where it is there
#   dep_spdlog             spdlog, headers only; defines HIPFILE_HAVE_SPDLOG=1
#   dep_json               nlohmann json, headers only; defines HIPFILE_HAVE_JSON=1

option(HIPFILE_WERROR "Treat warnings as errors" ON)
set(HIPFILE_SANITIZE "" CACHE STRING "Sanitizers: empty, address (with undefined) or thread")
set_property(CACHE HIPFILE_SANITIZE PROPERTY STRINGS "" address thread)
option(HIPFILE_WITH_URING "Use io_uring if liburing is found" ON)
option(HIPFILE_WITH_LIBMOUNT "Read mount data by libmount if it is found" ON)
option(HIPFILE_WITH_CLI11 "Build the tools that need CLI11 if it is found" ON)
option(HIPFILE_WITH_SPDLOG "Log through spdlog if it is found" ON)
option(HIPFILE_WITH_JSON "Read hipfile.json with nlohmann's parser if it is found" ON)
set(HIPFILE_TESTS AUTO CACHE STRING "Build the tests: AUTO (if GoogleTest is found), ON or OFF")
set_property(CACHE HIPFILE_TESTS PROPERTY STRINGS AUTO ON OFF)
option(HIPFILE_SYSTEM_TESTS "With the tests: those of whole programs and of the install tree too" ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Library folder below the prefix")
include(GNUInstallDirs)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
# The same relative search path serves the build tree and an installed one. CMake would otherwise
# pad the one of the build tree with colons, and an empty element means the current directory.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)

# RUNPATH, never RPATH: LD_LIBRARY_PATH must be able to put another runtime in front.
add_link_options(-Wl,--enable-new-dtags -Wl,--as-needed)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(project_options INTERFACE)
target_compile_features(project_options INTERFACE cxx_std_20)
target_compile_options(project_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<BOOL:${HIPFILE_WERROR}>:-Werror>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>
  # Unique symbols would pin a library in the process for ever and leak across two copies of it.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
target_link_libraries(project_options INTERFACE Threads::Threads)

# nodelete: threads and handlers of ours outlive dlclose. The C++ runtime is inside and hidden,
# because Python and others bring an older one into the process.
add_library(shared_options INTERFACE)
target_link_options(shared_options INTERFACE
  -Wl,-z,nodelete -Wl,--exclude-libs,ALL -Wl,-Bsymbolic
  $<$<NOT:$<BOOL:${HIPFILE_SANITIZE}>>:-static-libstdc++> -static-libgcc)

if(HIPFILE_SANITIZE STREQUAL "address")
  set(sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(HIPFILE_SANITIZE STREQUAL "thread")
  set(sanitizer_flags -fsanitize=thread)
  # g++ 12 warns that TSan does not see std::atomic_thread_fence; uses of it are commented.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-tsan>)
elseif(NOT HIPFILE_SANITIZE STREQUAL "")
  message(FATAL_ERROR "HIPFILE_SANITIZE is '${HIPFILE_SANITIZE}': not address, thread or empty")
endif()
if(HIPFILE_SANITIZE)
  # For every target, not by project_options: a library without them hides errors of the others.
  add_compile_options(${sanitizer_flags} -fno-omit-frame-pointer)
  add_link_options(${sanitizer_flags})
endif()

# dependency(NAME OPTION header library...): an INTERFACE target that is empty where it is missing.
function(hipfile_dependency name define header)
  set(libraries "")
  add_library(dep_${name} INTERFACE)
  if(NOT HIPFILE_WITH_${define})
    message(STATUS "${name}: switched off (HIPFILE_WITH_${define}=OFF)")
    return()
  endif()
  find_path(HIPFILE_${define}_INCLUDE_DIR ${header})
  mark_as_advanced(HIPFILE_${define}_INCLUDE_DIR)
  set(missing "")
  if(NOT HIPFILE_${define}_INCLUDE_DIR)
    set(missing ${header})
  endif()
  foreach(file ${ARGN})
    find_library(HIPFILE_${define}_LIBRARY NAMES ${file})
    mark_as_advanced(HIPFILE_${define}_LIBRARY)
    if(NOT HIPFILE_${define}_LIBRARY)
      list(APPEND missing ${file})
    endif()
    list(APPEND libraries "${HIPFILE_${define}_LIBRARY}")
  endforeach()
  if(missing)
    message(STATUS "${name}: not found (${missing}); built without it")
    return()
  endif()
  target_include_directories(dep_${name} SYSTEM INTERFACE "${HIPFILE_${define}_INCLUDE_DIR}")
  target_link_libraries(dep_${name} INTERFACE ${libraries})
  target_compile_definitions(dep_${name} INTERFACE HIPFILE_HAVE_${define}=1)
  message(STATUS "${name}: found")
endfunction()

hipfile_dependency(uring URING liburing.h liburing.a)
hipfile_dependency(libmount LIBMOUNT libmount/libmount.h libmount.so)
hipfile_dependency(cli11 CLI11 CLI/CLI.hpp)
# Debian's libspdlog.so would put its registry, and fmt, into the process of every user.
hipfile_dependency(spdlog SPDLOG spdlog/spdlog.h)
target_compile_definitions(dep_spdlog INTERFACE SPDLOG_HEADER_ONLY SPDLOG_FMT_EXTERNAL
                           FMT_HEADER_ONLY)
hipfile_dependency(json JSON nlohmann/json.hpp)
