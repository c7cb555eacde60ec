// SPDX-License-Identifier: MIT
//
// aiscp SOURCE DEST: copies one file through GPU memory. The whole of hipFile's synchronous use in
// one page: open, register, allocate, read, write, and everything back in reverse. One thread,
// blocking calls, a buffer that is not registered. docs/tutorial.md goes through it step by step.
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#ifndef AISCP_CHUNK_SIZE
#define AISCP_CHUNK_SIZE 0x7ffff000LU  // the most that one call moves: 2 GiB less one page
#endif

namespace {

constexpr size_t kBlock = 4096;              // direct I/O moves whole blocks
constexpr size_t kSizeIfUnknown = 1 << 20;   // of the buffer, for a source that tells no size

constexpr size_t round_up(size_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

// One end of the copy: a descriptor, and what hipFile knows it by.
struct End {
  const char* path = nullptr;
  int fd = -1;
  hipFileHandle_t handle = nullptr;
};

bool fail(const char* what, const char* path, const char* why) {
  std::fprintf(stderr, "aiscp: %s '%s': %s\n", what, path, why);
  return false;
}

// A negative result of hipFileRead or hipFileWrite is -1 with errno, or a negated hipFile code.
// `error` is errno as the call left it.
bool fail_transfer(const char* what, const char* path, ssize_t result, int error) {
  return fail(what, path, IS_HIPFILE_ERR(result) ? HIPFILE_ERRSTR(result) : std::strerror(error));
}

// Step 2 and 3: open with O_DIRECT, so that bytes can pass by the page cache, and register.
bool open_end(const char* path, int flags, End* end) {
  end->path = path;
  end->fd = open(path, flags | O_DIRECT | O_CLOEXEC, 0644);
  if (end->fd < 0 && errno == EINVAL) {
    end->fd = open(path, flags | O_CLOEXEC, 0644);  // this file system knows no O_DIRECT
  }
  if (end->fd < 0) return fail("cannot open", path, std::strerror(errno));

  hipFileDescr_t descr;
  std::memset(&descr, 0, sizeof descr);  // members to come must be zero
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = end->fd;
  const hipFileError_t error = hipFileHandleRegister(&end->handle, &descr);
  if (error.err == hipFileSuccess) return true;
  end->handle = nullptr;
  return fail("cannot register", path, HIPFILE_ERRSTR(error.err));
}

// The last step for each end, in reverse. Closing can be what reports a failed write.
bool close_end(End* end) {
  if (end->handle != nullptr) hipFileHandleDeregister(end->handle);
  const int fd = end->fd;
  *end = End{end->path, -1, nullptr};
  return fd < 0 || close(fd) == 0 || fail("cannot close", end->path, std::strerror(errno));
}

// Writes `size` bytes of the buffer at `offset`. A write may move less than it was asked to, so
// that buffer and file offset advance until all is done.
bool write_chunk(const End& to, char* buffer, size_t size, off_t offset) {
  // The last block is written whole. What lies behind the data must not be what the GPU's memory
  // happened to hold: somebody could read it until the file is cut.
  const size_t rounded = round_up(size);
  if (rounded != size && (hipMemset(buffer + size, 0, rounded - size) != hipSuccess ||
                          hipDeviceSynchronize() != hipSuccess)) {
    return fail("cannot clear the padding for", to.path, hipGetErrorString(hipGetLastError()));
  }
  for (size_t done = 0; done < rounded;) {
    errno = 0;
    const ssize_t n = hipFileWrite(to.handle, buffer, rounded - done,
                                   offset + static_cast<off_t>(done), static_cast<hoff_t>(done));
    const int error = errno;
    if (n < 0) return fail_transfer("error writing", to.path, n, error);
    if (n == 0) return fail("error writing", to.path, "no bytes were taken");
    done += static_cast<size_t>(n);
  }
  return true;
}

// Step 5: read until a read gives 0. The size that stat saw is not trusted: files of /proc say 0
// and have content, others grow.
bool copy_all(const End& from, const End& to, char* buffer, size_t size, off_t* copied) {
  for (;;) {
    errno = 0;
    const ssize_t n = hipFileRead(from.handle, buffer, size, *copied, 0);
    const int error = errno;
    if (n < 0) return fail_transfer("error reading", from.path, n, error);
    if (n == 0) return true;
    if (!write_chunk(to, buffer, static_cast<size_t>(n), *copied)) return false;
    *copied += n;
  }
}

// Step 6: cut off the padding. A copy that could not be cut is no copy.
bool set_size(const End& to, off_t size) {
  struct stat st {};
  if (fstat(to.fd, &st) != 0) return fail("cannot stat", to.path, std::strerror(errno));
  if (st.st_size == size || ftruncate(to.fd, size) == 0) return true;
  return fail("cannot truncate", to.path, std::strerror(errno));
}

// Did the source keep still? `before` is what step 1 saw.
bool is_unchanged(const End& from, const struct stat& before) {
  struct stat now {};
  if (fstat(from.fd, &now) != 0) return fail("cannot stat", from.path, std::strerror(errno));
  if (now.st_size == before.st_size) return true;
  return fail("cannot copy", from.path, "it changed while it was copied");
}

// Step 4 and the rest: a buffer in device memory, the copy, and the buffer back.
bool copy_through_device(const End& from, const End& to, const struct stat& source) {
  const size_t expected =
      source.st_size > 0 ? static_cast<size_t>(source.st_size) : kSizeIfUnknown;
  const size_t size = round_up(std::min<size_t>(expected, AISCP_CHUNK_SIZE));
  void* buffer = nullptr;
  const hipError_t error = hipMalloc(&buffer, size);
  if (error != hipSuccess) {
    return fail("cannot allocate device memory for", from.path, hipGetErrorString(error));
  }
  off_t copied = 0;
  bool ok = copy_all(from, to, static_cast<char*>(buffer), size, &copied) &&
            set_size(to, copied) && is_unchanged(from, source);
  if (hipFree(buffer) != hipSuccess) ok = fail("cannot free the memory for", from.path, "hipFree");
  return ok;
}

// Step 1: what are the two names? All that can be refused is refused before DEST is truncated.
bool check_names(const char* from, const char* to, struct stat* source, bool* is_new) {
  struct stat dest {};
  if (stat(from, source) != 0) return fail("cannot stat", from, std::strerror(errno));
  if (!S_ISREG(source->st_mode)) return fail("cannot copy", from, "not a regular file");
  *is_new = stat(to, &dest) != 0;
  if (*is_new && errno != ENOENT) return fail("cannot stat", to, std::strerror(errno));
  if (*is_new) return true;
  if (!S_ISREG(dest.st_mode)) return fail("cannot write", to, "not a regular file");
  if (dest.st_dev == source->st_dev && dest.st_ino == source->st_ino) {
    return fail("cannot write", to, "it is the same file as the source");
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "Usage: %s SOURCE DEST\n", argc > 0 ? argv[0] : "aiscp");
    return 1;
  }
  struct stat source {};
  bool is_new = false;
  if (!check_names(argv[1], argv[2], &source, &is_new)) return 1;

  End from, to;
  bool ok = open_end(argv[1], O_RDONLY, &from) &&
            open_end(argv[2], O_WRONLY | O_CREAT | O_TRUNC, &to) &&
            copy_through_device(from, to, source);
  const bool is_opened = to.fd >= 0;
  if (!close_end(&to)) ok = false;
  if (!close_end(&from)) ok = false;
  if (!ok && is_opened && is_new) unlink(argv[2]);  // no partial copy under the name
  return ok ? 0 : 1;
}
