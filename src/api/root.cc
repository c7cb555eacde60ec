// SPDX-License-Identifier: MIT
//
// The root object and its renewal after fork.
#include "api/root.h"

#include <atomic>

#include "driver/read_settings.h"
#include "util/fork_guard.h"

namespace hipfile {
namespace {

std::atomic<Driver*> g_driver{nullptr};

// Threads that meet here at once each make a driver; one is published and the others are dropped.
Driver& renew(Driver* old) {
  const Settings settings = read_settings();  // first: they say where messages go
  auto* fresh = new Driver(settings);
  if (g_driver.compare_exchange_strong(old, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *old;
}

}  // namespace

Driver& root() {
  Driver* driver = g_driver.load(std::memory_order_acquire);
  if (driver != nullptr && !driver->is_inherited()) return *driver;
  return renew(driver);
}

hipFileError_t counted(stats::Op op, hipFileError_t result) {
  root().statistics().count(op, result.err == hipFileSuccess);
  return result;
}

}  // namespace hipfile
