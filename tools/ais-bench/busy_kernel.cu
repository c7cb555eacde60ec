// SPDX-License-Identifier: MIT
//
// The kernel beside which `ais-bench read --busy` measures: it holds the whole device until the host
// says that it may end, or its time is over. Made into the PTX beside it by dev/make-ptx.

#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))

using u32 = unsigned int;
using u64 = unsigned long long;

DEVICE static volatile u32 ended;  // number of the last launch that was told to end

DEVICE static u64 nanoseconds() {
  u64 now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// `signals` lies in pinned memory: [0] the kernel runs, [1] the host wants its end. Launches have
// numbers, so that nothing need be cleared between them. One thread asks the host, far away, and
// tells the others.
KERNEL void ais_bench_busy(volatile u32* signals, u32 number, u64 most_nanoseconds) {
  const u64 begin = nanoseconds();
  const bool is_first =
      __nvvm_read_ptx_sreg_ctaid_x() == 0 && __nvvm_read_ptx_sreg_tid_x() == 0;
  if (is_first) {
    signals[0] = number;
    __nvvm_membar_sys();
  }
  while (ended != number && nanoseconds() - begin < most_nanoseconds) {
    if (is_first && signals[1] == number) ended = number;
  }
}
