// SPDX-License-Identifier: MIT
// The command line of aiscp, one argument a line, and the quoting of names.
#include <getopt.h>

#include <clocale>
#include <cstdio>

#include "fuzz.h"
#include "tools/aiscp/messages.h"
#include "tools/aiscp/options.h"

// The program closes its standard output when it has shown its help; here it goes on.
extern "C" int __wrap_fclose(std::FILE* file);
extern "C" int __real_fclose(std::FILE* file);
extern "C" int __wrap_fclose(std::FILE* file) { return file == stdout ? 0 : __real_fclose(file); }

namespace {

using hipfile::fuzz::require;

// What a shell makes of a quoted name.
std::string unquoted(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool is_dollar = text.compare(at, 2, "$'") == 0;
    if (text[at] == '\\') {
      out += text[at + 1];
      at += 2;
    } else if (text[at] == '"') {
      for (++at; text[at] != '"'; ++at) out += text[at];
      ++at;
    } else {
      require(is_dollar || text[at] == '\'');
      for (at += is_dollar ? 2 : 1; text[at] != '\''; ++at) {
        if (!is_dollar || text[at] != '\\') {
          out += text[at];
        } else if (text[at + 1] >= '0' && text[at + 1] <= '7') {
          out += static_cast<char>(std::stoi(text.substr(at + 1, 3), nullptr, 8));
          at += 3;
        } else {
          static const std::string kLetters = "abfnrtv", kMeant = "\a\b\f\n\r\t\v";
          const size_t letter = kLetters.find(text[++at]);
          out += letter == std::string::npos ? text[at] : kMeant[letter];
        }
      }
      ++at;
    }
  }
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const kLocale = std::setlocale(LC_ALL, "C.UTF-8");
  require(kLocale != nullptr);
  std::vector<std::string> lines = hipfile::fuzz::lines_of(data, size);
  const std::string whole(reinterpret_cast<const char*>(data), size);
  require(unquoted(aiscp::quote(whole)) == whole);

  std::vector<char*> argv;
  std::string name = "aiscp";
  argv.push_back(name.data());
  for (std::string& line : lines) argv.push_back(line.data());
  argv.push_back(nullptr);
  ::optind = 0;  // getopt begins anew
  aiscp::Options options;
  const std::optional<int> status =
      aiscp::parse_options(static_cast<int>(argv.size()) - 1, argv.data(), &options);
  require(!status || *status == 0 || *status == aiscp::kExitUsage);
  require(options.jobs <= 4096 && options.operands.size() <= lines.size());
  require(static_cast<int>(options.direct) <= 2 && static_cast<int>(options.progress) <= 2);
  for (const int device : options.gpu.devices) require(device >= 0);
  require((options.gpu.kind == aiscp::GpuChoice::Kind::kDevices) == !options.gpu.devices.empty());
  return 0;
}
