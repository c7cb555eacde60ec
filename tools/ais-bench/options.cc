// SPDX-License-Identifier: MIT
//
// By CLI11. What is wrong beyond what CLI11 sees is said in the same way.
#include "options.h"

#include <hipfile.h>

#include <CLI/CLI.hpp>
#include <map>

namespace ais_bench {
namespace {

constexpr size_t kLargestCall = 0x7ffff000;
constexpr size_t kAsyncCall = size_t{16} << 20;

std::string version_text() {
  return "ais-bench (hipFile) " + std::to_string(HIPFILE_VERSION_MAJOR) + "." +
         std::to_string(HIPFILE_VERSION_MINOR) + "." + std::to_string(HIPFILE_VERSION_PATCH);
}

// Every verb takes these.
void add_common(CLI::App* app, Options* options) {
  app->add_option("PATH", options->path, "a file, or a directory in which one is made and removed")
      ->required()
      ->check(CLI::ExistingPath);
  app->add_option("--size", options->size, "bytes of the file; of a new one 1G is the default")
      ->transform(CLI::AsSizeValue(false));
  app->add_option("--runs", options->runs, "pairs of runs, or runs of what has no pair")
      ->check(CLI::Range(1, 1000));
  app->add_option("--gpu", options->device, "number of the device")->check(CLI::Range(0, 1023));
  app->add_flag("--json", options->is_json, "JSON instead of a table");
}

void add_moving(CLI::App* app, Options* options) {
  static const std::map<std::string, Beside> kBeside = {
      {"ceiling", Beside::kCeiling}, {"hand", Beside::kHand}, {"sync", Beside::kSync}};
  app->add_option("--call", options->call, "most bytes of one call")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(size_t{1}, kLargestCall));
  app->add_option("--beside", options->beside, "compare with: ceiling, hand or (async) sync")
      ->transform(CLI::CheckedTransformer(kBeside));
  app->add_flag("--cold", options->is_cold, "drop the file from the page cache before each run");
  app->add_flag("--direct", options->is_direct, "open the file with O_DIRECT");
  app->add_flag("!--unregistered", options->is_registered, "do not register the buffer");
  app->add_flag("--overwrite", options->may_overwrite, "an existing file may be written");
}

void add_busy(CLI::App* app, Options* options) {
  app->add_flag("--busy", options->is_busy,
                "measure while a kernel holds the device, beside the same without")
      ->excludes(app->get_option("--beside"));
}

void add_threads(CLI::App* app, Options* options) {
  app->add_option("--threads", options->threads, "threads that call: N[,M...], a figure for each")
      ->delimiter(',')
      ->check(CLI::Range(1u, kMostThreads));
}

void add_verbs(CLI::App* app, Options* options) {
  CLI::App* verb = app->add_subcommand("ceilings", "what link, page cache and disk can do alone");
  verb->callback([options] { options->verb = Verb::kCeilings; });
  add_common(verb, options);
  verb->add_flag("--overwrite", options->may_overwrite, "an existing file may be written");

  verb = app->add_subcommand("read", "hipFileRead");
  verb->callback([options] { options->verb = Verb::kRead; });
  add_common(verb, options);
  add_moving(verb, options);
  add_busy(verb, options);
  add_threads(verb, options);

  verb = app->add_subcommand("write", "hipFileWrite");
  verb->callback([options] { options->verb = Verb::kWrite; });
  add_common(verb, options);
  add_moving(verb, options);
  add_busy(verb, options);
  add_threads(verb, options);

  verb = app->add_subcommand("async", "hipFileReadAsync, or hipFileWriteAsync");
  verb->callback([options] { options->verb = Verb::kAsync; });
  add_common(verb, options);
  add_moving(verb, options);
  verb->add_option("--streams", options->streams, "streams that are filled in turn")
      ->check(CLI::Range(1u, kMostThreads));
  verb->add_option("--queue", options->queue, "operations queued before a wait; 0: all")
      ->check(CLI::Range(0, 1000000));
  verb->add_flag("--write", options->is_write, "write instead of reading");

  verb = app->add_subcommand("start", "from the start of a process to its first bytes");
  verb->callback([options] { options->verb = Verb::kStart; });
  add_common(verb, options);
  add_moving(verb, options);

  verb = app->add_subcommand("child", "one process of start")->group("");
  verb->callback([options] { options->verb = Verb::kChild; });
  add_common(verb, options);
  add_moving(verb, options);
}

size_t default_call(Verb verb) {
  switch (verb) {
    case Verb::kAsync:
      return kAsyncCall;
    case Verb::kStart:
    case Verb::kChild:
      return 4096;
    default:
      return kLargestCall;
  }
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options* options) {
  CLI::App app("How fast hipFile moves bytes, beside what the machine can do at most.",
               "ais-bench");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer(
      "SIZE takes the suffixes K, M and G (powers of 1024). Exit status: 0 measured and checked,\n"
      "1 something failed, 2 wrong usage. See ais-bench(1).");
  add_verbs(&app, options);
  try {
    app.parse(argc, argv);
    if (options->beside == Beside::kSync && options->verb != Verb::kAsync) {
      throw CLI::ValidationError("--beside", "sync goes with async only");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  if (options->call == 0) options->call = default_call(options->verb);
  return std::nullopt;
}

}  // namespace ais_bench
