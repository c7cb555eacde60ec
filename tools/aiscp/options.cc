// SPDX-License-Identifier: MIT
//
// getopt_long with permutation and abbreviations. Every value is checked here; the rest of the
// program sees only sound options.
#include "options.h"

#include <getopt.h>
#include <hipfile.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "messages.h"

namespace aiscp {
namespace {

enum LongOption {
  kGpu = CHAR_MAX + 1,
  kChunkSize,
  kDirect,
  kInplace,
  kFsync,
  kProgress,
  kStats,
  kHelp,
  kVersion
};

const option kLongOptions[] = {{"chunk-size", required_argument, nullptr, kChunkSize},
                               {"direct", required_argument, nullptr, kDirect},
                               {"force", no_argument, nullptr, 'f'},
                               {"fsync", no_argument, nullptr, kFsync},
                               {"gpu", required_argument, nullptr, kGpu},
                               {"help", no_argument, nullptr, kHelp},
                               {"inplace", no_argument, nullptr, kInplace},
                               {"jobs", required_argument, nullptr, 'j'},
                               {"no-target-directory", no_argument, nullptr, 'T'},
                               {"progress", optional_argument, nullptr, kProgress},
                               {"stats", no_argument, nullptr, kStats},
                               {"target-directory", required_argument, nullptr, 't'},
                               {"verbose", no_argument, nullptr, 'v'},
                               {"version", no_argument, nullptr, kVersion},
                               {nullptr, 0, nullptr, 0}};

const char kHelpText[] =
    "Usage: aiscp [OPTION]... SOURCE DEST\n"
    "  or:  aiscp [OPTION]... SOURCE... DIRECTORY\n"
    "  or:  aiscp [OPTION]... -t DIRECTORY SOURCE...\n"
    "Copy SOURCE to DEST, or several SOURCEs into DIRECTORY, through GPU memory.\n"
    "\n"
    "What is copied where, as in cp:\n"
    "  -f, --force                  if an existing destination cannot be opened for\n"
    "                                 writing, replace it all the same\n"
    "  -t, --target-directory=DIRECTORY  copy all SOURCEs into DIRECTORY\n"
    "  -T, --no-target-directory    treat DEST as a file, never as a directory\n"
    "  -v, --verbose                name each file when it is in place\n"
    "\n"
    "Device and transfer:\n"
    "      --gpu=N[,M]...|host|auto  devices to go through; 'host' is an emulated one in\n"
    "                                 main memory; default 'auto': a GPU if there is one\n"
    "      --chunk-size=SIZE        bytes per transfer (default 8M)\n"
    "  -j, --jobs=N                 chunks in flight (default: as many as 256M hold)\n"
    "      --direct=auto|always|never  O_DIRECT at both ends: if possible, or fail, or not\n"
    "\n"
    "Safety:\n"
    "      --inplace                overwrite an existing destination instead of\n"
    "                                 replacing it\n"
    "      --fsync                  flush each file, then its directory\n"
    "\n"
    "Output, on standard error:\n"
    "      --progress[=auto|always|never]  bytes, rate and time left; default 'auto': on a\n"
    "                                 terminal, from the second second\n"
    "      --stats                  what was moved, how, and how fast\n"
    "\n"
    "      --help                   this text\n"
    "      --version                the version\n"
    "\n"
    "SIZE takes the suffixes K, M and G (powers of 1024). Exit status: 0 all copied,\n"
    "1 something was not, 2 wrong usage.\n";

/// Digits and an optional K, M or G; nothing else, no overflow, not 0.
std::optional<size_t> parse_size(const char* text) {
  if (*text < '0' || *text > '9') return std::nullopt;
  errno = 0;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  if (errno != 0 || number == 0) return std::nullopt;
  unsigned shift = 0;
  switch (*end) {
    case 'K': case 'k': shift = 10; break;
    case 'M': case 'm': shift = 20; break;
    case 'G': case 'g': shift = 30; break;
    default: break;
  }
  if (shift != 0) ++end;
  if (*end != '\0' || number > (SIZE_MAX >> shift)) return std::nullopt;
  return static_cast<size_t>(number) << shift;
}

std::optional<unsigned> parse_count(const char* text, unsigned least, unsigned most) {
  if (*text < '0' || *text > '9') return std::nullopt;
  errno = 0;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text, &end, 10);
  if (errno != 0 || *end != '\0' || number < least || number > most) return std::nullopt;
  return static_cast<unsigned>(number);
}

std::optional<GpuChoice> parse_gpu(const std::string& text) {
  GpuChoice choice;
  if (text == "auto") return choice;
  if (text == "host") {
    choice.kind = GpuChoice::Kind::kHost;
    return choice;
  }
  choice.kind = GpuChoice::Kind::kDevices;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string number = text.substr(begin, comma - begin);
    const std::optional<unsigned> device = parse_count(number.c_str(), 0, INT_MAX);
    if (!device) return std::nullopt;
    choice.devices.push_back(static_cast<int>(*device));
    begin = comma + 1;
  }
  return choice;
}

/// The index of `text` in `words`, where an unambiguous beginning is enough, as in GNU programs.
std::optional<int> match_word(const char* text, std::initializer_list<const char*> words) {
  std::optional<int> found;
  int index = 0;
  for (const char* word : words) {
    if (std::strncmp(text, word, std::strlen(text)) == 0) {
      if (std::strlen(text) == std::strlen(word)) return index;
      if (found) return std::nullopt;
      found = index;
    }
    ++index;
  }
  return found;
}

int complain_value(const char* option_name, const char* value) {
  return complain_usage("invalid argument " + quote(value) + " for " + quote(option_name));
}

/// Takes one option with a value. Returns its long name if the value is no good.
const char* take_value(int letter, const char* value, Options* options) {
  switch (letter) {
    case kGpu: {
      const std::optional<GpuChoice> gpu = parse_gpu(value);
      if (gpu) options->gpu = *gpu;
      return gpu ? nullptr : "--gpu";
    }
    case kChunkSize: {
      const std::optional<size_t> size = parse_size(value);
      if (size) options->chunk_size = *size;
      return size ? nullptr : "--chunk-size";
    }
    case 'j': {
      const std::optional<unsigned> jobs = parse_count(value, 1, 4096);
      if (jobs) options->jobs = *jobs;
      return jobs ? nullptr : "--jobs";
    }
    case kDirect: {
      const std::optional<int> direct = match_word(value, {"auto", "always", "never"});
      if (direct) options->direct = static_cast<Direct>(*direct);
      return direct ? nullptr : "--direct";
    }
    default: {
      const std::optional<int> when =
          value == nullptr ? 1 : match_word(value, {"auto", "always", "never"});
      if (when) options->progress = static_cast<When>(*when);
      return when ? nullptr : "--progress";
    }
  }
}

/// Takes one option without a value of ours to check.
void take_flag(int letter, Options* options) {
  switch (letter) {
    case 'v': options->is_verbose = true; break;
    case 'f': options->is_forced = true; break;
    case 'T': options->is_target_a_file = true; break;
    case kInplace: options->is_in_place = true; break;
    case kFsync: options->wants_fsync = true; break;
    default: options->wants_stats = true; break;
  }
}

std::optional<int> show(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (close_output()) return 0;
  complain("write error");
  return kExitFailure;
}

}  // namespace

int complain_usage(const std::string& text) {
  complain(text);
  std::fputs("Try 'aiscp --help' for more information.\n", stderr);
  return kExitUsage;
}

std::optional<int> parse_options(int argc, char** argv, Options* options) {
  static char name[] = "aiscp";
  if (argc > 0) argv[0] = name;  // getopt's own messages begin with it
  for (;;) {
    const int letter = ::getopt_long(argc, argv, "fj:t:Tv", kLongOptions, nullptr);
    if (letter == -1) break;
    if (letter == '?') {
      std::fputs("Try 'aiscp --help' for more information.\n", stderr);
      return kExitUsage;
    }
    if (letter == kHelp) return show(kHelpText);
    if (letter == kVersion) {
      return show("aiscp (hipFile) " + std::to_string(HIPFILE_VERSION_MAJOR) + "." +
                  std::to_string(HIPFILE_VERSION_MINOR) + "." +
                  std::to_string(HIPFILE_VERSION_PATCH) + "\n");
    }
    if (letter == 't') {
      if (options->target_directory) {
        complain("multiple target directories specified");
        return kExitUsage;
      }
      options->target_directory = optarg;
    } else if (letter == kGpu || letter == kChunkSize || letter == 'j' || letter == kDirect ||
               letter == kProgress) {
      const char* bad = take_value(letter, optarg, options);
      if (bad != nullptr) return complain_value(bad, optarg);
    } else {
      take_flag(letter, options);
    }
  }
  options->operands.assign(argv + optind, argv + argc);
  return std::nullopt;
}

}  // namespace aiscp
