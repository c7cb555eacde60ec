// SPDX-License-Identifier: MIT
//
// Everything that can be refused is refused before anything is opened for writing.
#include "copy_file.h"

#include <cerrno>
#include <cstdlib>

#include "pipeline.h"
#include "reserve.h"
#include "signals.h"

namespace aiscp {
namespace {

const char* special_kind(mode_t mode) {
  if (S_ISFIFO(mode)) return "fifo";
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISCHR(mode)) return "character device";
  return nullptr;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

bool Copier::copy(const CopyPair& pair) {
  const Status status = copy_file(pair);
  // Also where a system call was interrupted (an open that waits for a lease): no error of a file.
  if (status.is_interrupted() || (is_stopping() && status.error() == EINTR)) return false;
  if (!status.ok()) {
    complain(status.text());
    return false;
  }
  return true;
}

Status Copier::copy_file(const CopyPair& pair) {
  struct stat from {
  }, to{};
  bool is_there = false;
  std::string target;
  if (Status status = check_source(pair, &from); !status.ok()) return status;
  if (!sources_.insert({pair.from, from.st_dev, from.st_ino}).second) {
    complain("warning: source file " + quote(pair.from) + " specified more than once");
    return {};
  }
  Status status = check_destination(pair, from, &to, &is_there, &target);
  if (!status.ok()) return status;

  Source source;
  status = Source::open(pair.from, from, options_.direct, &source);
  if (!status.ok()) return status;
  status = device_.open(options_);
  if (!status.ok()) return status;
  // Before anything is truncated: the device may be short of memory.
  status = buffers_.prepare(options_, source.has_real_size() ? source.expected_size() : 0);
  if (!status.ok()) {
    return Status::failure("cannot copy " + quote(pair.from) + ": " + status.text());
  }
  progress_.begin_file(source.expected_size());

  DestinationWish wish{options_, target, is_there ? &to : nullptr, from.st_mode, false};
  Outcome outcome;
  status = copy_content(source, wish, &outcome);
  if (status.ok() && outcome.must_redo) {
    wish.must_be_in_place = true;
    status = copy_content(source, wish, &outcome);
  }
  if (!status.ok()) return status;
  if (outcome.has_changed) {
    complain("warning: " + source.name + " changed while it was copied");
  }
  progress_.counters().files += 1;
  note_created(pair.to);
  if (options_.is_verbose) say(quote(pair.from) + " -> " + quote(pair.to));
  return {};
}

Status Copier::check_source(const CopyPair& pair, struct stat* from) {
  if (::stat(pair.from.c_str(), from) != 0) {
    return Status::of_errno("cannot stat " + quote(pair.from), errno);
  }
  if (S_ISDIR(from->st_mode)) {
    return Status::failure("-r not specified; omitting directory " + quote(pair.from));
  }
  if (const char* kind = special_kind(from->st_mode)) {
    return Status::failure(std::string("-r not specified; omitting ") + kind + " " +
                           quote(pair.from));
  }
  return {};
}

Status Copier::check_destination(const CopyPair& pair, const struct stat& from, struct stat* to,
                                 bool* is_there, std::string* target) {
  *target = pair.to;
  *is_there = ::stat(pair.to.c_str(), to) == 0;
  if (!*is_there) {
    const int error = errno;
    // Links that lead in a circle are removed by -f, as all that cannot be opened.
    *is_there = error == ELOOP && options_.is_forced && ::lstat(pair.to.c_str(), to) == 0;
    if (*is_there) return {};
    if (error != ENOENT) return Status::of_errno("cannot stat " + quote(pair.to), error);
    struct stat link {};
    if (::lstat(pair.to.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
      if (std::getenv("POSIXLY_CORRECT") == nullptr) {
        return Status::failure("not writing through dangling symlink " + quote(pair.to));
      }
      *target = resolve_last_component(pair.to);
    }
    return {};
  }
  if (is_same_file(from, *to)) {
    return Status::failure(quote(pair.from) + " and " + quote(pair.to) + " are the same file");
  }
  if (S_ISDIR(to->st_mode)) {
    return Status::failure("cannot overwrite directory " + quote(pair.to) + " with non-directory");
  }
  if (created_.contains({pair.to, to->st_dev, to->st_ino})) {
    return Status::failure("will not overwrite just-created " + quote(pair.to) + " with " +
                           quote(pair.from));
  }
  if (const char* kind = special_kind(to->st_mode)) {
    return Status::failure("cannot write to " + quote(pair.to) + ": it is a " + kind);
  }
  return {};
}

Status Copier::copy_content(const Source& source, const DestinationWish& wish, Outcome* outcome) {
  Destination destination(wish);
  Status status = destination.open(&directories_);
  uint64_t end = 0;
  if (status.ok()) status = move_bytes(source, &destination, &end);
  if (status.ok()) status = source.check_unchanged(end, &outcome->has_changed);
  if (status.ok()) status = destination.finish(end, &outcome->must_redo);
  if (status.ok() && is_stopping() && outcome->must_redo) status = Status::interrupted();
  if (status.ok()) {
    if (options_.is_verbose && destination.way() == Way::kForced) {
      say("removed " + quote(wish.path));
    }
    return {};
  }
  status = destination.explain(status);
  const bool is_left = destination.discard();
  if (is_left && status.is_interrupted()) complain(destination.name() + " is incomplete");
  return status;
}

Status Copier::move_bytes(const Source& source, Destination* destination, uint64_t* end) {
  if (destination->way() != Way::kBlockDevice) {
    const Status reserved = reserve_room(source, destination->fd(), destination->name());
    if (!reserved.ok()) return reserved;
  }
  PipelineJob job;
  job.source = &source;
  job.destination = destination;
  job.device = &device_;
  job.buffers = &buffers_;
  job.progress = &progress_;
  job.clean_up = [destination] {
    if (destination->discard()) complain(destination->name() + " is incomplete");
  };
  const Status status = run_pipeline(job, end);
  if (status.ok() && options_.wants_stats) note_paths(source, *destination);
  return status;
}

void Copier::note_created(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0) created_.insert({path, st.st_dev, st.st_ino});
}

void Copier::note_paths(const Source& source, const Destination& destination) {
  const auto describe = [&](const char* what, hipFileHandle_t file, hipFileOpcode_t opcode) {
    static const char* const kCaching[] = {"cache", "direct", "mixed"};
    hipFileExtPath_t path{};
    const Buffer& buffer = *buffers_.at(0);
    if (hipFileExtQueryPath(file, buffer.base, buffer.size, 0, 0, opcode, &path).err !=
        hipFileSuccess) {
      return std::string();
    }
    return std::string(what) + ": " + hipFileExtBackendName(path.backend) + ", " +
           kCaching[path.caching] + "\n";
  };
  paths_ = "chunk: " + format_bytes(static_cast<double>(buffers_.chunk())) + ", " +
           std::to_string(buffers_.count()) + " buffers\n" +
           describe("read", source.file.handle(), hipFileBatchRead) +
           describe("write", destination.file().handle(), hipFileBatchWrite);
  if (destination.in_place_reason() != nullptr) {
    paths_ += std::string("in place: ") + destination.in_place_reason() + "\n";
  }
}

std::string Copier::describe_device() const {
  return device_.ordinals().empty() ? "none used" : device_.describe();
}

}  // namespace aiscp
