/* SPDX-License-Identifier: MIT */
/* The library as C sees it: negated codes arrive as negative numbers (an unsigned enum negated as
 * such would be 4294962274), results come back by value, and every function can be named. */
#include <errno.h>
#include <fcntl.h>
#include <hipfile.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int g_failures;

static void expect(int is_true, const char* what) {
  if (is_true) return;
  printf("failed: %s\n", what);
  ++g_failures;
}

#define EXPECT(condition) expect((condition) ? 1 : 0, #condition)

static void check_closed(void) {
  errno = 0;
  EXPECT(hipFileRead(NULL, NULL, 0, 0, 0) == -1);
  EXPECT(errno == EINVAL);
  EXPECT(hipFileUseCount() == 0);
  EXPECT(hipFileDriverClose().err == hipFileDriverNotInitialized);
}

static void check_codes_Rule7(hipFileHandle_t handle, char* memory) {
  ssize_t result = hipFileRead(handle, NULL, 4096, 0, 0);
  EXPECT(result == -5022);
  EXPECT(IS_HIPFILE_ERR(result));
  EXPECT(strcmp(HIPFILE_ERRSTR(result), hipFileGetOpErrorString(hipFileInvalidValue)) == 0);
  EXPECT(hipFileWrite(handle, NULL, 4096, 0, 0) == -5022);
  EXPECT(hipFileRead(NULL, memory, 4096, 0, 0) == -5027);
  EXPECT(hipFileWrite(NULL, memory, 4096, 0, 0) == -5027);
  errno = 0;
  EXPECT(hipFileRead(handle, memory, 4096, -1, 0) == -1);
  EXPECT(errno == EINVAL);
}

static void check_io(hipFileHandle_t handle, char* memory) {
  memset(memory, 'x', 4096);
  EXPECT(hipFileWrite(handle, memory, 4096, 0, 0) == 4096);
  memset(memory, 0, 4096);
  EXPECT(hipFileRead(handle, memory, 4096, 96, 0) == 4000);
  EXPECT(memory[3999] == 'x' && memory[4000] == 0);
}

int main(void) {
  static char memory[4096];
  char path[4096];
  const char* directory = getenv("HIPFILE_TEST_DIR");
  hipFileDescr_t descr;
  hipFileHandle_t handle = NULL;
  hipFileError_t error;
  int fd;

  check_closed();
  snprintf(path, sizeof path, "%s/hipfile-c-XXXXXX", directory != NULL ? directory : "/tmp");
  fd = mkstemp(path);
  if (fd < 0) {
    perror(path);
    return 1;
  }
  unlink(path);
  memset(&descr, 0, sizeof descr);
  descr.type = hipFileHandleTypeOpaqueFD;
  descr.handle.fd = fd;
  error = hipFileHandleRegister(&handle, &descr);
  EXPECT(error.err == hipFileSuccess);
  EXPECT(HIP_DRV_ERR(error) == hipSuccess);
  EXPECT(!IS_HIP_DRV_ERR(error));
  check_codes_Rule7(handle, memory);
  check_io(handle, memory);
  hipFileHandleDeregister(handle);
  EXPECT(hipFileDriverClose().err == hipFileSuccess);
  close(fd);
  printf("%d failures\n", g_failures);
  return g_failures == 0 ? 0 : 1;
}
