// Poison, as verifier/draws/poison.cpp has it.
namespace {

struct Survivors {
  int64_t count, first;
};
__device__ __forceinline__ Survivors join(const Survivors& a, const Survivors& b) {
  return {a.count + b.count, min(a.first, b.first)};
}

template <typename Element>
__device__ __forceinline__ bool agrees(const Element* elements, int64_t i, uint64_t key) {
  constexpr int64_t kPerWord = 8 / sizeof(Element);
  const uint64_t word = poison_word(key, i / kPerWord);
  return elements[i] == static_cast<Element>(word >> (8 * sizeof(Element) * (i % kPerWord)));
}

// Is element i, which agrees, in a run of at least `least`?
template <typename Element>
__device__ __forceinline__ bool in_long_run(const Element* elements, int64_t count, int64_t i, uint64_t key,
                                            int64_t least) {
  int64_t run = 1;
  for (int64_t j = i - 1; j >= 0 && run < least && agrees(elements, j, key); --j) ++run;
  for (int64_t j = i + 1; j < count && run < least && agrees(elements, j, key); ++j) ++run;
  return run >= least;
}

template <typename Element>
__device__ __forceinline__ Survivors survivors(const void* bytes, int64_t count, uint64_t key, int64_t least) {
  constexpr int64_t kPerWord = 8 / sizeof(Element);
  const Element* elements = static_cast<const Element*>(bytes);
  const bool aligned = (reinterpret_cast<uintptr_t>(bytes) & 7) == 0;
  const int64_t words = (count + kPerWord - 1) / kPerWord;
  Survivors found = {0, INT64_MAX};
  for (int64_t word = thread_index(); word < words; word += all_threads()) {
    const int64_t begin = word * kPerWord, end = min(begin + kPerWord, count);
    if (aligned && end == begin + kPerWord &&
        !any_agrees<Element>(static_cast<const uint64_t*>(bytes)[word], poison_word(key, word))) {
      continue;
    }
    for (int64_t i = begin; i < end; ++i) {
      if (!agrees(elements, i, key) || !in_long_run(elements, count, i, key, least)) continue;
      ++found.count;
      found.first = min(found.first, i);
    }
  }
  return found;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_poison(uint8_t* bytes, int64_t size, uint64_t key) {
  const bool aligned = (reinterpret_cast<uintptr_t>(bytes) & 15) == 0;
  const int64_t pairs = (size + 15) / 16;
  for (int64_t pair = thread_index(); pair < pairs; pair += all_threads()) {
    const uint64_t first = poison_word(key, 2 * pair), second = poison_word(key, 2 * pair + 1);
    if (aligned && (pair + 1) * 16 <= size) {
      reinterpret_cast<ulonglong2*>(bytes)[pair] = make_ulonglong2(first, second);
      continue;
    }
    for (int64_t k = 0; k < 16 && pair * 16 + k < size; ++k) {
      bytes[pair * 16 + k] = static_cast<uint8_t>((k < 8 ? first : second) >> (8 * (k % 8)));
    }
  }
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_find_poison(const void* bytes, int64_t element_bytes, int64_t elements, uint64_t key, int64_t least_run,
                   Survivors* partials) {
  const Survivors mine = element_bytes == 1   ? survivors<uint8_t>(bytes, elements, key, least_run)
                         : element_bytes == 2 ? survivors<uint16_t>(bytes, elements, key, least_run)
                         : element_bytes == 4 ? survivors<uint32_t>(bytes, elements, key, least_run)
                                              : survivors<uint64_t>(bytes, elements, key, least_run);
  const Survivors all = joined_in_block(mine);
  if (threadIdx.x == 0) partials[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_untouched(const uint8_t* bytes, int64_t size, uint64_t key, int64_t* partials) {
  const bool aligned = (reinterpret_cast<uintptr_t>(bytes) & 7) == 0;
  const int64_t words = (size + 7) / 8;
  int64_t mine = 0;
  for (int64_t word = thread_index(); word < words; word += all_threads()) {
    const uint64_t poison = poison_word(key, word);
    if (aligned && (word + 1) * 8 <= size && reinterpret_cast<const uint64_t*>(bytes)[word] == poison) continue;
    for (int64_t k = 0; k < 8 && word * 8 + k < size; ++k) {
      mine += bytes[word * 8 + k] != static_cast<uint8_t>(poison >> (8 * k));
    }
  }
  const int64_t all = joined_in_block(mine);
  if (threadIdx.x == 0) partials[blockIdx.x] = all;
}
