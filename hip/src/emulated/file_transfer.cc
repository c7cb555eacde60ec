// SPDX-License-Identifier: MIT
//
// hipAmdFileRead and hipAmdFileWrite of the emulated device: O_DIRECT straight between the file and
// device memory, with the rules and errors that AMD documents for its kernel driver. The errors are
// errno values in `status`; the call itself succeeds. hipPortableFileRead shares all but the rules.

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "emulated_device.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace hip_portable::emulated {
namespace {

constexpr std::uint64_t kAlignment = 4096;
constexpr std::uint64_t kMostBytes = 0x7ffff000;  // of one transfer in the kernel
constexpr std::size_t kSmallestSector = 512;
// One O_DIRECT write that meets a full disk fails as a whole, whatever it wrote before. Written in
// pieces, the count of a failed transfer is off by one piece at most.
constexpr std::size_t kLargestWrite = 32 << 20;

bool is_aligned(const FileTransfer& transfer) {
  return transfer.offset >= 0 && static_cast<std::uint64_t>(transfer.offset) % kAlignment == 0 &&
         transfer.size % kAlignment == 0;
}

// AMD's driver finds the storage device behind neither of loop, md and dm. The kernel lists them
// all, and no real disk, below devices/virtual/block. Without /sys no disk can be told from
// another; then none is found, as the refusal leads to a path that works on every disk.
bool is_virtual_disk(dev_t device) {
  char path[64];
  char target[512];
  std::snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", ::major(device), ::minor(device));
  const ssize_t length = ::readlink(path, target, sizeof(target) - 1);
  if (length < 0) return true;
  target[length] = '\0';
  return std::strstr(target, "/virtual/block/") != nullptr;
}

bool is_supported_file_system(int fd) {
  struct statfs facts;
  if (::fstatfs(fd, &facts) != 0) return false;
  return facts.f_type == EXT4_SUPER_MAGIC || facts.f_type == XFS_SUPER_MAGIC;
}

int check_file(int fd, DirectRules rules) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return EBADF;
  if ((flags & O_DIRECT) == 0) return EINVAL;
  struct stat facts;
  if (::fstat(fd, &facts) != 0) return errno;
  const bool is_disk = S_ISBLK(facts.st_mode);
  const dev_t device = is_disk ? facts.st_rdev : facts.st_dev;
  if (!is_disk && !(S_ISREG(facts.st_mode) && is_supported_file_system(fd))) return ENODEV;
  if (::major(device) == 0) return ENODEV;  // no block device behind it
  if (rules == DirectRules::kKernel && is_virtual_disk(device)) return ENODEV;
  return 0;
}

int check_memory(const Machine& machine, const FileTransfer& transfer, int ordinal) {
  PointerInfo info;
  if (machine.describe(transfer.address, &info) != hipSuccess) return EINVAL;
  if (info.type != hipMemoryTypeDevice || info.device != ordinal) return EINVAL;
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(transfer.address) -
                                                 static_cast<std::byte*>(info.base));
  if (transfer.size > info.size - offset) return EINVAL;
  const hipMemAccessFlags access = transfer.direction == FileDirection::kRead
                                       ? hipMemAccessFlagsProtReadWrite
                                       : hipMemAccessFlagsProtRead;
  const auto size = static_cast<std::size_t>(transfer.size);
  const hipError_t error = machine.ranges.check_access(transfer.address, size, ordinal, access);
  return error == hipSuccess ? 0 : EINVAL;
}

int check(const Machine& machine, const FileTransfer& transfer, int ordinal) {
  if (transfer.size > kMostBytes) return ESPIPE;
  if (!transfer.takes_any_file && !is_aligned(transfer)) return EINVAL;
  const int error = check_memory(machine, transfer, ordinal);
  if (error != 0 || transfer.takes_any_file) return error;
  return check_file(transfer.fd, machine.settings.direct);
}

ssize_t move_once(const FileTransfer& transfer, std::byte* memory, std::uint64_t done) {
  ssize_t moved = -1;
  do {
    const auto offset = static_cast<off_t>(transfer.offset + static_cast<std::int64_t>(done));
    const auto left = static_cast<std::size_t>(transfer.size - done);
    moved = transfer.direction == FileDirection::kRead
                ? ::pread(transfer.fd, memory + done, left, offset)
                : ::pwrite(transfer.fd, memory + done, std::min(left, kLargestWrite), offset);
  } while (moved < 0 && errno == EINTR);
  return moved;
}

// An errno, and in *copied what was moved before it. The end of the file is no error.
int move_all(const FileTransfer& transfer, std::byte* memory, std::uint64_t* copied) {
  while (*copied < transfer.size) {
    const ssize_t moved = move_once(transfer, memory, *copied);
    if (moved < 0) return errno;
    *copied += static_cast<std::uint64_t>(moved);
    if (moved == 0) return 0;
    // Part of a sector is the end of the file. Going on from there would be unaligned.
    const bool is_part = static_cast<std::size_t>(moved) % kSmallestSector != 0;
    if (is_part && !transfer.takes_any_file) return 0;
  }
  return 0;
}

}  // namespace

hipError_t EmulatedDevice::transfer_file(const FileTransfer& transfer, std::uint64_t* copied,
                                         std::int32_t* status) {
  *copied = 0;
  *status = 0;
  if (transfer.size == 0) return hipSuccess;
  *status = check(machine_, transfer, ordinal_);
  if (*status != 0) return hipSuccess;
  const auto size = static_cast<std::size_t>(transfer.size);
  auto* memory = static_cast<std::byte*>(machine_.work_on(transfer.address, size));
  const int error = move_all(transfer, memory, copied);
  // What arrived is reported; the error comes again with the next call.
  if (*copied == 0) *status = error;
  const bool is_short_read = transfer.direction == FileDirection::kRead && *copied < transfer.size;
  if (error == 0 && is_short_read && machine_.settings.direct == DirectRules::kKernel) {
    *copied = 0;
    *status = EIO;
  }
  return hipSuccess;
}

}  // namespace hip_portable::emulated
