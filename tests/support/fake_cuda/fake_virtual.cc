// SPDX-License-Identifier: MIT
//
// Fake driver: virtual memory. Memory is a file without a name, so that it can be mapped at several
// places. Reserved addresses are closed to the program; the device finds what is mapped there at
// the same distance in a second reservation.
//
// As seen on an H200: a wish for an address is not heard, reservations may touch each other and a
// mapping may cross their border, memory is mapped as a whole or not at all, and what is unmapped
// may have gaps or nothing in it.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "fake_cuda.h"

using namespace fake_cuda;

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;
constexpr std::size_t kMostAlignment = std::size_t{1} << 40;
constexpr std::size_t kMostBytes = std::size_t{1} << 46;

struct Location {
  int type;
  int id;
};
struct Properties {
  int type;
  int handle_types;
  Location location;
  void* win32_data;
  unsigned char flags[8];
};
struct Access {
  Location location;
  int flags;
};

struct Memory {
  int device = 0;
  std::size_t size = 0;
  int fd = -1;
  int references = 1;
  int mappings = 0;
};

struct Mapping {
  std::size_t size = 0;
  std::uint64_t handle = 0;
  int access[kMaxDevices] = {};
};

std::mutex mutex;
std::uint64_t last_handle = 0;

std::map<std::uint64_t, Memory>& memories() {
  static auto* all = new std::map<std::uint64_t, Memory>;
  return *all;
}
struct Reserved {
  std::size_t size = 0;
  char* view = nullptr;
};

std::map<CUdeviceptr, Reserved>& reservations() {
  static auto* all = new std::map<CUdeviceptr, Reserved>;
  return *all;
}
std::map<CUdeviceptr, Mapping>& mappings() {
  static auto* all = new std::map<CUdeviceptr, Mapping>;
  return *all;
}

std::size_t size_of(const Reserved& reserved) { return reserved.size; }
std::size_t size_of(const Mapping& mapping) { return mapping.size; }

// Needs the mutex, as all below. The entry that holds an address, or end.
template <class Map>
typename Map::iterator find(Map& map, CUdeviceptr address) {
  auto at = map.upper_bound(address);
  if (at == map.begin()) return map.end();
  --at;
  return address - at->first < size_of(at->second) ? at : map.end();
}

void drop_if_unused(std::uint64_t handle) {
  const auto at = memories().find(handle);
  if (at->second.references != 0 || at->second.mappings != 0) return;
  close(at->second.fd);
  memories().erase(at);
}

// [first, last) are whole mappings that fill the range.
bool whole_mappings(CUdeviceptr address, std::size_t size,
                    std::map<CUdeviceptr, Mapping>::iterator* first,
                    std::map<CUdeviceptr, Mapping>::iterator* last) {
  CUdeviceptr end = address;
  *first = *last = mappings().find(address);
  for (; *last != mappings().end() && (*last)->first == end && end < address + size; ++*last) {
    end += (*last)->second.size;
  }
  return *first != *last && end == address + size;
}

bool is_place(const Location& location) {
  return location.type == 1 && location.id >= 0 && location.id < device_count();
}

char* view_of(const std::pair<const CUdeviceptr, Reserved>& reserved, CUdeviceptr address) {
  return reserved.second.view + (address - reserved.first);
}

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

void* reserve_at(CUdeviceptr start, std::size_t size, int flags) {
  return mmap(pointer(start), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags,
              -1, 0);
}

// Before the lowest reservation, if that is free; 0 if there are no addresses.
CUdeviceptr take_addresses(std::size_t size, std::size_t alignment) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!reservations().empty() && reservations().begin()->first > size) {
    const CUdeviceptr before = reservations().begin()->first - size;
    if (before % alignment == 0 &&
        reserve_at(before, size, MAP_FIXED_NOREPLACE) == pointer(before)) {
      return before;
    }
  }
  void* const place = reserve_at(0, size + alignment, 0);
  if (place == MAP_FAILED) return 0;
  const auto start = reinterpret_cast<CUdeviceptr>(place);
  const CUdeviceptr address = (start + alignment - 1) / alignment * alignment;
  const CUdeviceptr end = address + size;
  if (address != start) munmap(place, address - start);
  if (end != start + size + alignment) munmap(pointer(end), start + size + alignment - end);
  return address;
}

// Reservations without a gap between them.
bool is_reserved(CUdeviceptr address, std::size_t size) {
  const CUdeviceptr end = address + size;
  while (address < end) {
    const auto at = find(reservations(), address);
    if (at == reservations().end()) return false;
    address = at->first + at->second.size;
  }
  return true;
}

// What the device sees in a range: a file from its start, or nothing (-1).
bool show(CUdeviceptr address, std::size_t size, int fd) {
  const int protection = fd < 0 ? PROT_NONE : PROT_READ | PROT_WRITE;
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  for (std::size_t done = 0; done < size;) {
    const auto at = find(reservations(), address + done);
    const std::size_t part = std::min(size - done, at->first + at->second.size - address - done);
    if (mmap(view_of(*at, address + done), part, protection, flags | MAP_FIXED, fd,
             fd < 0 ? 0 : static_cast<off_t>(done)) == MAP_FAILED) {
      return false;
    }
    done += part;
  }
  return true;
}

bool is_mapped(CUdeviceptr address, std::size_t size) {
  const auto next = mappings().lower_bound(address);
  return find(mappings(), address) != mappings().end() ||
         (next != mappings().end() && next->first < address + size);
}

// No mapping lies partly inside.
bool holds_whole_mappings(CUdeviceptr address, std::size_t size) {
  const auto first = find(mappings(), address);
  const auto last = find(mappings(), address + size - 1);
  return (first == mappings().end() || first->first == address) &&
         (last == mappings().end() || last->first + last->second.size == address + size);
}

}  // namespace

std::size_t fake_cuda::virtual_memory_of(int device) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::size_t used = 0;
  for (const auto& [handle, memory] : memories()) {
    if (memory.device == device) used += memory.size;
  }
  return used;
}

bool fake_cuda::find_virtual(CUdeviceptr address, VirtualPlace* place) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto reservation = find(reservations(), address);
  const auto mapping = find(mappings(), address);
  if (reservation == reservations().end()) return false;
  const Reserved& reserved = reservation->second;
  char* const view = reserved.view + (address - reservation->first);
  *place = {reservation->first, reserved.size, 0, 0, -2, view};
  if (mapping == mappings().end()) return true;
  place->mapping = mapping->first;
  place->mapped = mapping->second.size;
  place->device = memories().at(mapping->second.handle).device;
  return true;
}

bool fake_cuda::is_virtual_open(CUdeviceptr address, std::size_t size, int device, int access) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (find(reservations(), address) == reservations().end()) return true;
  for (const CUdeviceptr end = address + size; address < end;) {
    const auto at = find(mappings(), address);
    if (at == mappings().end() || (at->second.access[device] & access) != access) return false;
    address = at->first + at->second.size;
  }
  return true;
}

FAKE_CUDA_API CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t size,
                                           std::size_t alignment, CUdeviceptr /*wish*/,
                                           unsigned long long flags) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (size == 0 || size % kGranularity != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (alignment < kGranularity) alignment = kGranularity;
  if (alignment > kMostAlignment) return CUDA_ERROR_INVALID_VALUE;
  if (size > kMostBytes) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = take_addresses(size, alignment);
  if (*address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  void* view = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (view == MAP_FAILED) {
    munmap(pointer(*address), size);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  reservations()[*address] = Reserved{size, static_cast<char*>(view)};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemAddressFree(CUdeviceptr address, std::size_t size) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = reservations().find(address);
  if (at == reservations().end() || at->second.size != size || is_mapped(address, size)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  munmap(pointer(address), size);
  munmap(at->second.view, size);
  reservations().erase(at);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemGetAllocationGranularity(std::size_t* granularity,
                                                     const Properties* properties, int /*option*/) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (properties->type != 1 || !is_place(properties->location)) return CUDA_ERROR_INVALID_VALUE;
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemCreate(std::uint64_t* handle, std::size_t size,
                                   const Properties* properties, unsigned long long flags) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  // A handle that is to be exported says so: 1 is a descriptor.
  const bool is_right = properties->type == 1 && (properties->handle_types & ~1) == 0 &&
                        is_place(properties->location) && flags == 0;
  if (!is_right || size == 0 || size % kGranularity != 0) return CUDA_ERROR_INVALID_VALUE;
  const int device = properties->location.id;
  if (size > free_memory(device)) return CUDA_ERROR_OUT_OF_MEMORY;
  const int fd = memfd_create("fake_cuda", MFD_CLOEXEC);
  if (fd < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (ftruncate(fd, static_cast<off_t>(size)) != 0) {
    close(fd);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  *handle = ++last_handle;
  memories()[*handle] = Memory{device, size, fd, 1, 0};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemExportToShareableHandle(void* shared, std::uint64_t handle, int type,
                                                    unsigned long long flags) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = memories().find(handle);
  if (at == memories().end() || type != 1 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const int fd = fcntl(at->second.fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *static_cast<int*>(shared) = fd;
  return CUDA_SUCCESS;
}

// On the first device; the descriptor stays the caller's.
FAKE_CUDA_API CUresult cuMemImportFromShareableHandle(std::uint64_t* handle, void* shared,
                                                      int type) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  struct stat facts;
  const int given = static_cast<int>(reinterpret_cast<std::intptr_t>(shared));
  if (type != 1 || fstat(given, &facts) != 0) return CUDA_ERROR_INVALID_VALUE;
  const int fd = fcntl(given, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard<std::mutex> lock(mutex);
  *handle = ++last_handle;
  memories()[*handle] = Memory{0, static_cast<std::size_t>(facts.st_size), fd, 1, 0};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemRelease(std::uint64_t handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = memories().find(handle);
  if (at == memories().end() || at->second.references == 0) return CUDA_ERROR_INVALID_VALUE;
  --at->second.references;
  drop_if_unused(handle);
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemRetainAllocationHandle(std::uint64_t* handle, void* address) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = find(mappings(), reinterpret_cast<CUdeviceptr>(address));
  if (at == mappings().end()) return CUDA_ERROR_INVALID_VALUE;
  *handle = at->second.handle;
  ++memories().at(*handle).references;
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemGetAllocationPropertiesFromHandle(Properties* properties,
                                                              std::uint64_t handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = memories().find(handle);
  if (at == memories().end()) return CUDA_ERROR_INVALID_VALUE;
  *properties = Properties{1, 0, {1, at->second.device}, nullptr, {}};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemMap(CUdeviceptr address, std::size_t size, std::size_t offset,
                                std::uint64_t handle, unsigned long long flags) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto memory = memories().find(handle);
  if (memory == memories().end() || offset != 0 || flags != 0 || size != memory->second.size ||
      !is_reserved(address, size)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (is_mapped(address, size)) return CUDA_ERROR_INVALID_VALUE;
  if (!show(address, size, memory->second.fd)) return CUDA_ERROR_OUT_OF_MEMORY;
  ++memory->second.mappings;
  mappings()[address] = Mapping{size, handle, {}};
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemUnmap(CUdeviceptr address, std::size_t size) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (size == 0 || !is_reserved(address, size) || !holds_whole_mappings(address, size)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!show(address, size, -1)) return CUDA_ERROR_OUT_OF_MEMORY;
  auto at = mappings().lower_bound(address);
  while (at != mappings().end() && at->first < address + size) {
    const std::uint64_t handle = at->second.handle;
    at = mappings().erase(at);
    --memories().at(handle).mappings;
    drop_if_unused(handle);
  }
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemSetAccess(CUdeviceptr address, std::size_t size, const Access* access,
                                      std::size_t count) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::map<CUdeviceptr, Mapping>::iterator first;
  std::map<CUdeviceptr, Mapping>::iterator last;
  if (!whole_mappings(address, size, &first, &last)) return CUDA_ERROR_INVALID_VALUE;
  for (; first != last; ++first) {
    for (std::size_t at = 0; at < count; ++at) {
      if (!is_place(access[at].location)) return CUDA_ERROR_INVALID_DEVICE;
      first->second.access[access[at].location.id] = access[at].flags;
    }
  }
  return CUDA_SUCCESS;
}

FAKE_CUDA_API CUresult cuMemGetAccess(unsigned long long* flags, const Location* location,
                                      CUdeviceptr address) {
  VirtualPlace place;
  *flags = 0;  // the true driver's answer for other memory
  if (!find_virtual(address, &place) && is_known(address)) return CUDA_SUCCESS;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = find(mappings(), address);
  if (at == mappings().end() || !is_place(*location)) return CUDA_ERROR_INVALID_VALUE;
  *flags = static_cast<unsigned long long>(at->second.access[location->id]);
  return CUDA_SUCCESS;
}
