// SPDX-License-Identifier: MIT
//
// Fake driver: what a pointer is.

#include "fake_blocks.h"

using namespace fake_cuda;

namespace {

constexpr std::size_t kPoolPiece = 32 << 20;

// What cuPointerGetAttributes tells of an address; nothing for one that is unknown.
struct Answer {
  unsigned type = 0;
  bool is_host = false;
  bool is_managed = false;
  int device = -2;
  CUdeviceptr start = 0;
  std::size_t size = 0;
  CUdeviceptr mapping = 0;
  std::size_t mapped = 0;
};

Answer answer_for_virtual(const VirtualPlace& place) {
  Answer answer;
  answer.type = place.mapped != 0 ? 2 : 0;
  answer.device = place.device;
  answer.start = place.reservation;
  answer.size = place.reserved;
  answer.mapping = place.mapping;
  answer.mapped = place.mapped;
  return answer;
}

Answer answer_for(CUdeviceptr address) {
  VirtualPlace place;
  if (find_virtual(address, &place)) return answer_for_virtual(place);
  const std::lock_guard<std::mutex> lock(blocks_mutex);
  const auto at = block_of(address);
  if (at == blocks().end()) return {};
  const Block& block = at->second;
  // Managed memory counts as device memory.
  Answer answer;
  answer.type = is_on_device(block) ? 2 : 1;
  answer.is_managed = block.kind == Kind::kManaged;
  answer.is_host = answer.is_managed || !is_on_device(block);
  answer.device = block.device;
  // Where registered memory begins and ends is not told.
  if (block.kind == Kind::kHostRegistered) return answer;
  answer.start = answer.mapping = at->first;
  answer.size = answer.mapped = block.size;
  if (block.kind != Kind::kPool) return answer;
  // A pool takes 32 MiB at a time from the device, also where less is left to be had.
  answer.mapping += (address - at->first) / kPoolPiece * kPoolPiece;
  answer.mapped = kPoolPiece;
  return answer;
}

}  // namespace

// The real one succeeds for unknown pointers too, with zeros and an ordinal of -2. It needs no
// context.
FAKE_CUDA_API CUresult cuPointerGetAttributes(unsigned count, int* which, void** values,
                                              CUdeviceptr address) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (const CUresult lost = loss(); lost != CUDA_SUCCESS) return lost;
  const Answer answer = answer_for(address);
  for (unsigned index = 0; index < count; ++index) {
    void* value = values[index];
    switch (which[index]) {
      case 2:
        *static_cast<unsigned*>(value) = answer.type;
        break;
      case 3:
        *static_cast<CUdeviceptr*>(value) = answer.type != 0 ? address : 0;
        break;
      case 4:
        *static_cast<CUdeviceptr*>(value) = answer.is_host ? address : 0;
        break;
      case 8:
        *static_cast<unsigned char*>(value) = answer.is_managed ? 1 : 0;
        break;
      case 9:
        *static_cast<int*>(value) = answer.device;
        break;
      case 11:
        *static_cast<CUdeviceptr*>(value) = answer.start;
        break;
      case 12:
        *static_cast<std::size_t*>(value) = answer.size;
        break;
      case 18:
        *static_cast<std::size_t*>(value) = answer.mapped;
        break;
      case 19:
        *static_cast<CUdeviceptr*>(value) = answer.mapping;
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}
