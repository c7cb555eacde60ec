// SPDX-License-Identifier: MIT
//
// The late-bound copy on NVIDIA's devices: operands come from a descriptor in host memory that is
// read when the stream gets here. Two blocks, because more are slower over PCIe and one is not
// enough. One thread of a block reads the descriptor: every thread reading it takes ten times as
// long as the copy. No header of CUDA is needed: dev/make-ptx turns this file into the PTX beside it.

#define KERNEL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
#define DEVICE __attribute__((device))

using u32 = unsigned int;
using u64 = unsigned long long;

// hipPortableIndirectCopy_t
struct Descriptor {
  u64 destination;
  u64 source;
  u64 size;
  u64 flag;
  u64 flag_value;
};

using Block16 = u64 __attribute__((ext_vector_type(2)));

// Which of the blocks of a launch is done last is counted here, one counter a launch. As many as
// operations fit into 256 streams that stand still; a counter is 0 again when its launch is done.
constexpr u32 kCounters = 1U << 18;
DEVICE u32 counters[kCounters];

DEVICE static u64 thread_of_block() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE static u64 threads_of_block() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE static u64 block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE static u64 blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }

// Stores before it are seen by the host before stores after it.
DEVICE static void fence_system() { __nvvm_membar_sys(); }

template <class Unit>
DEVICE static void copy_units(u64 to, u64 from, u64 bytes) {
  const u64 step = threads_of_block() * blocks() * sizeof(Unit);
  u64 at = (block() * threads_of_block() + thread_of_block()) * sizeof(Unit);
  // Four loads on their way at once: the link is far.
  for (; at + 3 * step + sizeof(Unit) <= bytes; at += 4 * step) {
    const Unit first = *reinterpret_cast<const Unit*>(from + at);
    const Unit second = *reinterpret_cast<const Unit*>(from + at + step);
    const Unit third = *reinterpret_cast<const Unit*>(from + at + 2 * step);
    const Unit fourth = *reinterpret_cast<const Unit*>(from + at + 3 * step);
    *reinterpret_cast<Unit*>(to + at) = first;
    *reinterpret_cast<Unit*>(to + at + step) = second;
    *reinterpret_cast<Unit*>(to + at + 2 * step) = third;
    *reinterpret_cast<Unit*>(to + at + 3 * step) = fourth;
  }
  for (; at + sizeof(Unit) <= bytes; at += step) {
    *reinterpret_cast<Unit*>(to + at) = *reinterpret_cast<const Unit*>(from + at);
  }
}

// Bytes up to the first aligned unit, units, bytes behind the last one.
template <class Unit>
DEVICE static void copy_by(u64 to, u64 from, u64 size) {
  u64 head = (0 - to) % sizeof(Unit);
  if (head > size) head = size;
  const u64 middle = (size - head) / sizeof(Unit) * sizeof(Unit);
  copy_units<unsigned char>(to, from, head);
  copy_units<Unit>(to + head, from + head, middle);
  copy_units<unsigned char>(to + head + middle, from + head + middle, size - head - middle);
}

// Both ends in one range: one block, a stretch at a time, from the end that is read first.
DEVICE static void move_overlapping(u64 to, u64 from, u64 size) {
  if (block() != 0) return;
  const u64 stretch = threads_of_block();
  for (u64 done = 0; done < size; done += stretch) {
    const u64 at = to < from ? done + thread_of_block() : size - 1 - done - thread_of_block();
    const bool is_mine = at < size;  // a number below 0 is a large one
    unsigned char byte = 0;
    if (is_mine) byte = *reinterpret_cast<const unsigned char*>(from + at);
    __syncthreads();
    if (is_mine) *reinterpret_cast<unsigned char*>(to + at) = byte;
    __syncthreads();
  }
}

DEVICE static void copy(u64 to, u64 from, u64 size) {
  if (to == from) return;
  const u64 distance = to < from ? from - to : to - from;
  if (distance < size) {
    move_overlapping(to, from, size);
  } else if (distance % 16 == 0) {
    copy_by<Block16>(to, from, size);
  } else if (distance % 8 == 0) {
    copy_by<u64>(to, from, size);
  } else if (distance % 4 == 0) {
    copy_by<u32>(to, from, size);
  } else {
    copy_units<unsigned char>(to, from, size);
  }
}

// Without a descriptor nothing happens: the launch that brings the code onto the device.
KERNEL void hip_portable_indirect_copy(const volatile Descriptor* descriptor, u32 launch) {
  // Volatile: the compiler sees no other thread write it, and would read it before the barrier.
  SHARED static volatile Descriptor shared;
  if (descriptor == nullptr) return;
  if (thread_of_block() == 0) {
    shared.destination = descriptor->destination;
    shared.source = descriptor->source;
    shared.size = descriptor->size;
    shared.flag = descriptor->flag;
    shared.flag_value = descriptor->flag_value;
  }
  __syncthreads();
  const u64 size = shared.size;
  const u64 flag = shared.flag;
  if (size != 0) copy(shared.destination, shared.source, size);
  if (flag == 0) return;
  fence_system();
  __syncthreads();
  if (thread_of_block() != 0) return;
  const u32 last = static_cast<u32>(blocks()) - 1;
  if (__nvvm_atom_inc_gen_ui(&counters[launch % kCounters], last) != last) return;
  fence_system();
  *reinterpret_cast<volatile u64*>(flag) = shared.flag_value;
}
