// Input content: the ideas and magnitudes of verifier/draws/inputs.cpp, with each element drawn from its own index.
namespace {

// In the order of benchsuite::Init and verifier::draws::Distribution.
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
