/* SPDX-License-Identifier: MIT */
/*
 * `one_runtime PATH`: memory that the linked runtime gave is known to the runtime under PATH, and
 * all its functions come from one file. A second runtime would have a heap of its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  hipError_t (*other_free)(void *);
  Dl_info linked, opened;
  void *memory = NULL;
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void *found = library == NULL ? NULL : dlsym(library, "hipFree");
  void *own = dlsym(RTLD_DEFAULT, "hipFree");
  if (found == NULL || own == NULL) {
    fprintf(stderr, "hipFree: %s\n", dlerror());
    return 1;
  }
  memcpy(&other_free, &found, sizeof found);
  if (hipMalloc(&memory, 4096) != hipSuccess || other_free(memory) != hipSuccess) {
    fprintf(stderr, "the two do not know each other's memory\n");
    return 1;
  }
  if (dladdr(own, &linked) == 0 || dladdr(found, &opened) == 0 ||
      linked.dli_fbase != opened.dli_fbase) {
    fprintf(stderr, "two objects are mapped\n");
    return 1;
  }
  puts("1 runtime");
  return 0;
}
