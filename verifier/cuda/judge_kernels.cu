// What the judge computes on a GPU: input content, poison, statistics of outputs; in this order, each part with its
// kernels at its end. One file, since device code of ours is compiled without a header of ours. Argument layouts and
// result structs are those of judge_kernels.h, where the host's counterpart of each kernel is named; all their fields
// are 8 bytes wide.
//
// Every kernel is right for any one-dimensional grid and blocks of up to 256 threads, and gives the same answer for the
// same grid and block: sums are kept in double and joined in a fixed order. Input content and poison do not depend on
// grid and block at all.
#include <cuda_fp16.h>

namespace {

// In the order of core::DType.
enum Dtype { f16, bf16, f32, f64, i8, u8, i32, u32, i64 };

struct Bfloat {
  uint16_t bits;
};

__device__ __forceinline__ double as_double(__half value) { return static_cast<double>(__half2float(value)); }
__device__ __forceinline__ double as_double(Bfloat value) {
  return static_cast<double>(__uint_as_float(static_cast<uint32_t>(value.bits) << 16));
}
__device__ __forceinline__ double as_double(float value) { return static_cast<double>(value); }
__device__ __forceinline__ double as_double(double value) { return value; }

__device__ __forceinline__ uint32_t f16_bits(float value) { return __half_as_ushort(__float2half_rn(value)); }
__device__ __forceinline__ uint32_t bf16_bits(float value) {
  const uint32_t bits = __float_as_uint(value);
  if (value != value) return 0x7FC0;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

__device__ __forceinline__ void store_element(void* out, int64_t dtype, int64_t i, double value) {
  switch (dtype) {
    case f16:
      static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(f16_bits(static_cast<float>(value)));
      break;
    case bf16:
      static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(bf16_bits(static_cast<float>(value)));
      break;
    case f32:
      static_cast<float*>(out)[i] = static_cast<float>(value);
      break;
    default:
      static_cast<double*>(out)[i] = value;
  }
}

__device__ __forceinline__ void store_integer(void* out, int64_t dtype, int64_t i, int64_t value) {
  switch (dtype) {
    case i8:
    case u8:
      static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(value);
      break;
    case i32:
    case u32:
      static_cast<uint32_t*>(out)[i] = static_cast<uint32_t>(value);
      break;
    case i64:
      static_cast<int64_t*>(out)[i] = value;
      break;
    default:
      store_element(out, dtype, i, static_cast<double>(value));
  }
}

constexpr unsigned kMostThreads = 256;           // of a block
constexpr unsigned kBlocks = 4, kFewBlocks = 3;  // of a multiprocessor, at least: leave a thread 64 or 80 registers
__device__ __forceinline__ int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t all_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

__device__ __forceinline__ int64_t join(int64_t a, int64_t b) { return a + b; }

// In a fixed order. The result is thread 0's; every thread of the block must call.
template <typename T>
__device__ __forceinline__ T joined_in_block(const T& mine) {
  __shared__ T slots[kMostThreads];
  const unsigned t = threadIdx.x;
  __syncthreads();  // the slots may still be read from the last time
  slots[t] = mine;
  __syncthreads();
  for (unsigned half = kMostThreads / 2; half > 0; half /= 2) {
    if (t < half && t + half < blockDim.x) slots[t] = join(slots[t], slots[t + half]);
    __syncthreads();
  }
  return slots[0];
}

}  // namespace

// ---- Input content ----

// Input content: the ideas and magnitudes of verifier/inputs.cpp, with each element drawn from its own index.
namespace {

// In the order of benchsuite::Init and verifier::Distribution.
enum Init { normal, uniform, integers };
enum Distribution {
  ordinary,
  row_scales,
  offset,
  spikes,
  one_hot,
  ties,
  denormals,
  near_overflow,
  exact,
  exact_products,
  one_value,
  non_finite
};

struct FillArgs {
  int64_t dtype, kind, distribution;
  int64_t elements, columns;
  double scale, low, high;
  int64_t least, most;
  uint64_t key;
};

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011). The purposes that numbers are drawn for have counters of their own.
enum Purpose { value_of_quad, more_of_quad, row, few, more_of_few };

__device__ __forceinline__ uint4 philox(uint64_t counter, unsigned purpose, uint64_t key) {
  uint4 c = make_uint4(static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), purpose, 0);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = static_cast<uint64_t>(0xD2511F53u) * c.x, b = static_cast<uint64_t>(0xCD9E8D57u) * c.z;
    c = make_uint4(static_cast<uint32_t>(b >> 32) ^ c.y ^ k0, static_cast<uint32_t>(b),
                   static_cast<uint32_t>(a >> 32) ^ c.w ^ k1, static_cast<uint32_t>(a));
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

__device__ __forceinline__ uint32_t component(const uint4& v, int k) {
  return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}
__device__ __forceinline__ float component(const float4& v, int k) {
  return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

// Two of N(0,1), after Box and Muller. The radius is drawn with 24 bits: it ends at 5.77.
__device__ __forceinline__ float2 normal_pair(uint32_t for_radius, uint32_t for_angle) {
  const float u = static_cast<float>(for_radius >> 9) * 0x1p-23f + 0x1p-24f;
  const float radius = sqrtf(fmaxf(-2 * __logf(u), 0));
  float sine, cosine;
  __sincosf(static_cast<float>(static_cast<int32_t>(for_angle)) * (3.14159265f * 0x1p-31f), &sine, &cosine);
  return make_float2(radius * cosine, radius * sine);
}
__device__ __forceinline__ float4 normals(const uint4& drawn) {
  const float2 first = normal_pair(drawn.x, drawn.y), second = normal_pair(drawn.z, drawn.w);
  return make_float4(first.x, first.y, second.x, second.y);
}

__device__ __forceinline__ double unit_of(uint32_t drawn) { return drawn * 0x1p-32; }
// Uniform in [0, count); a count of 0 stands for 2^64.
__device__ __forceinline__ uint64_t below(uint64_t count, uint32_t high, uint32_t low) {
  if (count != 0 && count <= 0x100000000ull) return high * count >> 32;
  const uint64_t wide = static_cast<uint64_t>(high) << 32 | low;
  return count == 0 ? wide : wide % count;
}

// What all elements of one row share.
struct Row {
  int64_t hot;
  double scale;
  uint32_t kind;
};
__device__ __forceinline__ Row draw_row(const FillArgs& args, int64_t index) {
  const uint4 drawn = philox(static_cast<uint64_t>(index), row, args.key);
  const float decades = args.dtype == f16 ? 3 : 6;
  return {static_cast<int64_t>(below(static_cast<uint64_t>(args.columns), drawn.x, drawn.w)),
          args.distribution == row_scales
              ? static_cast<double>(exp10f(decades * (static_cast<float>(drawn.y) * 0x1p-32f - 0.5f)))
              : 1.0,
          static_cast<uint32_t>((args.key >> 62) + static_cast<uint64_t>(index)) % 4};
}

// One element's share of chance: N(0,1), U[0,1) and two numbers of 32 bits.
struct Chance {
  double normal, unit;
  uint32_t first, second;
};

// One element in 64 is a spike or not finite, as `second` says.
__device__ __forceinline__ bool is_rare(const Chance& c) { return c.second < 1u << 26; }
__device__ __forceinline__ double rare_value(uint32_t kind, const Chance& c) {
  const uint32_t one = kind < 3 ? kind : static_cast<uint32_t>(below(3, c.second << 6, 0));
  const double infinity = __longlong_as_double(0x7FF0000000000000ll);
  return one == 0 ? __longlong_as_double(0x7FF8000000000000ll) : one == 1 ? infinity : -infinity;
}
__device__ __forceinline__ double least_normal(int64_t dtype) {
  return dtype == f16 ? 0x1p-14 : dtype == f64 ? 0x1p-1022 : 0x1p-126;
}

constexpr int kMostExact = 32;
__device__ __forceinline__ double odd_number(int64_t dtype, const Chance& c) {
  const unsigned bits = dtype == f16 ? 11 : dtype == bf16 ? 8 : dtype == f32 ? 12 : 26;
  const double size = static_cast<double>(2 * below(uint64_t{1} << (bits - 1), c.first, 0) + 1);
  return (c.second & 1) == 0 ? size : -size;
}

__device__ __forceinline__ double unbounded(const FillArgs& args, const Row& row, bool hot, const Chance& c) {
  const bool narrow = args.dtype == f16;
  const double value = args.scale * c.normal;
  const uint64_t third = below(3, c.first, 0);
  switch (args.distribution) {
    case row_scales:
      return row.scale * value;
    case offset:
      return (narrow ? 8 : 100) + value;
    case spikes:
      return is_rare(c) ? value * (narrow ? 30 : 1000) : value;
    case one_hot:
      return hot ? 1 : 0;
    case ties:
      return third == 0 ? -0.5 : third == 1 ? 0.25 : 1.5;
    case denormals:
      return least_normal(args.dtype) * 4 * (c.unit - 0.5);
    case near_overflow:
      return narrow ? value : c.normal * 1e15;
    case exact:
      return static_cast<double>(below(2 * kMostExact + 1, c.first, 0)) - kMostExact;
    case exact_products:
      return hot ? odd_number(args.dtype, c) : 0;
    case non_finite:
      return is_rare(c) ? rare_value(row.kind, c) : value;
    default:
      return value;
  }
}

__device__ __forceinline__ double bounded(const FillArgs& args, const Row& row, bool hot, const Chance& c) {
  const double width = args.high - args.low;
  switch (args.distribution) {
    case row_scales:
      return args.low + width * c.unit * fmin(row.scale, 1.0);
    case offset:
      return args.high - width * (1 - c.unit) / 128;
    case spikes:
      return args.low + width * c.unit * (is_rare(c) ? 1 : 1e-3);
    case one_hot:
      return args.low + (hot ? width * 0.75 : 0);
    case ties:
      return args.low + width * floor(c.unit * 3) / 4;
    case denormals:
      if (args.low > 0 || args.high <= 0) break;
      return least_normal(args.dtype) * 2 * c.unit;
    case exact:
    case exact_products: {
      const double least = ceil(fmax(args.low, -kMostExact)), most = fmin(ceil(args.high) - 1, kMostExact);
      return fmax(least, floor(least + (most - least + 1) * c.unit));
    }
    case non_finite:
      if (is_rare(c)) return rare_value(row.kind, c);
      break;
    default:
      break;
  }
  return args.low + width * c.unit;
}

// The common case, 16 bytes at a time.
__device__ __forceinline__ float4 ordinary_quad(const FillArgs& args, int64_t quad) {
  const uint4 drawn = philox(static_cast<uint64_t>(quad), value_of_quad, args.key);
  if (args.kind == uniform) {
    const float low = static_cast<float>(args.low), high = static_cast<float>(args.high);
    const float width = static_cast<float>(args.high - args.low) * 0x1p-32f;
    return make_float4(fminf(fmaf(static_cast<float>(drawn.x), width, low), high),
                       fminf(fmaf(static_cast<float>(drawn.y), width, low), high),
                       fminf(fmaf(static_cast<float>(drawn.z), width, low), high),
                       fminf(fmaf(static_cast<float>(drawn.w), width, low), high));
  }
  const float scale = static_cast<float>(args.scale);
  const float4 n = normals(drawn);
  return make_float4(scale * n.x, scale * n.y, scale * n.z, scale * n.w);
}

template <int dtype>
__device__ __forceinline__ uint2 narrow_quad(const float4& v) {
  if (dtype == f16) return make_uint2(f16_bits(v.x) | f16_bits(v.y) << 16, f16_bits(v.z) | f16_bits(v.w) << 16);
  return make_uint2(bf16_bits(v.x) | bf16_bits(v.y) << 16, bf16_bits(v.z) | bf16_bits(v.w) << 16);
}

// Stores the elements of a quad that exist.
__device__ __forceinline__ void store_quad(void* out, const FillArgs& args, int64_t quad, const float4& v) {
  const int64_t i = quad * 4;
  if (i < args.elements) store_element(out, args.dtype, i, v.x);
  if (i + 1 < args.elements) store_element(out, args.dtype, i + 1, v.y);
  if (i + 2 < args.elements) store_element(out, args.dtype, i + 2, v.z);
  if (i + 3 < args.elements) store_element(out, args.dtype, i + 3, v.w);
}

template <int dtype>
__device__ __forceinline__ void fill_ordinary(void* out, const FillArgs& args) {
  constexpr int64_t kQuads = dtype == f32 ? 1 : 2;  // in 16 bytes
  const bool aligned = (reinterpret_cast<uintptr_t>(out) & 15) == 0;
  const int64_t chunks = (args.elements + 4 * kQuads - 1) / (4 * kQuads);
  for (int64_t chunk = thread_index(); chunk < chunks; chunk += all_threads()) {
    const bool whole = aligned && (chunk + 1) * 4 * kQuads <= args.elements;
    const float4 first = ordinary_quad(args, chunk * kQuads);
    if (dtype == f32) {
      if (whole) {
        static_cast<float4*>(out)[chunk] = first;
      } else {
        store_quad(out, args, chunk, first);
      }
      continue;
    }
    const float4 second = ordinary_quad(args, chunk * kQuads + 1);
    if (whole) {
      const uint2 a = narrow_quad<dtype>(first), b = narrow_quad<dtype>(second);
      static_cast<uint4*>(out)[chunk] = make_uint4(a.x, a.y, b.x, b.y);
    } else {
      store_quad(out, args, chunk * kQuads, first);
      store_quad(out, args, chunk * kQuads + 1, second);
    }
  }
}

// A double gets its lower bits from the second number.
__device__ __forceinline__ Chance chance_of(int64_t dtype, float normal, uint32_t first, uint32_t second) {
  const double wide_normal = static_cast<double>(normal), unit = unit_of(first);
  if (dtype != f64) return {wide_normal, unit, first, second};
  return {wide_normal * (1 + second * 0x1p-56), unit + second * 0x1p-64, first, second};
}

// All other cases. Their code is there once, not unrolled: it takes longest to compile.
__device__ __forceinline__ void fill_floats(void* out, const FillArgs& args) {
  const bool by_rows = args.distribution == row_scales || args.distribution == one_hot ||
                       args.distribution == exact_products || args.distribution == non_finite;
  const int64_t quads = (args.elements + 3) / 4;
  for (int64_t quad = thread_index(); quad < quads; quad += all_threads()) {
    const uint4 first = philox(static_cast<uint64_t>(quad), value_of_quad, args.key);
    const uint4 second = philox(static_cast<uint64_t>(quad), more_of_quad, args.key);
    const float4 n = normals(first);
    int64_t index = by_rows ? quad * 4 / args.columns : 0, column = quad * 4 - index * args.columns;
    Row row = {0, 1, 0};
    if (by_rows) row = draw_row(args, index);
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      const int64_t i = quad * 4 + k;
      if (i >= args.elements) break;
      if (by_rows && column == args.columns) {
        column = 0;
        row = draw_row(args, ++index);
      }
      const Chance c = chance_of(args.dtype, component(n, k), component(first, k), component(second, k));
      const bool hot = column == row.hot;
      store_element(out, args.dtype, i,
                    args.kind == uniform ? bounded(args, row, hot, c) : unbounded(args, row, hot, c));
      ++column;
    }
  }
}

__device__ __forceinline__ void fill_integers(void* out, const FillArgs& args) {
  const uint64_t least = static_cast<uint64_t>(args.least), count = static_cast<uint64_t>(args.most) - least + 1;
  const uint4 high = philox(0, few, args.key), low = philox(0, more_of_few, args.key);
  const int64_t a = static_cast<int64_t>(least + below(count, high.x, low.x));
  const int64_t b = static_cast<int64_t>(least + below(count, high.y, low.y));
  const int64_t c = static_cast<int64_t>(least + below(count, high.z, low.z));
  const int64_t quads = (args.elements + 3) / 4;
  for (int64_t quad = thread_index(); quad < quads; quad += all_threads()) {
    const uint4 first = philox(static_cast<uint64_t>(quad), value_of_quad, args.key);
    const uint4 second = philox(static_cast<uint64_t>(quad), more_of_quad, args.key);
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      const int64_t i = quad * 4 + k;
      if (i >= args.elements) break;
      const uint32_t u = component(first, k);
      const uint32_t v = component(second, k);
      const int64_t third = static_cast<int64_t>(below(3, u, 0));
      int64_t value;
      switch (args.distribution) {
        case one_value:
          value = a;
          break;
        case ties:
          value = third == 0 ? a : third == 1 ? b : c;
          break;
        case exact:
        case exact_products: {
          const int64_t drawn = static_cast<int64_t>(below(2 * kMostExact + 1, u, 0)) - kMostExact;
          value = drawn < args.least ? args.least : drawn > args.most ? args.most : drawn;
          break;
        }
        default:
          value = static_cast<int64_t>(least + below(count, u, v));
      }
      store_integer(out, args.dtype, i, value);
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks) kw_fill(void* out, FillArgs args) {
  if (args.kind == integers || args.dtype >= i8) {
    fill_integers(out, args);
  } else if (args.distribution == ordinary && args.dtype == f32) {
    fill_ordinary<f32>(out, args);
  } else if (args.distribution == ordinary && args.dtype == f16) {
    fill_ordinary<f16>(out, args);
  } else if (args.distribution == ordinary && args.dtype == bf16) {
    fill_ordinary<bf16>(out, args);
  } else {
    fill_floats(out, args);
  }
}

// ---- Poison ----

// Poison: verifier/poison.cpp.
namespace {

struct Survivors {
  int64_t count, first;
};
__device__ __forceinline__ Survivors join(const Survivors& a, const Survivors& b) {
  return {a.count + b.count, min(a.first, b.first)};
}

// SplitMix64: the words of the stream that verifier::Keys gives, by their index; with the fixed bits of the key's kind.
__device__ __forceinline__ uint64_t poison_word(uint64_t key, int64_t index) {
  uint64_t z = key + (static_cast<uint64_t>(index) + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  if (key >> 62 == 2) return z | 0x7F8000007F800000ull;
  if (key >> 62 == 3) return (z & 0x007FFFFF007FFFFFull) | 0x3F8000003F800000ull;
  return z;
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
  constexpr uint64_t kOnes = ~static_cast<uint64_t>(0) / static_cast<Element>(-1);
  constexpr uint64_t kTops = kOnes << (8 * sizeof(Element) - 1);
  const Element* elements = static_cast<const Element*>(bytes);
  const bool aligned = (reinterpret_cast<uintptr_t>(bytes) & 7) == 0;
  const int64_t words = (count + kPerWord - 1) / kPerWord;
  Survivors found = {0, INT64_MAX};
  for (int64_t word = thread_index(); word < words; word += all_threads()) {
    const int64_t begin = word * kPerWord, end = min(begin + kPerWord, count);
    if (aligned && end == begin + kPerWord) {  // the known test for a zero part of a word
      const uint64_t x = static_cast<const uint64_t*>(bytes)[word] ^ poison_word(key, word);
      if (((x - kOnes) & ~x & kTops) == 0) continue;
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

// ---- Statistics ----

// Statistics of outputs (verifier/tiles.cpp), of inputs (verifier/reduction.cpp), and of two sides' outputs
// (verifier/difference.cpp).
namespace {

struct Tiling {
  int64_t elements, row, tiles_per_row;
};
struct NaiveTile {
  double largest, squares;
};
struct TileErrors {
  double scale_squares, peak;
  NaiveTile naive;
  double largest, squares;
  int64_t worst;
  int64_t mismatches, first_mismatch;
};
struct TileMismatches {
  int64_t count, first;
};
struct Moments {
  double squares;
  int64_t count;
};
struct Difference {
  double largest, squares;
};

__device__ __forceinline__ TileErrors join(const TileErrors& a, const TileErrors& b) {
  const bool other = b.largest > a.largest || (b.largest == a.largest && b.worst < a.worst);
  return {a.scale_squares + b.scale_squares,
          fmax(a.peak, b.peak),
          {fmax(a.naive.largest, b.naive.largest), a.naive.squares + b.naive.squares},
          other ? b.largest : a.largest,
          a.squares + b.squares,
          other ? b.worst : a.worst,
          a.mismatches + b.mismatches,
          min(a.first_mismatch, b.first_mismatch)};
}
__device__ __forceinline__ TileMismatches join(const TileMismatches& a, const TileMismatches& b) {
  return {a.count + b.count, min(a.first, b.first)};
}
__device__ __forceinline__ Moments join(const Moments& a, const Moments& b) {
  return {a.squares + b.squares, a.count + b.count};
}
__device__ __forceinline__ Difference join(const Difference& a, const Difference& b) {
  return {fmax(a.largest, b.largest), a.squares + b.squares};
}

__device__ __forceinline__ int64_t begin_of(const Tiling& tiling, int64_t tile) {
  const int64_t row = tile / tiling.tiles_per_row, part = tile % tiling.tiles_per_row;
  return min(row * tiling.row + tiling.row * part / tiling.tiles_per_row, tiling.elements);
}
__device__ __forceinline__ int64_t tiles_of(const Tiling& tiling) {
  return (tiling.elements + tiling.row - 1) / tiling.row * tiling.tiles_per_row;
}

__device__ __forceinline__ double largest_of(int64_t dtype) {
  return dtype == f16 ? 65504 : dtype == bf16 ? 0x1.FEp127 : dtype == f32 ? 0x1.FFFFFEp127 : DBL_MAX;
}

// May a candidate give y where r is right and the naive solution gives b, as far as NaN and infinity go?
__device__ __forceinline__ bool right_class(double y, double r, double b, double largest) {
  if (isnan(r)) return isnan(y);
  if (isinf(r)) return y == r;
  const bool same_infinity = isinf(y) && (y < 0) == (r < 0);
  if (fabs(r) > largest * 1.01) return same_infinity;
  if (isfinite(y)) return true;
  if (fabs(r) > largest * 0.99) return same_infinity;
  return isnan(b) ? isnan(y) : y == b;
}
__device__ __forceinline__ double error_of(double value, double r) {
  return isfinite(r) && isfinite(value) ? fabs(value - r) : 0;
}

__device__ __forceinline__ void add_element(TileErrors& tile, int64_t i, double y, double r, double b, double largest) {
  if (isfinite(r)) {
    tile.scale_squares += r * r;
    tile.peak = fmax(tile.peak, fabs(r));
  }
  const double naive_error = error_of(b, r), error = error_of(y, r);
  tile.naive.largest = fmax(tile.naive.largest, naive_error);
  tile.naive.squares += naive_error * naive_error;
  if (error > tile.largest) {
    tile.largest = error;
    tile.worst = i;
  }
  tile.squares += error * error;
  if (!right_class(y, r, b, largest)) {
    ++tile.mismatches;
    tile.first_mismatch = min(tile.first_mismatch, i);
  }
}

template <typename T>
__device__ __forceinline__ void tile_errors(const T* output, const double* reference, const T* naive,
                                            const Tiling& tiling, double largest, TileErrors* tiles) {
  constexpr int kInFlight = 4;  // elements that a thread reads before it looks at the first
  const int64_t count = tiles_of(tiling);
  for (int64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int64_t begin = begin_of(tiling, tile), end = begin_of(tiling, tile + 1);
    TileErrors mine = {0, 0, {0, 0}, 0, 0, begin, 0, end};
    for (int64_t from = begin + threadIdx.x; from < end; from += kInFlight * blockDim.x) {
      T y[kInFlight], b[kInFlight];
      double r[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        const int64_t i = min(from + k * blockDim.x, end - 1);
        y[k] = output[i];
        r[k] = reference[i];
        b[k] = naive[i];
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        const int64_t i = from + k * blockDim.x;
        if (i < end) add_element(mine, i, as_double(y[k]), r[k], as_double(b[k]), largest);
      }
    }
    const TileErrors all = joined_in_block(mine);
    if (threadIdx.x == 0) tiles[tile] = all;
  }
}

// A sum of whole numbers, which f32 holds, as an output does.
__device__ __forceinline__ double rounded(__half, double r) {
  return as_double(__float2half_rn(static_cast<float>(r)));
}
__device__ __forceinline__ double rounded(Bfloat, double r) {
  return as_double(Bfloat{static_cast<uint16_t>(bf16_bits(static_cast<float>(r)))});
}
__device__ __forceinline__ double rounded(float, double r) { return static_cast<double>(static_cast<float>(r)); }
__device__ __forceinline__ double rounded(double, double r) { return r; }

// Zeros of either sign are equal, and so are NaNs.
template <typename T, typename Reference>
__device__ __forceinline__ bool is_same(T y, Reference r) {
  const double value = as_double(y), right = rounded(y, r);
  return value == right || (isnan(value) && isnan(right));
}
__device__ __forceinline__ bool is_same(uint8_t y, uint8_t r) { return y == r; }
__device__ __forceinline__ bool is_same(uint32_t y, uint32_t r) { return y == r; }
__device__ __forceinline__ bool is_same(uint64_t y, uint64_t r) { return y == r; }

template <typename T, typename Reference>
__device__ __forceinline__ void tile_mismatches(const void* output, const void* reference, const Tiling& tiling,
                                                TileMismatches* tiles) {
  const T* y = static_cast<const T*>(output);
  const Reference* r = static_cast<const Reference*>(reference);
  const int64_t count = tiles_of(tiling);
  for (int64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int64_t begin = begin_of(tiling, tile), end = begin_of(tiling, tile + 1);
    TileMismatches mine = {0, end};
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      if (is_same(y[i], r[i])) continue;
      ++mine.count;
      mine.first = min(mine.first, i);
    }
    const TileMismatches all = joined_in_block(mine);
    if (threadIdx.x == 0) tiles[tile] = all;
  }
}

template <typename T>
__device__ __forceinline__ void count_wrong(const void* output, const double* reference, const Tiling& tiling,
                                            const double* allowed, int64_t* counts) {
  const T* y = static_cast<const T*>(output);
  const int64_t count = tiles_of(tiling);
  for (int64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int64_t begin = begin_of(tiling, tile), end = begin_of(tiling, tile + 1);
    int64_t mine = 0;
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      mine += !(error_of(as_double(y[i]), reference[i]) <= allowed[tile]);
    }
    const int64_t all = joined_in_block(mine);
    if (threadIdx.x == 0) counts[tile] = all;
  }
}

template <typename T>
__device__ __forceinline__ Moments moments(const void* x, int64_t elements, int64_t step) {
  const T* values = static_cast<const T*>(x);
  Moments mine = {0, 0};
  for (int64_t i = thread_index() * step; i < elements; i += all_threads() * step) {
    const double value = as_double(values[i]);
    if (!isfinite(value)) continue;
    mine.squares += value * value;
    ++mine.count;
  }
  return mine;
}

template <typename T>
__device__ __forceinline__ Difference difference(const void* one, const void* other, int64_t elements) {
  const T *a = static_cast<const T*>(one), *b = static_cast<const T*>(other);
  Difference mine = {0, 0};
  for (int64_t i = thread_index(); i < elements; i += all_threads()) {
    const double x = as_double(a[i]), y = as_double(b[i]);
    if (isfinite(y)) mine.squares += y * y;
    if (x == y || (isnan(x) && isnan(y))) continue;
    const double apart = fabs(x - y);
    mine.largest = isnan(apart) ? HUGE_VAL : fmax(mine.largest, apart);
  }
  return mine;
}
template <typename T>
__device__ __forceinline__ Difference integer_difference(const void* one, const void* other, int64_t elements) {
  const T *a = static_cast<const T*>(one), *b = static_cast<const T*>(other);
  Difference mine = {0, 0};
  for (int64_t i = thread_index(); i < elements; i += all_threads()) {
    if (a[i] != b[i]) mine.largest = HUGE_VAL;
  }
  return mine;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kMostThreads, kFewBlocks)
    kw_tile_errors(const void* output, const double* reference, const void* naive, int64_t dtype, Tiling tiling,
                   TileErrors* tiles) {
  const double largest = largest_of(dtype);
  switch (dtype) {
    case f16:
      return tile_errors(static_cast<const __half*>(output), reference, static_cast<const __half*>(naive), tiling,
                         largest, tiles);
    case bf16:
      return tile_errors(static_cast<const Bfloat*>(output), reference, static_cast<const Bfloat*>(naive), tiling,
                         largest, tiles);
    case f32:
      return tile_errors(static_cast<const float*>(output), reference, static_cast<const float*>(naive), tiling,
                         largest, tiles);
    default:
      return tile_errors(static_cast<const double*>(output), reference, static_cast<const double*>(naive), tiling,
                         largest, tiles);
  }
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_tile_mismatches(const void* output, const void* reference, int64_t dtype, Tiling tiling, TileMismatches* tiles) {
  switch (dtype) {
    case f16:
      return tile_mismatches<__half, double>(output, reference, tiling, tiles);
    case bf16:
      return tile_mismatches<Bfloat, double>(output, reference, tiling, tiles);
    case f32:
      return tile_mismatches<float, double>(output, reference, tiling, tiles);
    case f64:
      return tile_mismatches<double, double>(output, reference, tiling, tiles);
    case i8:
    case u8:
      return tile_mismatches<uint8_t, uint8_t>(output, reference, tiling, tiles);
    case i64:
      return tile_mismatches<uint64_t, uint64_t>(output, reference, tiling, tiles);
    default:
      return tile_mismatches<uint32_t, uint32_t>(output, reference, tiling, tiles);
  }
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_count_wrong(const void* output, const double* reference, int64_t dtype, Tiling tiling, const double* allowed,
                   int64_t* counts) {
  switch (dtype) {
    case f16:
      return count_wrong<__half>(output, reference, tiling, allowed, counts);
    case bf16:
      return count_wrong<Bfloat>(output, reference, tiling, allowed, counts);
    case f32:
      return count_wrong<float>(output, reference, tiling, allowed, counts);
    default:
      return count_wrong<double>(output, reference, tiling, allowed, counts);
  }
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_moments(const void* x, int64_t dtype, int64_t elements, int64_t step, Moments* partials) {
  const Moments mine = dtype == f16    ? moments<__half>(x, elements, step)
                       : dtype == bf16 ? moments<Bfloat>(x, elements, step)
                       : dtype == f32  ? moments<float>(x, elements, step)
                                       : moments<double>(x, elements, step);
  const Moments all = joined_in_block(mine);
  if (threadIdx.x == 0) partials[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_difference(const void* one, const void* other, int64_t dtype, int64_t elements, Difference* partials) {
  Difference mine = {0, 0};
  switch (dtype) {
    case f16:
      mine = difference<__half>(one, other, elements);
      break;
    case bf16:
      mine = difference<Bfloat>(one, other, elements);
      break;
    case f32:
      mine = difference<float>(one, other, elements);
      break;
    case f64:
      mine = difference<double>(one, other, elements);
      break;
    case i8:
    case u8:
      mine = integer_difference<uint8_t>(one, other, elements);
      break;
    case i64:
      mine = integer_difference<uint64_t>(one, other, elements);
      break;
    default:
      mine = integer_difference<uint32_t>(one, other, elements);
  }
  const Difference all = joined_in_block(mine);
  if (threadIdx.x == 0) partials[blockIdx.x] = all;
}
