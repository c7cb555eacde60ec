// SPDX-License-Identifier: MIT
//
// Addresses without memory behind them.
#pragma once

#include <cstddef>

namespace hip_portable::emulated {

// Takes `size` bytes of addresses at the alignment, a power of two and at least a page. Null when
// there are none to be had; errno says why.
void* reserve_addresses(std::size_t size, std::size_t alignment);
// The same at one place; null unless all of it was free.
void* reserve_addresses_at(void* place, std::size_t size);

// Takes away what is mapped there; the addresses stay reserved. False: all is as it was.
bool clear_addresses(void* start, std::size_t size);

// Gives addresses back; null is allowed. Leaves errno as it was.
void drop_addresses(void* start, std::size_t size);

}  // namespace hip_portable::emulated
