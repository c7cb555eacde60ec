// SPDX-License-Identifier: MIT
//
// One piece of memory seen at two addresses: the program's view, whose addresses are the device
// pointers, and the working view through which the runtime reads and writes. In strict mode the
// program's view is PROT_NONE, so the CPU traps on it and system calls answer EFAULT.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hip_portable::emulated {

class DoubleMapping {
 public:
  DoubleMapping() = default;
  DoubleMapping(const DoubleMapping&) = delete;
  DoubleMapping& operator=(const DoubleMapping&) = delete;
  // Never unmapped: pointers of work that is still queued stay harmless.
  ~DoubleMapping() = default;

  // Takes addresses, no memory. Both views are aligned to kAlignment and not inherited by children
  // nor dumped. False: errno says why.
  bool map(std::size_t size, bool is_strict);

  std::byte* program() const { return program_; }
  std::size_t size() const { return size_; }
  std::byte* working(const void* pointer) const {
    return static_cast<std::byte*>(const_cast<void*>(pointer)) + distance_;
  }
  bool contains(const void* pointer) const {
    const auto offset = reinterpret_cast<std::uintptr_t>(pointer) -
                        reinterpret_cast<std::uintptr_t>(program_);
    return program_ != nullptr && offset < size_;
  }

  // Both take addresses of the program's view, multiples of the page size. Best effort: a page
  // that could not be populated is taken by the first access, one not discarded keeps its bytes.
  void populate(std::byte* start, std::size_t size) const;
  void discard(std::byte* start, std::size_t size) const;

  // Maps a part once more, for reading and writing, over whatever stands at `at`. False: what
  // stands there is unknown.
  bool show(const std::byte* start, std::size_t size, void* at) const;

  static constexpr std::size_t kAlignment = std::size_t{2} << 20;

 private:
  std::byte* program_ = nullptr;
  std::ptrdiff_t distance_ = 0;  // from the program's view to the working view
  std::size_t size_ = 0;
  int descriptor_ = -1;  // only where the views could not be duplicated without one
};

}  // namespace hip_portable::emulated
