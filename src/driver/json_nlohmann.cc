// SPDX-License-Identifier: MIT
//
// The one file that includes nlohmann's JSON. Its events bear no position, so the text is handed
// over through an iterator that counts the lines it has passed: at the event of a key the parser
// has read exactly up to the key's closing quote.
#include <nlohmann/json.hpp>
#include <utility>

#include "driver/config_file.h"

namespace hipfile {
namespace {

using nlohmann::json;

// The parser copies its iterators; all copies count in one place.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, size_t* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_++ == '\n') ++*line_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  size_t* line_;
};

// Collects the entries of the two upper levels; what lies deeper makes its entry unfit.
class Collector : public nlohmann::json_sax<json> {
 public:
  Collector(JsonText& text, const size_t& line) : text_(text), line_(line) {}

  bool null() override { return add(Unfit()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t) override { return add(Unfit()); }  // a negative one
  bool number_unsigned(number_unsigned_t value) override { return add(size_t{value}); }
  bool number_float(number_float_t, const string_t&) override { return add(Unfit()); }
  bool string(string_t& value) override { return add(value); }
  bool binary(binary_t&) override { return add(Unfit()); }
  bool start_object(size_t) override { return enter(depth_ == 2); }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override { return depth_ == 0 ? refuse() : enter(true); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    if (depth_ == 1) entry_ = {name, "", line_, Unfit(), false};
    if (depth_ == 2 && !is_in_list_) entry_ = {entry_.section, name, line_, Unfit(), false};
    return true;
  }
  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: what is wrong"
    const std::string what = error.what();
    const size_t colon = what.find(": ");
    return fail("no JSON: " + (colon == std::string::npos ? what : what.substr(colon + 2)));
  }

 private:
  using Found = std::variant<size_t, bool, std::string, Unfit>;

  bool fail(std::string error) {
    text_.error = std::move(error);
    text_.error_line = line_;
    return false;
  }
  bool refuse() { return fail("the file must hold an object"); }
  bool add(Found value) {
    if (depth_ == 0) return refuse();
    const bool is_value = depth_ == 2 && !is_in_list_;
    if (depth_ == 1) value = Unfit();
    if (is_value || depth_ == 1) {
      entry_.value = std::move(value);
      text_.entries.push_back(entry_);
    }
    return true;
  }
  // An object that is a section is entered; everything else that opens is one unfit value.
  bool enter(bool is_unfit) {
    if (is_unfit && !add(Unfit())) return false;
    if (is_unfit && depth_ == 1) is_in_list_ = true;
    if (!is_unfit && depth_ == 1) {
      text_.entries.push_back({entry_.section, "", entry_.line, Unfit(), true});
    }
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    if (depth_ == 1) is_in_list_ = false;
    return true;
  }

  JsonText& text_;
  const size_t& line_;
  JsonEntry entry_;
  int depth_ = 0;
  bool is_in_list_ = false;  // inside a section that is a list
};

}  // namespace

JsonText parse_json(const std::string& text) {
  JsonText parsed;
  size_t line = 1;
  Collector collector(parsed, line);
  const CountingIterator begin(text.data(), &line);
  const CountingIterator end(text.data() + text.size(), &line);
  const bool is_whole =
      json::sax_parse(begin, end, &collector, json::input_format_t::json, true, true);
  if (!is_whole && parsed.error.empty()) parsed.error = "no JSON";
  if (!parsed.error.empty() && parsed.error_line == 0) parsed.error_line = 1;
  return parsed;
}

}  // namespace hipfile
