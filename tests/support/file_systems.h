// SPDX-License-Identifier: MIT
// File systems for tests, made on the spot: loop disks with ext4, xfs and btrfs, tmpfs, overlay and
// a FUSE file system without O_DIRECT.
//
// The process that makes them moves into a mount namespace of its own, image files are unlinked as
// soon as the loop device has them, and the loop device is marked to go with its last user. So the
// kernel takes everything away when the process and its children end, however they end.
#pragma once

#include <string>
#include <vector>

namespace hipfile::test {

// "ext4-512", "ext4-4096", "xfs-512", "xfs-4096", "btrfs", "tmpfs", "overlay", "fuse".
const std::vector<std::string>& file_system_names();

// One mounted file system. Unmounted by the destructor.
class FileSystem {
 public:
  FileSystem() = default;
  ~FileSystem();
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  // Makes and mounts `name`, one of the names or "ext4-journal" (data=journal), with `mebibytes` of
  // room. Returns an empty string, or why it cannot be had here (not root, no loop device, no
  // mkfs).
  std::string mount(const std::string& name, unsigned mebibytes);

  // The same for a file system of `kind` ("ext4") that is made on a sparse file of ours, `image`,
  // with options of mkfs. The file need not take O_DIRECT.
  std::string mount_image(const std::string& kind, const std::string& image, unsigned mebibytes,
                          const std::vector<std::string>& mkfs_options,
                          const std::string& mount_options);

  // Where tests may write. Valid after a successful mount().
  const std::string& path() const { return path_; }

 private:
  std::string mount_disk(const std::string& kind, const std::string& sector, unsigned mebibytes,
                         const std::string& where, const char* options = nullptr);
  std::string mount_overlay(unsigned mebibytes);
  std::string mount_fuse();
  std::string folder(const std::string& name);

  std::string root_;  // our scratch folder, outside the mounts
  std::string path_;
  std::vector<std::string> mounts_;  // in the order in which they were made
  int fuse_pid_ = -1;
  int lock_ = -1;  // held while the scratch folder is in use
};

// Runs a program that may lie where the PATH of an ordinary login does not lead. An empty string,
// or its complaint in one line.
std::string run_admin_tool(const std::vector<std::string>& arguments);

// A loop device of `mebibytes` with the given sector size, for tests of block devices.
class LoopDisk {
 public:
  LoopDisk() = default;
  ~LoopDisk();
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  // Returns an empty string, or why there is none.
  std::string attach(const std::string& sector, unsigned mebibytes);
  // The same over a file that there is. `is_direct`: past the page cache of the file's own system.
  std::string attach_file(const std::string& sector, const std::string& image,
                          bool is_direct = true);
  // Lets the device go with its last user; the object keeps no hold on it.
  void release_to_users();
  const std::string& device() const { return device_; }

 private:
  std::string device_;
};

}  // namespace hipfile::test
