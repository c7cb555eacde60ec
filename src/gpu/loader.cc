// SPDX-License-Identifier: MIT
//
// The order of the search, and the list of runtimes in use. No lock is held while a library is
// loaded: two threads that look at once find the same objects, and the second result is dropped.
#include "gpu/loader.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "gpu/open_runtime.h"
#include "gpu/shared_objects.h"
#include "util/env.h"
#include "util/log.h"
#include "util/mutex.h"
#include "util/thread_pins.h"

namespace hipfile::gpu {
namespace {

constexpr const char* kOwnLibrary = "libhip_portable.so.0";
constexpr const char* kRocmLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"};

struct Search {
  std::vector<std::unique_ptr<Runtime>> found;
  std::string reasons;  // why others were passed over, joined by "; "
  hipError_t error = hipErrorNoDevice;

  void pass_over(const std::string& reason) {
    if (reason.empty()) return;
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  bool take(Opened opened) {
    pass_over(opened.reason);
    if (!opened.runtime) return false;
    for (const auto& known : found) {
      if (known->path == opened.runtime->path) return true;  // the stub and what it stands for
    }
    found.push_back(std::move(opened.runtime));
    return true;
  }
};

struct State {
  Mutex mutex;
  std::vector<const Runtime*> runtimes HIPFILE_GUARDED_BY(mutex);
  unsigned long long seen_loads HIPFILE_GUARDED_BY(mutex) = 0;
  std::string failure HIPFILE_GUARDED_BY(mutex);
  hipError_t error HIPFILE_GUARDED_BY(mutex) = hipSuccess;
  std::string passed_over HIPFILE_GUARDED_BY(mutex);
};

State& state() {
  static State* const instance = new State;  // leaked: called from exit handlers
  return *instance;
}

void look_at_mapped(Search& search) {
  for (const std::string& path : mapped_runtimes()) search.take(open_runtime(path, true));
  Opened program = open_main_program();
  if (program.runtime) search.take(std::move(program));
}

// Rule 2: an explicit wish that cannot be had is an error, and so is one that contradicts what the
// program has loaded already.
void look_at_wish(const std::string& wish, Search& search) {
  Opened opened = open_runtime(wish, false);
  if (!opened.runtime) {
    search.error = hipErrorSharedObjectInitFailed;
    search.found.clear();
    search.pass_over("HIPFILE_HIP_LIBRARY: " + opened.reason);
    return;
  }
  for (const auto& known : search.found) {
    if (known->path == opened.runtime->path) continue;
    search.error = hipErrorSharedObjectInitFailed;
    search.pass_over("HIPFILE_HIP_LIBRARY names " + opened.runtime->path + ", but " + known->path +
                     " is loaded already");
    search.found.clear();
    return;
  }
  search.take(std::move(opened));
}

bool is_kfd_usable() { return access("/dev/kfd", R_OK | W_OK) == 0; }

void look_for_rocm(Search& search) {
  if (!is_kfd_usable()) return;
  std::vector<std::string> names;
  const std::string home = env_string("ROCM_PATH");
  for (const char* library : kRocmLibraries) {
    if (!home.empty()) names.push_back(home + "/lib/" + library);
    names.push_back(library);
    names.push_back(std::string("/opt/rocm/lib/") + library);
  }
  for (const std::string& name : names) {
    Opened opened = open_runtime(name, false);
    std::string reason;
    if (opened.runtime && !opened.runtime->is_portable && !sees_device(*opened.runtime, &reason)) {
      opened.runtime.reset();
      opened.reason = reason;
    }
    if (search.take(std::move(opened))) return;
  }
}

void look_for_own(Search& search) {
  const std::string folder = own_folder();
  for (const std::string& name :
       {folder + "/" + kOwnLibrary, folder + "/../lib/" + kOwnLibrary, std::string(kOwnLibrary)}) {
    if (search.take(open_runtime(name, false))) return;
  }
}

Search look() {
  Search search;
  look_at_mapped(search);
  const std::string wish = env_string("HIPFILE_HIP_LIBRARY");
  if (!wish.empty()) {
    look_at_wish(wish, search);
    return search;
  }
  if (search.found.empty()) look_for_rocm(search);
  if (search.found.empty()) look_for_own(search);
  return search;
}

// Rule 6. The pins tell which threads are in a call of ours; they get two seconds.
void leave_runtimes() {
  std::vector<const Runtime*> runtimes;
  {
    State& shared = state();
    MutexLock lock(shared.mutex);
    runtimes = shared.runtimes;
  }
  bool has_gone = false;
  for (const Runtime* runtime : runtimes) {
    const auto is_emulated = runtime->hip.PortableDeviceIsEmulated;
    if (is_emulated != nullptr && is_emulated(0) == 1) continue;
    runtime->is_gone.store(true, std::memory_order_release);
    has_gone = true;
  }
  for (int tries = 0; has_gone && tries < 2000 && ThreadPins::is_any_pinned(); ++tries)
    usleep(1000);
}

void publish(Search search, unsigned long long loads) {
  State& shared = state();
  bool is_first = false;
  {
    MutexLock lock(shared.mutex);
    is_first = shared.runtimes.empty() && !search.found.empty();
    shared.seen_loads = loads;
    shared.passed_over = search.reasons;
    for (auto& runtime : search.found) {
      bool is_known = false;
      for (const Runtime* known : shared.runtimes) is_known |= known->path == runtime->path;
      if (!is_known) shared.runtimes.push_back(runtime.release());
    }
    const bool has_failed = shared.runtimes.empty();
    shared.error = has_failed ? search.error : hipSuccess;
    shared.failure = has_failed ? search.reasons : std::string();
  }
  if (is_first) std::atexit(&leave_runtimes);
}

bool knows(const Runtime& runtime, const void* pointer) {
  hipPointerAttribute_t attributes = {};
  if (runtime.hip.PointerGetAttributes(&attributes, pointer) == hipSuccess) {
    return attributes.type != hipMemoryTypeUnregistered;
  }
  (void)runtime.hip.GetLastError();
  return false;
}

std::vector<const Runtime*> known_runtimes() {
  State& shared = state();
  MutexLock lock(shared.mutex);
  return shared.runtimes;
}

const Runtime* owner_of(const std::vector<const Runtime*>& runtimes, const void* pointer) {
  if (runtimes.size() == 1) return runtimes.front();
  for (const Runtime* runtime : runtimes) {
    if (pointer != nullptr && knows(*runtime, pointer)) return runtime;
  }
  return runtimes.empty() ? nullptr : runtimes.front();
}

bool must_look(const void* pointer) {
  State& shared = state();
  const unsigned long long loads = load_count();
  MutexLock lock(shared.mutex);
  return shared.runtimes.empty() || (pointer != nullptr && loads != shared.seen_loads);
}

}  // namespace

Result<const Runtime*> bind(const void* pointer) {
  if (must_look(pointer)) {
    const unsigned long long before = load_count();
    Search search = look();
    const bool has_grown = load_count() != before;
    publish(std::move(search), has_grown ? load_count() : before);
    log_info("HIP runtime: %s", describe_binding().c_str());
  }
  const Runtime* runtime = owner_of(known_runtimes(), pointer);
  if (runtime != nullptr) return runtime;
  State& shared = state();
  MutexLock lock(shared.mutex);
  return Error::from_hip(shared.error);
}

std::string bind_failure() {
  State& shared = state();
  MutexLock lock(shared.mutex);
  return shared.failure;
}

std::string describe_binding() {
  State& shared = state();
  MutexLock lock(shared.mutex);
  std::string text;
  for (const Runtime* runtime : shared.runtimes) text += (text.empty() ? "" : ", ") + runtime->path;
  if (text.empty()) text = "none";
  return shared.passed_over.empty() ? text : text + " (passed over: " + shared.passed_over + ")";
}

}  // namespace hipfile::gpu
