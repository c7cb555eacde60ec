// SPDX-License-Identifier: MIT
//
// One byte with one descriptor for each memory file.
#include "util/stats_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "util/env.h"

namespace hipfile::stats {
namespace {

union Control {
  char bytes[CMSG_SPACE(sizeof(int))];
  cmsghdr align;
};

// The number may mean anything by now.
bool is_launchers_socket(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  ucred peer = {};
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid == 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

msghdr message(iovec* data, Control* control) {
  msghdr result = {};
  result.msg_iov = data;
  result.msg_iovlen = 1;
  result.msg_control = control->bytes;
  result.msg_controllen = sizeof control->bytes;
  return result;
}

}  // namespace

void offer_to_launcher(int fd) {
  const char* text = secure_getenv(kSocketVariable);
  const std::optional<size_t> number = text == nullptr ? std::nullopt : parse_size(text);
  if (!number || *number > INT_MAX) return;
  const int socket = static_cast<int>(*number);
  if (!is_launchers_socket(socket)) return;
  char byte = 0;
  iovec data = {&byte, 1};
  Control control = {};
  msghdr sent = message(&data, &control);
  cmsghdr* header = CMSG_FIRSTHDR(&sent);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  (void)sendmsg(socket, &sent, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int receive_offered(int socket) {
  char byte = 0;
  iovec data = {&byte, 1};
  Control control = {};
  msghdr got = message(&data, &control);
  if (recvmsg(socket, &got, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&got);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

}  // namespace hipfile::stats
