// SPDX-License-Identifier: MIT
//
// hipfile.json: what its entries mean for the parameters. json_nlohmann.cc parses the text, or
// json_none.cc says that this library was built without a parser.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "driver/parameters.h"

namespace hipfile {

/// What stands behind a name in the file and is no value of a parameter: null, a fraction, a
/// negative number, a list, an object.
struct Unfit {};

/// "section": { "key": value }. A section that is no object has an empty key.
struct JsonEntry {
  std::string section;
  std::string key;
  size_t line = 0;
  std::variant<size_t, bool, std::string, Unfit> value;
  bool is_section = false;  ///< no value: the section begins here
};

/// The entries of a text in their order; comments (// and /* */) are skipped.
struct JsonText {
  std::vector<JsonEntry> entries;
  std::string error;  ///< empty, or why the text is no JSON object
  size_t error_line = 0;
};
JsonText parse_json(const std::string& text);

/// Set what the entries of `text` say. What is wrong is added to `problems`, as "NAME:LINE: …"; a
/// text that cannot be parsed changes nothing. Pure but for parse_json().
void apply_json(const std::string& text, const std::string& name, Settings& settings,
                std::vector<std::string>& problems);

}  // namespace hipfile
