// SPDX-License-Identifier: MIT
#include "lender.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdlib>
#include <cstring>

namespace hipfile::test {
namespace {

constexpr char kArgument[] = "--lend";
constexpr size_t kControl = CMSG_SPACE(sizeof(int));

bool send_loan(int socket, Loan& loan) {
  iovec data = {&loan, sizeof(loan)};
  alignas(cmsghdr) char control[kControl] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (loan.descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &loan.descriptor, sizeof(int));
  }
  return ::sendmsg(socket, &message, 0) == static_cast<ssize_t>(sizeof(loan));
}

// The descriptor, or -1. A lender that died sends nothing: the result stays what it is.
int receive_loan(int socket, Loan* loan) {
  Loan received;
  iovec data = {&received, sizeof(received)};
  alignas(cmsghdr) char control[kControl] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof(received))) {
    return -1;
  }
  *loan = received;
  int descriptor = -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr) std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
  return descriptor;
}

}  // namespace

Lender::Lender(const std::string& kind, size_t size) {
  int sockets[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return;
  socket_ = Fd(sockets[0]);
  Fd theirs(::dup(sockets[1]));  // which a program that is started keeps
  ::close(sockets[1]);
  process_ = std::make_unique<RunningProcess>(std::vector<std::string>{
      "/proc/self/exe", kArgument, kind, std::to_string(size), std::to_string(theirs.get())});
  theirs.reset();
  descriptor_ = Fd(receive_loan(socket_.get(), &loan_));
}

bool is_lender(int argc, char** argv, LendFunction lend, int* status) {
  if (argc != 5 || std::strcmp(argv[1], kArgument) != 0) return false;
  const int socket = std::atoi(argv[4]);
  Loan loan;
  loan.result = lend(argv[2], std::strtoull(argv[3], nullptr, 10), loan);
  char byte = 0;
  const bool is_sent = send_loan(socket, loan);
  while (is_sent && ::recv(socket, &byte, 1, 0) > 0) continue;
  *status = is_sent ? 0 : 1;
  return true;
}

}  // namespace hipfile::test
