// SPDX-License-Identifier: MIT
//
// By CLI11. The program's own arguments follow its name and are left alone.
#include "options.h"

#include <hipfile.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>

namespace ais_stats {
namespace {

std::string version_text() {
  return "ais-stats (hipFile) " + std::to_string(HIPFILE_VERSION_MAJOR) + "." +
         std::to_string(HIPFILE_VERSION_MINOR) + "." + std::to_string(HIPFILE_VERSION_PATCH);
}

// Nothing, or what is wrong beyond what CLI11 sees.
std::string fault_of(const Options& options) {
  const bool attaches = options.pid != 0;
  if (attaches && !options.program.empty()) return "a program and --pid exclude each other";
  if (!attaches && options.program.empty()) return "a program or --pid is wanted";
  if (!attaches && options.is_immediate) return "--immediate goes with --pid only";
  if (options.is_immediate && options.watch_s > 0) return "--watch waits, --immediate does not";
  return "";
}

}  // namespace

void complain(const std::string& text) { std::fprintf(stderr, "ais-stats: %s\n", text.c_str()); }

std::optional<int> parse_options(int argc, char** argv, Options* options) {
  CLI::App app("What a program moves with hipFile: start it, or look at one that runs.",
               "ais-stats");
  app.prefix_command();
  app.footer(
      "ais-stats [OPTION]... PROGRAM [ARGUMENT]...\n"
      "ais-stats [OPTION]... -p PID\n\n"
      "Exit status: 0 when a report was printed, else 1. See ais-stats(1).");
  app.add_option("-p,--pid", options->pid, "look at this process")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  app.add_flag("-i,--immediate", options->is_immediate, "report at once, do not wait for its end");
  app.add_option("-w,--watch", options->watch_s, "a line with rates every so many seconds")
      ->check(CLI::Range(0.001, 86400.0));
  app.set_version_flag("--version", version_text());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitFailure;
  }
  options->program = app.remaining();
  const std::string fault = fault_of(*options);
  if (fault.empty()) return std::nullopt;
  complain(fault);
  std::fputs("Run with --help for more information.\n", stderr);
  return kExitFailure;
}

}  // namespace ais_stats
