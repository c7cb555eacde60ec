// SPDX-License-Identifier: MIT
//
// What the configuration in force says about a request. A request carries a pointer to it from its
// start to its end, so that it meets one configuration only.
#pragma once

#include <algorithm>
#include <cstddef>

namespace hipfile {

/// Immutable once published. The parameters' names in hipfile.h are given where they differ.
struct BackendOptions {
  bool allow_compat = true;      ///< the bounce backend may be used
  bool force_compat = false;     ///< the fastpath is never used
  bool any_file_system = false;  ///< HIPFILE_UNSUPPORTED_FILE_SYSTEMS: no file-system rule
  bool allow_host = true;        ///< AllowSystemMemory: host memory is accepted
  bool force_direct = false;     ///< ForceOdirectMode: the direct view for cached ranges too
  bool prefer_uring = false;     ///< PreferIOUring: for the page cache as well

  unsigned queue_depth = 128;            ///< operations of one queue in flight
  unsigned parallelism = 16;             ///< parts of one request in flight; 1: one after another
  size_t parallel_threshold = 64 << 10;  ///< bytes: smaller requests are not run in parts
  size_t largest_io = 16 << 20;          ///< MaxDirectIOSize, bytes: the largest system call
  size_t request_staging = 64 << 20;     ///< PerBufferCacheSize, bytes of the ring for one request
  size_t poll_threshold = 0;             ///< bytes: up to it waits are spinning; 0 for none

  /// Operations in flight for a request of that size.
  unsigned depth_for(size_t size) const {
    return size < parallel_threshold ? 1 : std::min(queue_depth, parallelism);
  }
  bool polls(size_t size) const { return size <= poll_threshold && poll_threshold != 0; }

  bool operator==(const BackendOptions&) const = default;
};

/// The defaults.
inline constexpr BackendOptions kDefaultOptions;

}  // namespace hipfile
