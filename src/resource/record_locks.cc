// SPDX-License-Identifier: MIT
//
// The parking place is one leaked list under a short mutex; no lock is held across fcntl or close.
#include "resource/record_locks.h"

#include <fcntl.h>

#include <new>
#include <utility>
#include <vector>

#include "util/mutex.h"

namespace hipfile {
namespace {

struct Parking {
  Mutex mutex;
  std::vector<UniqueFd> descriptors HIPFILE_GUARDED_BY(mutex);
};

Parking& parking() {
  static Parking* const instance = new Parking;  // leaked: exit handlers may still deregister
  return *instance;
}

void park(UniqueFd fd) {
  Parking& lot = parking();
  MutexLock lock(lot.mutex);
  try {
    lot.descriptors.push_back(std::move(fd));
  } catch (const std::bad_alloc&) {
    (void)fd.release();  // leaked rather than closed: a lost lock is worse than a lost number
  }
}

}  // namespace

bool has_record_lock(int fd) {
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;  // l_start 0, l_len 0: the whole file
  if (fcntl(fd, F_OFD_GETLK, &range) != 0) return false;
  return range.l_type != F_UNLCK &&
         range.l_pid != -1;  // pid -1: an OFD lock, which no close of ours drops
}

void close_or_park(UniqueFd fd) {
  if (!fd) return;
  if (has_record_lock(fd.get())) park(std::move(fd));
}

void sweep_parked() {
  Parking& lot = parking();
  std::vector<UniqueFd> taken;
  {
    MutexLock lock(lot.mutex);
    taken.swap(lot.descriptors);
  }
  for (UniqueFd& fd : taken) close_or_park(std::move(fd));
}

int parked_count() {
  Parking& lot = parking();
  MutexLock lock(lot.mutex);
  return static_cast<int>(lot.descriptors.size());
}

}  // namespace hipfile
