// SPDX-License-Identifier: MIT
// Making file systems: losetup, mkfs and mount as programs (their error texts become the reasons),
// the namespace and the unmounting by system calls.
#include "file_systems.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "process.h"

namespace hipfile::test {
namespace {

// Reasons have no colon: whoever lists skipped tests takes the last of the parts between colons.
std::string without_colons(std::string text) {
  std::replace(text.begin(), text.end(), ':', ',');
  return text;
}

std::string system_error(const char* what) {
  return std::string(what) + ", " + std::strerror(errno);
}

// The tools lie where the PATH of an ordinary login does not lead.
ProcessResult run_admin(const std::vector<std::string>& arguments) {
  const char* path = std::getenv("PATH");
  ProcessOptions options;
  options.environment = {std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin") +
                         ":/usr/sbin:/sbin"};
  return run_process(arguments, options);
}

}  // namespace

std::string run_admin_tool(const std::vector<std::string>& arguments) {
  const ProcessResult result = run_admin(arguments);
  if (result.exit_code == 0) return "";
  std::string text = arguments[0] + " failed";
  if (result.exit_code == 127) return arguments[0] + " is not installed";
  if (!result.err.empty()) text += ", " + result.err.substr(0, result.err.find('\n'));
  return without_colons(text);
}

namespace {

// Moves this process into its own mount namespace, once.
std::string enter_namespace() {
  static bool is_inside = false;
  if (is_inside) return "";
  if (::geteuid() != 0) return "not root";
  if (::unshare(CLONE_NEWNS) != 0) return system_error("no mount namespace");
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return system_error("the mounts cannot be made private");
  }
  is_inside = true;
  return "";
}

std::string mkfs_arguments(const std::string& kind, const std::string& device) {
  if (kind == "ext4") return run_admin_tool({"mkfs.ext4", "-q", "-F", device});
  if (kind == "xfs") return run_admin_tool({"mkfs.xfs", "-q", "-f", device});
  return run_admin_tool({"mkfs.btrfs", "-q", "-f", device});
}

// Scratch folders are locked by their owner. One that nobody locks belongs to a process that was
// killed; the kernel has taken its mounts, so only empty folders are left.
void sweep_scratch_folders() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/tmp", ignored)) {
    const std::string path = entry.path();
    if (path.rfind("/tmp/hipfile-fs-", 0) != 0) continue;
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
      (void)run_process({"rm", "-rf", "--one-file-system", path});
    }
    ::close(fd);
  }
}

std::string scratch_folder(int* lock) {
  sweep_scratch_folders();
  std::string path = "/tmp/hipfile-fs-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return "";
  (void)::chmod(path.c_str(), 0711);  // tests that become another user pass through
  *lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*lock >= 0) (void)::flock(*lock, LOCK_EX);
  return path;
}

}  // namespace

const std::vector<std::string>& file_system_names() {
  static const std::vector<std::string>& names = *new std::vector<std::string>{
      "ext4-512", "ext4-4096", "xfs-512", "xfs-4096", "btrfs", "tmpfs", "overlay", "fuse"};
  return names;
}

std::string LoopDisk::attach(const std::string& sector, unsigned mebibytes) {
  std::string image = "/dev/shm/hipfile-disk-XXXXXX";
  const int fd = ::mkstemp(image.data());
  if (fd < 0) return system_error("no image file");
  const int failed = ::ftruncate(fd, static_cast<off_t>(mebibytes) << 20);
  ::close(fd);
  const std::string reason = failed != 0 ? "no room for the image" : attach_file(sector, image);
  ::unlink(image.c_str());
  return reason;
}

std::string LoopDisk::attach_file(const std::string& sector, const std::string& image,
                                  bool is_direct) {
  const ProcessResult result =
      run_admin({"losetup", "-f", "--show", "-b", sector,
                 std::string("--direct-io=") + (is_direct ? "on" : "off"), image});
  if (result.exit_code != 0) {
    return without_colons("no loop device, " + result.err.substr(0, result.err.find('\n')));
  }
  device_ = result.out.substr(0, result.out.find('\n'));
  return "";
}

void LoopDisk::release_to_users() {
  if (device_.empty()) return;
  (void)run_admin({"losetup", "-d", device_});  // lazy: it goes when its last user does
  device_.clear();
}

LoopDisk::~LoopDisk() { release_to_users(); }

std::string FileSystem::folder(const std::string& name) {
  if (root_.empty()) root_ = scratch_folder(&lock_);
  const std::string path = root_ + "/" + name;
  ::mkdir(path.c_str(), 0755);
  return path;
}

std::string FileSystem::mount_disk(const std::string& kind, const std::string& sector,
                                   unsigned mebibytes, const std::string& where,
                                   const char* options) {
  LoopDisk disk;
  std::string reason = disk.attach(sector, mebibytes);
  if (reason.empty()) reason = mkfs_arguments(kind, disk.device());
  if (!reason.empty()) return reason;
  // Large disks give the memory behind their image back as files go.
  if (options == nullptr && kind == "ext4" && mebibytes > 4096) options = "discard";
  if (::mount(disk.device().c_str(), where.c_str(), kind.c_str(), 0, options) != 0) {
    return system_error(("mount of " + kind).c_str());
  }
  mounts_.push_back(where);
  return "";
}

std::string FileSystem::mount_overlay(unsigned mebibytes) {
  const std::string base = folder("base");
  std::string reason = mount_disk("ext4", "512", mebibytes, base);
  if (!reason.empty()) return reason;
  for (const char* name : {"/lower", "/upper", "/work"}) ::mkdir((base + name).c_str(), 0755);
  const std::string options =
      "lowerdir=" + base + "/lower,upperdir=" + base + "/upper,workdir=" + base + "/work";
  if (::mount("overlay", path_.c_str(), "overlay", 0, options.c_str()) != 0) {
    return system_error("mount of overlay");
  }
  mounts_.push_back(path_);
  return "";
}

std::string FileSystem::mount_fuse() {
  const std::string program = program_folder() + "/passthrough_fuse";
  const std::string source = folder("source");
  if (::access(program.c_str(), X_OK) != 0) return program + " was not built (no libfuse3)";
  if (::access("/dev/fuse", R_OK | W_OK) != 0) return system_error("/dev/fuse");
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("fork");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execl(program.c_str(), program.c_str(), source.c_str(), path_.c_str(), nullptr);
    ::_exit(127);
  }
  fuse_pid_ = pid;
  struct stat outside {};
  ::stat(root_.c_str(), &outside);
  for (int tries = 0; tries < 6000; ++tries) {
    struct stat inside {};
    if (::stat(path_.c_str(), &inside) == 0 && inside.st_dev != outside.st_dev) {
      mounts_.push_back(path_);
      return "";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "the FUSE file system did not come up";
}

std::string FileSystem::mount(const std::string& name, unsigned mebibytes) {
  std::string reason = enter_namespace();
  if (!reason.empty()) return reason;
  path_ = folder("mnt");
  const size_t dash = name.find('-');
  if (name == "overlay") return mount_overlay(mebibytes);
  if (name == "fuse") return mount_fuse();
  if (name == "tmpfs") {
    if (::mount("tmpfs", path_.c_str(), "tmpfs", 0, nullptr) != 0) return system_error("tmpfs");
    mounts_.push_back(path_);
    return "";
  }
  if (name == "ext4-journal") return mount_disk("ext4", "512", mebibytes, path_, "data=journal");
  const std::string sector = dash == std::string::npos ? "512" : name.substr(dash + 1);
  return mount_disk(name.substr(0, dash), sector, mebibytes, path_);
}

std::string FileSystem::mount_image(const std::string& kind, const std::string& image,
                                    unsigned mebibytes,
                                    const std::vector<std::string>& mkfs_options,
                                    const std::string& mount_options) {
  std::string reason = enter_namespace();
  if (!reason.empty()) return reason;
  path_ = folder("mnt");
  const int fd = ::open(image.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const bool is_made = fd >= 0 && ::ftruncate(fd, static_cast<off_t>(mebibytes) << 20) == 0;
  if (fd >= 0) ::close(fd);
  if (!is_made) return system_error("no image file");
  std::vector<std::string> mkfs = {"mkfs." + kind, "-q"};
  mkfs.insert(mkfs.end(), mkfs_options.begin(), mkfs_options.end());
  mkfs.push_back(image);
  LoopDisk disk;
  reason = run_admin_tool(mkfs);
  if (reason.empty()) reason = disk.attach_file("512", image, false);
  if (!reason.empty()) return reason;
  if (::mount(disk.device().c_str(), path_.c_str(), kind.c_str(), 0, mount_options.c_str()) != 0) {
    return system_error(("mount of " + kind).c_str());
  }
  mounts_.push_back(path_);
  return "";
}

FileSystem::~FileSystem() {
  for (auto it = mounts_.rbegin(); it != mounts_.rend(); ++it) {
    if (::umount2(it->c_str(), 0) != 0) ::umount2(it->c_str(), MNT_DETACH);
  }
  if (fuse_pid_ > 0) {
    ::kill(fuse_pid_, SIGTERM);
    ::waitpid(fuse_pid_, nullptr, 0);
  }
  // Nothing of a mount that would not go must be removed through it.
  if (!root_.empty()) (void)run_process({"rm", "-rf", "--one-file-system", root_});
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace hipfile::test
