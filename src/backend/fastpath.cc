// SPDX-License-Identifier: MIT
//
// The kernel side wants offsets and sizes in multiples of 4 KiB even where the file system allows
// 512, so the alignment asked for is the larger of the two; the planner gives the edges to another
// backend.
#include "backend/fastpath.h"

#include <algorithm>

#include "util/arith.h"

namespace hipfile {
namespace {
constexpr size_t kKernelAlignment = 4096;
}

hipFileExtRefusal_t Fastpath::refuses(const Request& request) const {
  const File& file = *request.file;
  const DirectFacts& direct = file.facts().direct;
  if (request.options->force_compat) return hipFileExtRefusalForcedCompat;
  if (!request.memory.is_device()) return hipFileExtRefusalNotDeviceMemory;
  if (!gpu_.has_direct_io(request.memory.runtime)) return hipFileExtRefusalRuntimeLacksDirect;
  if (!file.has_direct_view(request.direction)) return hipFileExtRefusalNoDirectView;
  const bool is_exempt = request.options->any_file_system && file.facts().is_regular();
  if (!is_exempt && !file.facts().is_fastpath_file_system()) return hipFileExtRefusalFileSystem;
  if (file.has_fastpath_failed()) return hipFileExtRefusalFailedBefore;
  const auto address = reinterpret_cast<uintptr_t>(request.address);
  if (!is_aligned(address, direct.memory_alignment)) return hipFileExtRefusalUnalignedMemory;
  const size_t alignment = std::max(direct_alignment(request), kKernelAlignment);
  if (!is_aligned(static_cast<uint64_t>(request.file_offset), alignment)) {
    return hipFileExtRefusalUnalignedFileOffset;
  }
  if (!is_aligned(request.size, alignment)) return hipFileExtRefusalUnalignedSize;
  return hipFileExtRefusalNone;
}

std::vector<Stretch> Fastpath::views_of(const Request& request) {
  const bool is_read = request.is_read() && Gpu::has_buffered_read(request.memory.runtime);
  if (is_read) return choose_views(request, IfUnknown::kDirect);
  return {{request.file_offset, request.end(), true}};
}

Outcome Fastpath::run(const Request& request) {
  Outcome total;
  for (const Stretch& stretch : views_of(request)) {
    const Request part = request.part(stretch.begin, stretch.end);
    const Outcome outcome = run_stretch(part, stretch.is_direct);
    total.done += outcome.done;
    total.error = outcome.error;
    if (outcome.failed() || outcome.done < part.size) break;
  }
  return total;
}

Outcome Fastpath::run_stretch(const Request& request, bool is_direct) {
  File& file = *request.file;
  DirectIo io;
  io.fd = is_direct ? file.direct_fd(request.direction) : file.buffered_fd(request.direction);
  io.is_buffered = !is_direct;
  io.address = request.address;
  io.size = request.size;
  io.offset = request.file_offset;
  io.is_write = !request.is_read();
  const DirectResult result = gpu_.direct_io(request.memory.runtime, request.memory.device, io);
  return Outcome::failure(result.error, result.done);
}

}  // namespace hipfile
