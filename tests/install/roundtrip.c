/* SPDX-License-Identifier: MIT */
/*
 * A consumer of the installed library as a stranger would write it: a pattern goes from device
 * memory to a file and comes back into other device memory. `roundtrip FILE` prints OK. It is
 * valid C11 and C++17, and is built as both.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_DIRECT */
#endif
#include <errno.h>
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <hipfile.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 1 << 20 };

static unsigned char g_pattern[kBytes];
static unsigned char g_result[kBytes];

static int failed(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  return 1;
}

static const char *text_of(ssize_t result) {
  return IS_HIPFILE_ERR(result) ? HIPFILE_ERRSTR(result) : strerror(errno);
}

int main(int argc, char **argv) {
  void *from = NULL;
  void *to = NULL;
  hipFileHandle_t file;
  hipFileDescr_t descr;
  hipFileError_t error;
  ssize_t bytes;
  int fd, i;

  if (argc != 2) return failed("usage", "roundtrip FILE");
  fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0644);
  if (fd < 0) fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return failed(argv[1], strerror(errno));

  memset(&descr, 0, sizeof descr);
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  error = hipFileHandleRegister(&file, &descr);
  if (error.err != hipFileSuccess) return failed("register", HIPFILE_ERRSTR(error.err));

  for (i = 0; i < kBytes; ++i) g_pattern[i] = (unsigned char)((i * 2654435761u) >> 24);
  if (hipMalloc(&from, kBytes) != hipSuccess) return failed("hipMalloc", "source");
  if (hipMalloc(&to, kBytes) != hipSuccess) return failed("hipMalloc", "destination");
  if (hipMemcpy(from, g_pattern, kBytes, hipMemcpyHostToDevice) != hipSuccess)
    return failed("hipMemcpy", "to device");

  error = hipFileBufRegister(from, kBytes, 0);
  if (error.err != hipFileSuccess) return failed("buffer", HIPFILE_ERRSTR(error.err));
  bytes = hipFileWrite(file, from, kBytes, 0, 0);
  if (bytes != kBytes) return failed("write", text_of(bytes));
  bytes = hipFileRead(file, to, kBytes, 0, 0);
  if (bytes != kBytes) return failed("read", text_of(bytes));
  if (hipMemcpy(g_result, to, kBytes, hipMemcpyDeviceToHost) != hipSuccess)
    return failed("hipMemcpy", "to host");
  if (memcmp(g_pattern, g_result, kBytes) != 0) return failed("compare", "bytes differ");

  error = hipFileBufDeregister(from);
  if (error.err != hipFileSuccess) return failed("buffer", HIPFILE_ERRSTR(error.err));
  hipFileHandleDeregister(file);
  if (hipFree(from) != hipSuccess || hipFree(to) != hipSuccess) return failed("hipFree", "");
  if (close(fd) != 0) return failed("close", strerror(errno));
  printf("OK %d\n", kBytes);
  return 0;
}
