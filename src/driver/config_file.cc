// SPDX-License-Identifier: MIT
//
// Each entry is held against the table of parameters.
#include "driver/config_file.h"

#include <algorithm>

namespace hipfile {
namespace {

bool is_section(const std::string& name) {
  const auto all = parameters();
  return std::any_of(all.begin(), all.end(),
                     [&name](const Parameter& parameter) { return name == parameter.section; });
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

// Sets the value, or says why not.
std::string apply(const JsonEntry& entry, Settings& settings) {
  if (!is_section(entry.section)) {  // said once, where it begins
    return entry.key.empty() ? "unknown section " + quoted(entry.section) : "";
  }
  if (entry.is_section) return "";
  if (entry.key.empty()) return "section " + quoted(entry.section) + " must be an object";
  const std::string name = quoted(entry.section + "." + entry.key);
  const int index = find_parameter(entry.section, entry.key);
  if (index < 0) return "unknown key " + name;
  const Parameter& parameter = parameters()[static_cast<size_t>(index)];
  Value value;
  if (const auto* number = std::get_if<size_t>(&entry.value)) value = *number;
  if (const auto* truth = std::get_if<bool>(&entry.value)) value = *truth;
  if (const auto* string = std::get_if<std::string>(&entry.value)) value = *string;
  // An unfit value stands for one of a wrong type.
  const bool is_unfit = std::holds_alternative<Unfit>(entry.value);
  if (is_unfit && parameter.kind == ParameterKind::kSize) value = false;
  const std::string why = why_unfit(parameter, value);
  if (why.empty()) settings.set(index, std::move(value));
  return why.empty() ? "" : name + " " + why;
}

}  // namespace

void apply_json(const std::string& text, const std::string& name, Settings& settings,
                std::vector<std::string>& problems) {
  const JsonText parsed = parse_json(text);
  const auto complain = [&](size_t line, const std::string& what) {
    problems.push_back(name + ":" + std::to_string(line) + ": " + what);
  };
  if (!parsed.error.empty()) {
    complain(parsed.error_line, parsed.error + "; the whole file is ignored");
    return;
  }
  for (const JsonEntry& entry : parsed.entries) {
    const std::string what = apply(entry, settings);
    if (!what.empty()) complain(entry.line, what + "; ignored");
  }
}

}  // namespace hipfile
