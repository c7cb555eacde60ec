/* SPDX-License-Identifier: MIT */
/*
 * The round trip of roundtrip.c by a program that is linked with neither library: it opens both by
 * the names that Python packages use, RTLD_LOCAL, and looks every function up.
 * `dlopen_roundtrip LIBHIPFILE LIBAMDHIP64 FILE`
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <hipfile.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 1 << 16 };

static int failed(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why == NULL ? "failed" : why);
  return 1;
}

/* POSIX gives functions as data pointers; copying the bits is the portable way to read them. */
#define LOOK_UP(library, name)                                  \
  __typeof__(&name) p_##name;                                   \
  do {                                                          \
    void *found = dlsym(library, #name);                        \
    if (found == NULL) return failed(#name, dlerror());         \
    memcpy(&p_##name, &found, sizeof found);                    \
  } while (0)

int main(int argc, char **argv) {
  static unsigned char pattern[kBytes], result[kBytes];
  void *from = NULL, *to = NULL;
  if (argc != 4) return failed("usage", "dlopen_roundtrip LIBHIPFILE LIBAMDHIP64 FILE");

  void *hipfile = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (hipfile == NULL) return failed(argv[1], dlerror());
  void *hip = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (hip == NULL) return failed(argv[2], dlerror());
  LOOK_UP(hip, hipMalloc);
  LOOK_UP(hip, hipFree);
  LOOK_UP(hip, hipMemcpy);
  LOOK_UP(hipfile, hipFileHandleRegister);
  LOOK_UP(hipfile, hipFileHandleDeregister);
  LOOK_UP(hipfile, hipFileWrite);
  LOOK_UP(hipfile, hipFileRead);

  const int fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return failed(argv[3], "open");
  hipFileHandle_t file;
  hipFileDescr_t descr;
  memset(&descr, 0, sizeof descr);
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  if (p_hipFileHandleRegister(&file, &descr).err != hipFileSuccess) return failed("register", "");

  for (int i = 0; i < kBytes; ++i) pattern[i] = (unsigned char)(i * 7 + i / 256);
  if (p_hipMalloc(&from, kBytes) != hipSuccess) return failed("hipMalloc", "source");
  if (p_hipMalloc(&to, kBytes) != hipSuccess) return failed("hipMalloc", "destination");
  if (p_hipMemcpy(from, pattern, kBytes, hipMemcpyHostToDevice) != hipSuccess)
    return failed("hipMemcpy", "to device");
  if (p_hipFileWrite(file, from, kBytes, 0, 0) != kBytes) return failed("write", "");
  if (p_hipFileRead(file, to, kBytes, 0, 0) != kBytes) return failed("read", "");
  if (p_hipMemcpy(result, to, kBytes, hipMemcpyDeviceToHost) != hipSuccess)
    return failed("hipMemcpy", "to host");
  if (memcmp(pattern, result, kBytes) != 0) return failed("compare", "bytes differ");

  p_hipFileHandleDeregister(file);
  if (p_hipFree(from) != hipSuccess || p_hipFree(to) != hipSuccess) return failed("hipFree", "");
  close(fd);
  printf("OK %d\n", kBytes);
  return 0;
}
