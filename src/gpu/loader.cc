// SPDX-License-Identifier: MIT
//
// The order of the search, and the list of runtimes in use. No lock is held while a library is
// loaded: two threads that look at once find the same objects, and the second result is dropped.
#include "gpu/loader.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "gpu/guards.h"
#include "gpu/open_runtime.h"
#include "gpu/shared_objects.h"
#include "util/env.h"
#include "util/fork_guard.h"
#include "util/log.h"
#include "util/mutex.h"
#include "util/thread_pins.h"
#include "util/watchdog.h"

namespace hipfile::gpu {
namespace {

constexpr int64_t kPatienceMs = 2000;  // for what runs when the process ends
constexpr const char* kOwnLibrary = "libhip_portable.so.0";
constexpr const char* kRocmLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"};

struct Search {
  std::vector<std::unique_ptr<Runtime>> found;
  std::string reasons;  // why others were passed over, joined by "; "
  hipError_t error = hipErrorNoDevice;
  bool is_over = false;  // nothing may stand in for what was found and refused

  void pass_over(const std::string& reason) {
    if (reason.empty() || reasons.find(reason) != std::string::npos) return;
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

// The runtimes in use, in the order in which they were bound. Readers hold no lock: a list never
// changes once it is published, and a longer one keeps the one before.
struct RuntimeList {
  std::vector<const Runtime*> all;
  const RuntimeList* before = nullptr;
};

struct State {
  std::atomic<const RuntimeList*> runtimes{nullptr};
  std::atomic<unsigned long long> seen_loads{0};
  std::atomic<bool> has_exit_begun{false};
  std::atomic<bool> has_left{false};
  const ForkGuard fork_guard;
  Mutex mutex;
  std::string failure HIPFILE_GUARDED_BY(mutex);
  hipError_t error HIPFILE_GUARDED_BY(mutex) = hipSuccess;
  std::string passed_over HIPFILE_GUARDED_BY(mutex);
};

State& state() {
  static State* const instance = new State;  // leaked: called from exit handlers
  return *instance;
}

const RuntimeList* bound() { return state().runtimes.load(std::memory_order_acquire); }

bool is_bound(const std::string& path) {
  const RuntimeList* list = bound();
  if (list == nullptr) return false;
  return std::any_of(list->all.begin(), list->all.end(),
                     [&path](const Runtime* known) { return known->path == path; });
}

// A mapped runtime that is of no use to us, but has devices, ends the search: pointers that the
// program brings are that one's.
void look_at_mapped(Search& search) {
  bool is_blocked = false;
  for (const std::string& path : mapped_runtimes()) {
    Opened opened = open_runtime(path, true);
    is_blocked |= opened.owns_devices;
    search.take(std::move(opened));
  }
  Opened program = open_main_program();
  if (program.runtime) search.take(std::move(program));
  search.is_over = is_blocked && search.found.empty();
  if (search.is_over) search.error = hipErrorSharedObjectInitFailed;
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
  bool is_loaded = false;
  for (const std::string& name : names) {
    Opened opened = open_runtime(name, false);
    is_loaded |= opened.is_loaded;
    if (!opened.is_loaded) continue;
    std::string reason;
    if (opened.runtime && !opened.runtime->is_portable && !sees_device(*opened.runtime, &reason)) {
      opened.runtime.reset();
      opened.reason = reason;
    }
    if (search.take(std::move(opened))) return;
  }
  if (!is_loaded) search.pass_over("/dev/kfd is there, but no libamdhip64.so that loads");
}

void look_for_own(Search& search) {
  const std::string folder = own_folder();
  std::vector<std::string> names;
  if (!folder.empty()) names = {folder + "/" + kOwnLibrary, folder + "/../lib/" + kOwnLibrary};
  names.push_back(kOwnLibrary);
  const std::string reasons = search.reasons;
  for (const std::string& name : names) {
    if (!search.take(open_runtime(name, false))) continue;
    search.reasons = reasons;  // the other places do not matter
    return;
  }
}

Search look() {
  Search search;
  look_at_mapped(search);
  if (search.is_over) return search;
  const std::string wish = env_string("HIPFILE_HIP_LIBRARY");
  if (!wish.empty()) {
    look_at_wish(wish, search);
    return search;
  }
  if (search.found.empty()) look_for_rocm(search);
  if (search.found.empty()) look_for_own(search);
  return search;
}

// Rule 6. The pins tell which threads are in a call of ours; they get two seconds. In a child of
// fork those threads are not there.
void leave_runtimes() {
  if (state().fork_guard.in_child_of_fork()) return;
  const RuntimeList* list = bound();
  if (list == nullptr) return;
  state().has_exit_begun.store(true, std::memory_order_release);
  bool has_gone = false;
  for (const Runtime* runtime : list->all) {
    const auto is_emulated = runtime->hip.PortableDeviceIsEmulated;
    if (is_emulated != nullptr && is_emulated(0) == 1) continue;
    runtime->is_gone.store(true, std::memory_order_release);
    has_gone = true;
  }
  state().has_left.store(has_gone, std::memory_order_release);
  const int64_t end_ms = coarse_ms() + kPatienceMs;
  while (has_gone && ThreadPins::is_any_pinned() && coarse_ms() < end_ms) usleep(1000);
}

// Exit handlers run in reverse order, and a runtime registers its own when it is initialised: so
// each is initialised first, and ours registered anew behind it. Where no device is, later calls
// say so.
void prepare(const Search& search) {
  bool has_new = false;
  for (const auto& runtime : search.found) {
    if (is_bound(runtime->path)) continue;
    const LastErrorGuard errors(runtime->hip);
    (void)runtime->hip.Init(0);
    has_new = true;
  }
  if (has_new) std::atexit(&leave_runtimes);
}

void publish(Search search, unsigned long long loads) {
  State& shared = state();
  MutexLock lock(shared.mutex);
  const RuntimeList* before = bound();
  auto list = std::make_unique<RuntimeList>();
  if (before != nullptr) list->all = before->all;
  list->before = before;
  const size_t known = list->all.size();
  for (auto& runtime : search.found) {
    if (!is_bound(runtime->path)) list->all.push_back(runtime.release());
  }
  const bool has_failed = list->all.empty();
  shared.seen_loads.store(loads, std::memory_order_relaxed);
  shared.passed_over = search.reasons;
  shared.error = has_failed ? search.error : hipSuccess;
  shared.failure = has_failed ? search.reasons : std::string();
  if (list->all.size() > known) {
    shared.runtimes.store(list.release(), std::memory_order_release);
  }
}

bool knows(const Runtime& runtime, const void* pointer) {
  if (runtime.is_gone.load(std::memory_order_acquire)) return false;
  const LastErrorGuard errors(runtime.hip);
  hipPointerAttribute_t attributes = {};
  return runtime.hip.PointerGetAttributes(&attributes, pointer) == hipSuccess &&
         attributes.type != hipMemoryTypeUnregistered;
}

const Runtime* owner_of(const void* pointer) {
  const RuntimeList* list = bound();
  if (list == nullptr) return nullptr;
  for (const Runtime* runtime : list->all) {
    if (knows(*runtime, pointer)) return runtime;
  }
  return nullptr;
}

void look_again() {
  const unsigned long long before = load_count();
  Search search = look();
  prepare(search);
  const bool has_grown = load_count() != before;
  publish(std::move(search), has_grown ? load_count() : before);
  log_info("HIP runtime: %s", describe_binding().c_str());
}

}  // namespace

bool has_exit_begun() { return state().has_exit_begun.load(std::memory_order_acquire); }

bool has_left_runtimes() { return state().has_left.load(std::memory_order_acquire); }

const Runtime* first_bound() {
  const RuntimeList* list = bound();
  return list != nullptr ? list->all.front() : nullptr;
}

std::vector<const Runtime*> all_bound() {
  const RuntimeList* list = bound();
  return list != nullptr ? list->all : std::vector<const Runtime*>();
}

Result<const Runtime*> bind(const void* pointer) {
  if (pointer != nullptr) {
    if (const Runtime* owner = owner_of(pointer)) return owner;
  }
  const bool is_unbound = bound() == nullptr;
  const bool may_be_news =
      pointer != nullptr && load_count() != state().seen_loads.load(std::memory_order_relaxed);
  if (is_unbound || may_be_news) {
    look_again();
    const Runtime* owner = pointer != nullptr ? owner_of(pointer) : nullptr;
    if (owner != nullptr) return owner;
  }
  if (const Runtime* first = first_bound()) return first;
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
  if (const RuntimeList* list = bound()) {
    for (const Runtime* runtime : list->all) text += (text.empty() ? "" : ", ") + runtime->path;
  }
  if (text.empty()) text = "none";
  return shared.passed_over.empty() ? text : text + " (passed over: " + shared.passed_over + ")";
}

}  // namespace hipfile::gpu
