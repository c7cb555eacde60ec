// SPDX-License-Identifier: MIT
//
// A child of fork inherits the descriptor of its parent, so the process number inside the file must
// be the one that the process itself sees: the last of NSpid in /proc/PID/status.
#include "util/stats_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "util/stats_memory.h"

namespace hipfile::stats {
namespace {

using Failure = View::Failure;

std::string path_in_proc(pid_t pid, const std::string& name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// The number of the process in its own namespace; `pid` where nobody says.
uint32_t own_number(pid_t pid) {
  auto number = static_cast<uint32_t>(pid);
  std::FILE* file = std::fopen(path_in_proc(pid, "status").c_str(), "re");
  if (file == nullptr) return number;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "NSpid:", 6) != 0) continue;
    const char* last = std::strrchr(line, '\t');
    if (last != nullptr) number = static_cast<uint32_t>(std::atol(last));
    break;
  }
  std::fclose(file);
  return number;
}

bool is_memory_file(int folder, const char* name) {
  char target[64] = {};
  const ssize_t length = readlinkat(folder, name, target, sizeof target - 1);
  const std::string wanted = std::string("/memfd:") + kMemoryName;
  return length > 0 && std::strncmp(target, wanted.c_str(), wanted.size()) == 0;
}

Failure failure_of_errno() {
  return errno == ENOENT || errno == ESRCH ? Failure::kNoProcess : Failure::kNotAccessible;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// Its layout must be ours, and a file must not shrink under our feet.
bool is_sound(const Header& header, size_t bytes) {
  return std::memcmp(header.name, kMemoryName, sizeof header.name) == 0 &&
         header.version == kLayoutVersion && header.header_bytes == kHeaderBytes &&
         header.record_bytes == sizeof(Record) && header.records == kRecords &&
         bytes == kMemoryBytes;
}

}  // namespace

std::unique_ptr<View> View::map(int fd, Failure* failure) {
  *failure = Failure::kVersion;
  struct stat status = {};
  const int seals = fcntl(fd, F_GET_SEALS);
  if (fstat(fd, &status) != 0 || status.st_size < static_cast<off_t>(kHeaderBytes)) return nullptr;
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) return nullptr;
  const auto bytes = static_cast<size_t>(status.st_size);
  void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<View> view(new View(static_cast<const Header*>(memory), bytes));
  if (!is_sound(view->header(), bytes)) return nullptr;
  *failure = Failure::kNone;
  return view;
}

std::unique_ptr<View> View::attach(pid_t pid, Failure* failure) {
  const Folder folder(opendir(path_in_proc(pid, "fd").c_str()));
  *failure = failure_of_errno();
  if (folder == nullptr) return nullptr;
  *failure = Failure::kNothing;
  const uint32_t number = own_number(pid);
  while (const dirent* entry = readdir(folder.get())) {
    if (!is_memory_file(dirfd(folder.get()), entry->d_name)) continue;
    const UniqueFd fd(openat(dirfd(folder.get()), entry->d_name, O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) {
      *failure = failure_of_errno();
      continue;
    }
    std::unique_ptr<View> view = map(fd.get(), failure);
    if (view != nullptr && view->header().pid == number) return view;
    if (view != nullptr) *failure = Failure::kNothing;
  }
  return nullptr;
}

View::~View() { munmap(const_cast<Header*>(header_), bytes_); }

void View::sum(Totals* totals) const {
  *totals = {};
  sum_records(*header_, totals);
}

const char* text_of(View::Failure failure) {
  switch (failure) {
    case Failure::kNone:
      return "no failure";
    case Failure::kNoProcess:
      return "no such process";
    case Failure::kNotAccessible:
      return "not accessible: it belongs to another user";
    case Failure::kVersion:
      return "its counters have a layout that this program does not know";
    default:
      return "it has not used hipFile, or counts nothing";
  }
}

}  // namespace hipfile::stats
