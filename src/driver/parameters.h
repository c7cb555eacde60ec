// SPDX-License-Identifier: MIT
//
// The parameters: one table from which hipFileGet/SetParameter*, the configuration file, the
// environment, the documentation and the tests take what they know of each.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <variant>

namespace hipfile {

/// The three groups of hipfile.h. The index of an alternative of Value, too.
enum class ParameterKind { kSize = 0, kBool = 1, kString = 2 };
using Value = std::variant<size_t, bool, std::string>;

struct Parameter {
  ParameterKind kind;
  int id;                 ///< the enumerator of hipfile.h, or of ours below
  const char* name;       ///< without the prefix hipFileParam
  const char* section;    ///< of hipfile.json
  const char* key;        ///< in the section
  const char* variable;   ///< of the environment
  size_t initial = 0;     ///< the default of a number; 0 or 1 of a boolean
  const char* text = "";  ///< the default of a string
  size_t least = 0;       ///< of a number
  size_t most = 0;
  size_t multiple = 1;
  const char* unit = "";
  /// Larger numbers are taken for the largest in the environment (specification 4.7).
  bool is_clamped = false;
};

/// Ours alone: hipfile.h has no enumerator for them, hipfile.json and the environment set them.
constexpr int kFirstOwnParameter = 100;
constexpr int kAsyncBufferSize = 100;         ///< kSize
constexpr int kUnsupportedFileSystems = 100;  ///< kBool

constexpr size_t kParameterCount = 29;
std::span<const Parameter, kParameterCount> parameters();

/// The place of a parameter in the table, or -1.
int find_parameter(ParameterKind kind, int id);
int find_parameter(const std::string& section, const std::string& key);

/// Why a value does not fit a parameter, for people; empty if it does.
std::string why_unfit(const Parameter& parameter, const Value& value);

/// A value for each parameter, at first its default.
class Settings {
 public:
  Settings();
  const Value& at(int index) const { return values_[static_cast<size_t>(index)]; }
  void set(int index, Value value) { values_[static_cast<size_t>(index)] = std::move(value); }

  size_t size(int id) const;
  bool is_on(int id) const;
  const std::string& text(int id) const;

 private:
  std::array<Value, kParameterCount> values_;
};

}  // namespace hipfile
