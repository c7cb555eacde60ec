// SPDX-License-Identifier: MIT
//
// Environment variables: parsing (pure) and reading. A value that does not parse is ignored, with a
// warning that names it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace hipfile {

/// true, 1, yes, on and false, 0, no, off, in any letter case; else nothing.
std::optional<bool> parse_bool(const char* text);

/// A decimal number that is the whole text; overflow saturates at SIZE_MAX; else nothing.
std::optional<size_t> parse_size(const char* text);

bool env_bool(const char* name, bool fallback);
size_t env_size(const char* name, size_t fallback);
/// Empty if unset.
std::string env_string(const char* name);

}  // namespace hipfile
