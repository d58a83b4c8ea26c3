// Input content: verifier/formulas/content.h, with each element drawn from its own index.
namespace {
using namespace verifier::formulas;

// In the order of benchsuite::Init; the others are formulas::Structure.
enum Init { normal, uniform, integers };

__device__ __forceinline__ bool draws_integers(const FillArgs& args) {
  return args.kind == integers || args.dtype >= i8;
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
__device__ __forceinline__ float4 normals(const Quad& drawn) {
  const float2 first = normal_pair(drawn.x, drawn.y), second = normal_pair(drawn.z, drawn.w);
  return make_float4(first.x, first.y, second.x, second.y);
}

// The common case, 16 bytes at a time.
__device__ __forceinline__ float4 ordinary_quad(const FillArgs& args, int64_t quad) {
  const Quad drawn = drawn_for(Purpose::value_of_quad, quad, args.key);
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

// The same for 8 bits: a quad in 4 bytes.
template <int dtype>
__device__ __forceinline__ void fill_ordinary_f8(void* out, const FillArgs& args) {
  const bool aligned = (reinterpret_cast<uintptr_t>(out) & 3) == 0;
  const int64_t quads = (args.elements + 3) / 4;
  for (int64_t quad = thread_index(); quad < quads; quad += all_threads()) {
    const float4 v = ordinary_quad(args, quad);
    if (aligned && quad * 4 + 4 <= args.elements) {
      static_cast<uint32_t*>(out)[quad] = f8_bits<dtype>(v.x) | f8_bits<dtype>(v.y) << 8 | f8_bits<dtype>(v.z) << 16 |
                                          f8_bits<dtype>(v.w) << 24;
    } else {
      store_quad(out, args, quad, v);
    }
  }
}

// All other cases. Their code is there once, not unrolled: it takes longest to compile.
__device__ __forceinline__ void fill_floats(void* out, const FillArgs& args) {
  const bool by_rows = draws_rows(args);
  const int64_t quads = (args.elements + 3) / 4;
  for (int64_t quad = thread_index(); quad < quads; quad += all_threads()) {
    const Quad first = drawn_for(Purpose::value_of_quad, quad, args.key);
    const Quad second = drawn_for(Purpose::more_of_quad, quad, args.key);
    const float4 n = normals(first);
    int64_t index = by_rows ? quad * 4 / args.columns : 0, column = quad * 4 - index * args.columns;
    Row row = {0, 1, 0, false, 0, 0};
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      const int64_t i = quad * 4 + k;
      if (i >= args.elements) break;
      if (by_rows && (k == 0 || column == args.columns)) {
        if (k > 0) ++index, column = 0;
        row = draw_row(args, index);
      }
      const Chance c = chance_of(args.dtype == f64, component(n, k), component(first, k), component(second, k));
      const double value = args.kind == uniform ? bounded(args, row, column, c) : unbounded(args, row, column, c);
      store_element(out, args.dtype, i, is_in_empty_triangle(args, i) ? 0 : within_dtype(args, value));
      ++column;
    }
  }
}

__device__ __forceinline__ void fill_integers(void* out, const FillArgs& args) {
  const int64_t quads = (args.elements + 3) / 4;
  for (int64_t quad = thread_index(); quad < quads; quad += all_threads()) {
    const Quad first = drawn_for(Purpose::value_of_quad, quad, args.key);
    const Quad second = drawn_for(Purpose::more_of_quad, quad, args.key);
#pragma unroll 1
    for (int k = 0; k < 4 && quad * 4 + k < args.elements; ++k) {
      const int64_t i = quad * 4 + k;
      store_integer(out, args.dtype, i, integer(args, i, component(first, k), component(second, k)));
    }
  }
}

__device__ __forceinline__ void fill_structured(void* out, const FillArgs& args) {
  for (int64_t i = thread_index(); i < args.elements; i += all_threads()) {
    if (args.dtype >= i8) {
      store_integer(out, args.dtype, i, structured_integer(args, i));
    } else {
      store_element(out, args.dtype, i, structured_number(args, i));
    }
  }
}

__device__ __forceinline__ double load_element(const void* from, int64_t dtype, int64_t i) {
  switch (dtype) {
    case f16:
      return as_double(static_cast<const __half*>(from)[i]);
    case bf16:
      return as_double(static_cast<const Bfloat*>(from)[i]);
    case f8e4m3:
      return as_double(static_cast<const Float8<f8e4m3>*>(from)[i]);
    case f8e5m2:
      return as_double(static_cast<const Float8<f8e5m2>*>(from)[i]);
    case f32:
      return as_double(static_cast<const float*>(from)[i]);
    default:
      return static_cast<const double*>(from)[i];
  }
}

}  // namespace

// See fill_kernel(). These are most of what is drawn, and need fewer registers than the rest.
extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks) kw_fill_plain(void* out, FillArgs args) {
  if (args.dtype == f32) {
    fill_ordinary<f32>(out, args);
  } else if (args.dtype == f16) {
    fill_ordinary<f16>(out, args);
  } else if (args.dtype == bf16) {
    fill_ordinary<bf16>(out, args);
  } else if (args.dtype == f8e4m3) {
    fill_ordinary_f8<f8e4m3>(out, args);
  } else {
    fill_ordinary_f8<f8e5m2>(out, args);
  }
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kFewBlocks) kw_fill(void* out, FillArgs args) {
  if (has_structured_rows(args)) {
    fill_structured(out, args);
  } else if (draws_integers(args)) {
    fill_integers(out, args);
  } else {
    fill_floats(out, args);
  }
}

// After one of them, where the draw has patches.
extern "C" __global__ void __launch_bounds__(kMostThreads, kFewBlocks) kw_patch(void* out, FillArgs args) {
  for (int64_t p = 0; p < args.patch_count; ++p) {
    const Patch& patch = args.patches[p];
    const int64_t count = patch.elements();
    for (int64_t number = thread_index(); number < count; number += all_threads()) {
      const int64_t index = patched_index(args, p, number), column = index % args.columns;
      if (index < 0 || is_in_empty_triangle(args, index)) continue;
      Row row = {0, 1, 0, false, 0, 0};
      if (needs_row(patch)) row = draw_row_of_patch(args, index / args.columns);
      const Quad drawn = drawn_for(Purpose::patch, index, args.key);
      const Chance chance = {0, unit_of(drawn.x), drawn.x, drawn.y};
      if (draws_integers(args)) {
        store_integer(out, args.dtype, index, patched_integer(args, patch, row, column, chance));
        continue;
      }
      const double value =
          patched(args, patch, row, args.kind == uniform, load_element(out, args.dtype, index), column, chance);
      store_element(out, args.dtype, index, within_dtype(args, value));
    }
  }
}
