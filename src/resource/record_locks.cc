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

constexpr int kMostQueries = 64;  // of one file; with more locks the worst is assumed

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

// In [begin, begin + size) of the file; size 0 reaches to the end of all offsets. The kernel tells
// of one lock in a range only. If that is an OFD lock, which no close of ours drops, a POSIX lock
// may still lie on either side of it, or share the range with it where both are shared; the last is
// not to be told apart.
bool has_record_lock_in(int fd, off_t begin, off_t size, int* queries) {
  if (--*queries < 0) return true;
  struct flock found = {};
  found.l_type = F_WRLCK;
  found.l_whence = SEEK_SET;
  found.l_start = begin;
  found.l_len = size;
  if (fcntl(fd, F_OFD_GETLK, &found) != 0 || found.l_type == F_UNLCK) return false;
  const bool is_ofd = found.l_pid == -1;
  if (!is_ofd || found.l_type != F_WRLCK) return true;
  const off_t before = found.l_start - begin;
  if (before > 0 && has_record_lock_in(fd, begin, before, queries)) return true;
  if (found.l_len == 0) return false;
  const off_t next = found.l_start + found.l_len;
  if (size != 0 && next >= begin + size) return false;
  return has_record_lock_in(fd, next, size == 0 ? 0 : begin + size - next, queries);
}

}  // namespace

bool has_record_lock(int fd) {
  int queries = kMostQueries;
  return has_record_lock_in(fd, 0, 0, &queries);
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
