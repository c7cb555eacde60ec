/* SPDX-License-Identifier: MIT */
/* A consumer of the installed library in C: header and library agree, and nothing else is used. */
#include <hipfile.h>
#include <stdio.h>

int main(void) {
  unsigned major = 99, minor = 99, patch = 99;
  const hipFileError_t error = hipFileGetVersion(&major, &minor, &patch);
  if (error.err != hipFileSuccess) {
    fprintf(stderr, "hipFileGetVersion: %s\n", HIPFILE_ERRSTR(error.err));
    return 1;
  }
  printf("header %d.%d.%d, library %u.%u.%u\n", HIPFILE_VERSION_MAJOR, HIPFILE_VERSION_MINOR,
         HIPFILE_VERSION_PATCH, major, minor, patch);
  return major == HIPFILE_VERSION_MAJOR ? 0 : 1;
}
