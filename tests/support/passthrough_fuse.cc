// SPDX-License-Identifier: MIT
// A FUSE file system without O_DIRECT: passes every operation on to a source directory and refuses
// files opened with O_DIRECT by EINVAL, as old kernels' FUSE and some network file systems do. It
// has no O_TMPFILE and refuses rename flags.
//
//   passthrough_fuse SOURCE MOUNTPOINT     (stays in the foreground)
//
// While a file of one of these names is in its root, it has that fault:
//   .fault-read, .fault-write    EIO from the offset on that the file holds
//   .fault-end                   reads end at the offset that the file holds, whatever its size
//   .fault-link                  no hard links
//   .fault-direct                O_DIRECT is accepted at open and answered by EINVAL afterwards
#define FUSE_USE_VERSION 31

#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string g_source;  // set once before the loop starts

std::string at(const char* path) { return g_source + path; }

int result_of(int value) { return value < 0 ? -errno : 0; }

/// The number that the file of a fault holds, or -1 without it.
off_t fault(const char* name) {
  const int fd = ::open(at((std::string("/.fault-") + name).c_str()).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char text[32] = {};
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  return n < 0 ? -1 : std::strtoll(text, nullptr, 10);
}

/// What a transfer answers instead of being made, or 0.
int refusal(const char* name, const char* path, size_t size, off_t offset,
            const fuse_file_info* info) {
  if ((info->flags & O_DIRECT) != 0 && fault("direct") >= 0) return -EINVAL;
  const off_t from = fault(name);
  const bool is_switch = std::strncmp(path, "/.fault-", 8) == 0;
  return from >= 0 && !is_switch && offset + static_cast<off_t>(size) > from ? -EIO : 0;
}

int file_of(const fuse_file_info* info) { return static_cast<int>(info->fh); }

int fs_getattr(const char* path, struct stat* st, fuse_file_info* info) {
  return result_of(info != nullptr ? ::fstat(file_of(info), st) : ::lstat(at(path).c_str(), st));
}

int fs_readdir(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*,
               fuse_readdir_flags) {
  DIR* dir = ::opendir(at(path).c_str());
  if (dir == nullptr) return -errno;
  while (const dirent* entry = ::readdir(dir)) {
    if (fill(buffer, entry->d_name, nullptr, 0, static_cast<fuse_fill_dir_flags>(0)) != 0) break;
  }
  ::closedir(dir);
  return 0;
}

int open_file(const char* path, fuse_file_info* info, mode_t mode) {
  if ((info->flags & O_DIRECT) != 0 && fault("direct") < 0) return -EINVAL;
  const int flags = info->flags & ~(O_APPEND | O_DIRECT);
  const int fd = ::open(at(path).c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) return -errno;
  info->fh = static_cast<uint64_t>(fd);
  return 0;
}

int fs_open(const char* path, fuse_file_info* info) { return open_file(path, info, 0); }

int fs_create(const char* path, mode_t mode, fuse_file_info* info) {
  const int result = open_file(path, info, mode);
  const fuse_context* caller = fuse_get_context();
  if (result == 0 && ::fchown(file_of(info), caller->uid, caller->gid) != 0) return -errno;
  return result;
}

int fs_release(const char*, fuse_file_info* info) { return result_of(::close(file_of(info))); }

int fs_read(const char* path, char* data, size_t size, off_t offset, fuse_file_info* info) {
  if (const int error = refusal("read", path, size, offset, info)) return error;
  const off_t end = fault("end");
  if (end >= 0) size = std::min(size, static_cast<size_t>(std::max<off_t>(end - offset, 0)));
  const ssize_t n = ::pread(file_of(info), data, size, offset);
  return n < 0 ? -errno : static_cast<int>(n);
}

int fs_write(const char* path, const char* data, size_t size, off_t offset, fuse_file_info* info) {
  if (const int error = refusal("write", path, size, offset, info)) return error;
  const ssize_t n = ::pwrite(file_of(info), data, size, offset);
  return n < 0 ? -errno : static_cast<int>(n);
}

int fs_truncate(const char* path, off_t size, fuse_file_info* info) {
  return result_of(info != nullptr ? ::ftruncate(file_of(info), size)
                                   : ::truncate(at(path).c_str(), size));
}

int fs_fsync(const char*, int data_only, fuse_file_info* info) {
  return result_of(data_only != 0 ? ::fdatasync(file_of(info)) : ::fsync(file_of(info)));
}

int fs_statfs(const char* path, struct statvfs* st) {
  return result_of(::statvfs(at(path).c_str(), st));
}

int fs_mknod(const char* path, mode_t mode, dev_t device) {
  return result_of(::mknod(at(path).c_str(), mode, device));
}

int fs_mkdir(const char* path, mode_t mode) { return result_of(::mkdir(at(path).c_str(), mode)); }
int fs_unlink(const char* path) { return result_of(::unlink(at(path).c_str())); }
int fs_rmdir(const char* path) { return result_of(::rmdir(at(path).c_str())); }

int fs_symlink(const char* target, const char* path) {
  return result_of(::symlink(target, at(path).c_str()));
}

int fs_readlink(const char* path, char* buffer, size_t size) {
  const ssize_t n = ::readlink(at(path).c_str(), buffer, size - 1);
  if (n < 0) return -errno;
  buffer[n] = '\0';
  return 0;
}

int fs_rename(const char* from, const char* to, unsigned flags) {
  if (flags != 0) return -EINVAL;
  return result_of(::rename(at(from).c_str(), at(to).c_str()));
}

int fs_link(const char* from, const char* to) {
  if (fault("link") >= 0) return -EPERM;
  return result_of(::link(at(from).c_str(), at(to).c_str()));
}

int fs_chmod(const char* path, mode_t mode, fuse_file_info*) {
  return result_of(::chmod(at(path).c_str(), mode));
}

int fs_chown(const char* path, uid_t uid, gid_t gid, fuse_file_info*) {
  return result_of(::lchown(at(path).c_str(), uid, gid));
}

int fs_utimens(const char* path, const timespec times[2], fuse_file_info*) {
  return result_of(::utimensat(AT_FDCWD, at(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
}

fuse_operations operations() {
  fuse_operations ops{};
  ops.getattr = fs_getattr;
  ops.readdir = fs_readdir;
  ops.open = fs_open;
  ops.create = fs_create;
  ops.release = fs_release;
  ops.read = fs_read;
  ops.write = fs_write;
  ops.truncate = fs_truncate;
  ops.fsync = fs_fsync;
  ops.statfs = fs_statfs;
  ops.mknod = fs_mknod;
  ops.mkdir = fs_mkdir;
  ops.unlink = fs_unlink;
  ops.rmdir = fs_rmdir;
  ops.symlink = fs_symlink;
  ops.readlink = fs_readlink;
  ops.rename = fs_rename;
  ops.link = fs_link;
  ops.chmod = fs_chmod;
  ops.chown = fs_chown;
  ops.utimens = fs_utimens;
  return ops;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: passthrough_fuse SOURCE MOUNTPOINT\n");
    return 2;
  }
  g_source = argv[1];
  ::umask(0);
  const fuse_operations ops = operations();
  char foreground[] = "-f";
  char option[] = "-o";
  char options[] = "allow_other,default_permissions,attr_timeout=0,entry_timeout=0";
  char* arguments[] = {argv[0], foreground, option, options, argv[2], nullptr};
  return fuse_main(5, arguments, &ops, nullptr);
}
