// SPDX-License-Identifier: MIT
// Mount options: file-system type, then options.
#include "fuzz.h"
#include "resource/mount_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> lines = hipfile::fuzz::lines_of(data, size);
  const std::string options = lines.size() > 1 ? lines[1] : "";
  const std::string type = lines.empty() ? "" : lines[0];
  for (const std::string& name : {type, std::string("ext4"), std::string("xfs")}) {
    const hipfile::DataMode mode = hipfile::data_mode_of(name, options);
    const bool is_known = name == "ext4" || name == "xfs";
    hipfile::fuzz::require(is_known == (mode != hipfile::DataMode::kUnknown));
    const bool is_named = ("," + options + ",").find(",data=journal,") != std::string::npos;
    hipfile::fuzz::require(mode != hipfile::DataMode::kJournal || is_named);
  }
  return 0;
}
