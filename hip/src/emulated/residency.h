// SPDX-License-Identifier: MIT
//
// Which parts of the device's memory hold pages. Memory is taken when the runtime first touches
// it, in steps of 2 MiB because single page faults cost ten times as much, and is given back in
// units of 64 KiB.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "double_mapping.h"
#include "extents.h"

namespace hip_portable::emulated {

class Residency {
 public:
  static constexpr std::size_t kUnit = std::size_t{64} << 10;

  explicit Residency(const DoubleMapping& mapping);

  // Takes the memory of the steps that `part` meets, without leaving `block`. No lock: threads
  // that meet populate twice, which does no harm.
  void touch(Extent part, Extent block);

  // Units that lie wholly inside `outer` and meet `part`.
  static Extent whole_units(Extent part, Extent outer);
  // Bytes of the units in `units`, which begins and ends at a unit, that were touched.
  std::size_t touched(Extent units) const;
  // Gives the memory of these units back.
  void discard(Extent units);
  // Gives back what the program itself may have touched through its own view.
  void discard_untouched(Extent units);

 private:
  static constexpr std::size_t kStep = DoubleMapping::kAlignment;
  static constexpr std::size_t kUnitsOfStep = kStep / kUnit;

  // One bit for each unit; a step is one word.
  using Word = std::atomic<std::uint32_t>;
  static_assert(kUnitsOfStep == 32);

  // Calls `each(step index, mask of units, extent)` for the steps that `part` meets.
  template <typename Each>
  static void for_steps(Extent part, Each each);
  void populate(Extent part) const;

  const DoubleMapping& mapping_;
  std::unique_ptr<Word[]> words_;
};

}  // namespace hip_portable::emulated
