// SPDX-License-Identifier: MIT
//
// Kernels of the tests, which see and change what hipFile moves as a program on the GPU does. Made
// into the PTX beside it by dev/make-ptx. A byte of a pattern is that of pattern.cc.

#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))

using u8 = unsigned char;
using u64 = unsigned long long;

DEVICE static u64 first() {
  return static_cast<u64>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}
DEVICE static u64 step() {
  return static_cast<u64>(__nvvm_read_ptx_sreg_nctaid_x()) * __nvvm_read_ptx_sreg_ntid_x();
}

DEVICE static void add(u64* sum, u64 value) {
  __nvvm_atom_add_gen_ll(reinterpret_cast<long long*>(sum), static_cast<long long>(value));
}

DEVICE static u8 pattern_byte(u64 seed, u64 position) {
  u64 x = (position / 8 + 1) * 0x9e3779b97f4a7c15ULL ^ (seed * 0xd1342543de82ef95ULL + 0x632be5ab);
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 32;
  return static_cast<u8>(x >> (8 * (position % 8)));
}

KERNEL void hipfile_test_sum(const u8* bytes, u64 size, u64* sum) {
  u64 mine = 0;
  for (u64 at = first(); at < size; at += step()) mine += bytes[at];
  add(sum, mine);
}

KERNEL void hipfile_test_add(u8* bytes, u64 size, u64 value) {
  for (u64 at = first(); at < size; at += step()) bytes[at] = static_cast<u8>(bytes[at] + value);
}

KERNEL void hipfile_test_fill(u8* bytes, u64 size, u64 seed, u64 position) {
  for (u64 at = first(); at < size; at += step()) bytes[at] = pattern_byte(seed, position + at);
}

KERNEL void hipfile_test_count_wrong(const u8* bytes, u64 size, u64 seed, u64 position,
                                     u64* wrong) {
  u64 mine = 0;
  for (u64 at = first(); at < size; at += step()) {
    mine += bytes[at] != pattern_byte(seed, position + at);
  }
  add(wrong, mine);
}
