// SPDX-License-Identifier: MIT
//
// The last operand is the target unless -t names one; a target that is a directory gets the
// sources' last components.
#include "operands.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "messages.h"

namespace aiscp {
namespace {

/// 0 when `path` is a directory, else the reason in errno's words.
int why_no_directory(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return errno;
  return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
}

/// The last component without slashes at its end; "/" stays.
std::string last_component(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path.empty() ? "" : "/";
  const size_t slash = path.find_last_of('/', end);
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, end + 1 - begin);
}

std::string join(const std::string& directory, const std::string& name) {
  // ".." as a name would climb out of the directory; cp stays in it.
  const std::string inside = name == ".." ? "." : name;
  return directory + (directory.ends_with('/') ? "" : "/") + inside;
}

std::optional<int> fail_target(const std::string& what, const std::string& path, int error) {
  complain(what + " " + quote(path) + ": " + std::strerror(error));
  return kExitFailure;
}

}  // namespace

std::optional<int> pair_operands(const Options& options, std::vector<CopyPair>* pairs) {
  std::vector<std::string> sources = options.operands;
  if (sources.empty()) return complain_usage("missing file operand");
  if (options.is_target_a_file && options.target_directory) {
    complain("cannot combine --target-directory (-t) and --no-target-directory (-T)");
    return kExitUsage;
  }
  if (!options.target_directory && sources.size() == 1) {
    return complain_usage("missing destination file operand after " + quote(sources[0]));
  }
  if (options.is_target_a_file && sources.size() > 2) {
    return complain_usage("extra operand " + quote(sources[2]));
  }

  std::string directory;
  if (options.target_directory) {
    directory = *options.target_directory;
    if (int error = why_no_directory(directory)) {
      return fail_target("target directory", directory, error);
    }
  } else {
    const std::string target = sources.back();
    const int error = options.is_target_a_file ? ENOTDIR : why_no_directory(target);
    sources.pop_back();
    if (error != 0 && sources.size() > 1) return fail_target("target", target, error);
    if (error != 0) {
      pairs->push_back({sources[0], target});
      return std::nullopt;
    }
    directory = target;
  }
  for (const std::string& source : sources) {
    pairs->push_back({source, join(directory, last_component(source))});
  }
  return std::nullopt;
}

}  // namespace aiscp
