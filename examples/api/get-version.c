/* SPDX-License-Identifier: MIT
 *
 * get-version: the version that this program was compiled with, and that of the library which it
 * met. In C. Needs no GPU, and opens nothing. */
#include <hipfile.h>
#include <stdio.h>

int main(void) {
  unsigned major = 0, minor = 0, patch = 0;
  const hipFileError_t error = hipFileGetVersion(&major, &minor, &patch);
  if (error.err != hipFileSuccess) {
    fprintf(stderr, "hipFileGetVersion: %s\n", HIPFILE_ERRSTR(error.err));
    return 1;
  }
  printf("header %d.%d.%d, library %u.%u.%u\n", HIPFILE_VERSION_MAJOR, HIPFILE_VERSION_MINOR,
         HIPFILE_VERSION_PATCH, major, minor, patch);
  return 0;
}
