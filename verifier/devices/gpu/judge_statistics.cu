// Statistics of outputs (verifier/comparison/tiles.cpp), of inputs (verifier/comparison/reduction.cpp), and of two sides' outputs
// (verifier/comparison/difference.cpp).
namespace {

struct Moments {
  double squares;
  int64_t count;
};
struct Difference {
  double largest, squares;
};
struct Quanta {
  double beyond, peak;
};

__device__ __forceinline__ Moments join(const Moments& a, const Moments& b) {
  return {a.squares + b.squares, a.count + b.count};
}
__device__ __forceinline__ Difference join(const Difference& a, const Difference& b) {
  return {fmax(a.largest, b.largest), a.squares + b.squares};
}
__device__ __forceinline__ Quanta join(const Quanta& a, const Quanta& b) {
  return {fmax(a.beyond, b.beyond), fmax(a.peak, b.peak)};
}

// verifier/comparison/tiles.cpp has it for the host.
__device__ __forceinline__ NumberRange range_of(int64_t dtype) {
  if (dtype == f8e4m3) return {448, 464, 4, 0x1p-6, 0, 0};
  if (dtype == f8e5m2) return {57344, 61440, 3, 0x1p-14, 1, 0};
  if (dtype == f16) return {65504, 65504, 0, 0x1p-14, 1, 11};
  if (dtype == bf16) return {0x1.FEp127, 0x1.FEp127, 0, 0x1p-126, 1, 8};
  const double largest = dtype == f32 ? 0x1.FFFFFEp127 : DBL_MAX;
  return {largest, largest, 0, 0, 1, 0};
}

template <typename T>
__device__ __forceinline__ void tile_errors(const T* output, const double* reference, const T* naive,
                                            const Tiling& tiling, const NumberRange& range, TileErrors* tiles) {
  constexpr int kInFlight = 4;  // elements that a thread reads before it looks at the first
  const int64_t count = tiling.count();
  for (int64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int64_t begin = tiling.begin(tile), end = tiling.end(tile);
    TileErrors mine = {};
    mine.worst = begin;
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
        if (i < end) add_element(mine, i, as_double(y[k]), r[k], as_double(b[k]), range);
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
template <int dtype>
__device__ __forceinline__ double rounded(Float8<dtype>, double r) {
  return as_double(Float8<dtype>{static_cast<uint8_t>(f8_bits<dtype>(r))});
}
__device__ __forceinline__ double rounded(float, double r) { return static_cast<double>(static_cast<float>(r)); }
__device__ __forceinline__ double rounded(double, double r) { return r; }

// Zeros of either sign are equal, and so are NaNs.
template <typename T, typename Reference>
__device__ __forceinline__ bool is_same(T y, Reference r) {
  const double value = as_double(y), right = rounded(y, r);
  return value == right || (isnan(value) && isnan(right));
}
template <int dtype>
__device__ __forceinline__ bool is_same(Float8<dtype> y, double r) {
  return right_number(as_double(y), r, rounded(y, r), range_of(dtype));
}
__device__ __forceinline__ bool is_same(uint8_t y, uint8_t r) { return y == r; }
__device__ __forceinline__ bool is_same(uint32_t y, uint32_t r) { return y == r; }
__device__ __forceinline__ bool is_same(uint64_t y, uint64_t r) { return y == r; }

template <typename T, typename Reference>
__device__ __forceinline__ void tile_mismatches(const void* output, const void* reference, const Tiling& tiling,
                                                TileMismatches* tiles) {
  const T* y = static_cast<const T*>(output);
  const Reference* r = static_cast<const Reference*>(reference);
  const int64_t count = tiling.count();
  for (int64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int64_t begin = tiling.begin(tile), end = tiling.end(tile);
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
                                            const double* allowed, const NumberRange& range, int64_t* counts) {
  const T* y = static_cast<const T*>(output);
  const int64_t count = tiling.count();
  for (int64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int64_t begin = tiling.begin(tile), end = tiling.end(tile);
    int64_t mine = 0;
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      mine += !(error_that_counts(as_double(y[i]), reference[i], range) <= allowed[tile]);
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

template <typename T>
__device__ __forceinline__ Quanta quanta(const void* output, const double* reference, int64_t elements) {
  const T* y = static_cast<const T*>(output);
  Quanta mine = {0, 0};
  for (int64_t i = thread_index(); i < elements; i += all_threads()) {
    const double r = reference[i];
    mine.beyond = fmax(mine.beyond, beyond_half(static_cast<double>(y[i]), r));
    mine.peak = fmax(mine.peak, fabs(r));
  }
  return mine;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kMostThreads, kFewBlocks)
    kw_tile_errors(const void* output, const double* reference, const void* naive, int64_t dtype, Tiling tiling,
                   TileErrors* tiles) {
  const NumberRange range = range_of(dtype);
  switch (dtype) {
    case f16:
      return tile_errors(static_cast<const __half*>(output), reference, static_cast<const __half*>(naive), tiling,
                         range, tiles);
    case bf16:
      return tile_errors(static_cast<const Bfloat*>(output), reference, static_cast<const Bfloat*>(naive), tiling,
                         range, tiles);
    case f8e4m3:
      return tile_errors(static_cast<const Float8<f8e4m3>*>(output), reference,
                         static_cast<const Float8<f8e4m3>*>(naive), tiling, range, tiles);
    case f8e5m2:
      return tile_errors(static_cast<const Float8<f8e5m2>*>(output), reference,
                         static_cast<const Float8<f8e5m2>*>(naive), tiling, range, tiles);
    case f32:
      return tile_errors(static_cast<const float*>(output), reference, static_cast<const float*>(naive), tiling,
                         range, tiles);
    default:
      return tile_errors(static_cast<const double*>(output), reference, static_cast<const double*>(naive), tiling,
                         range, tiles);
  }
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_tile_mismatches(const void* output, const void* reference, int64_t dtype, Tiling tiling, TileMismatches* tiles) {
  switch (dtype) {
    case f16:
      return tile_mismatches<__half, double>(output, reference, tiling, tiles);
    case bf16:
      return tile_mismatches<Bfloat, double>(output, reference, tiling, tiles);
    case f8e4m3:
      return tile_mismatches<Float8<f8e4m3>, double>(output, reference, tiling, tiles);
    case f8e5m2:
      return tile_mismatches<Float8<f8e5m2>, double>(output, reference, tiling, tiles);
    case f32:
      return tile_mismatches<float, double>(output, reference, tiling, tiles);
    case f64:
      return tile_mismatches<double, double>(output, reference, tiling, tiles);
    case i8:
    case u8:
    case boolean:
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
  const NumberRange range = range_of(dtype);
  switch (dtype) {
    case f16:
      return count_wrong<__half>(output, reference, tiling, allowed, range, counts);
    case bf16:
      return count_wrong<Bfloat>(output, reference, tiling, allowed, range, counts);
    case f8e4m3:
      return count_wrong<Float8<f8e4m3>>(output, reference, tiling, allowed, range, counts);
    case f8e5m2:
      return count_wrong<Float8<f8e5m2>>(output, reference, tiling, allowed, range, counts);
    case f32:
      return count_wrong<float>(output, reference, tiling, allowed, range, counts);
    default:
      return count_wrong<double>(output, reference, tiling, allowed, range, counts);
  }
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_gather(const uint8_t* x, int64_t element_bytes, const int64_t* places, int64_t count, uint8_t* elements) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    for (int64_t byte = 0; byte < element_bytes; ++byte) {
      elements[i * element_bytes + byte] = places[i] < 0 ? 0 : x[places[i] * element_bytes + byte];
    }
  }
}

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_moments(const void* x, int64_t dtype, int64_t elements, int64_t step, Moments* partials) {
  const Moments mine = dtype == f16      ? moments<__half>(x, elements, step)
                       : dtype == bf16   ? moments<Bfloat>(x, elements, step)
                       : dtype == f8e4m3 ? moments<Float8<f8e4m3>>(x, elements, step)
                       : dtype == f8e5m2 ? moments<Float8<f8e5m2>>(x, elements, step)
                       : dtype == f32    ? moments<float>(x, elements, step)
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
    case f8e4m3:
      mine = difference<Float8<f8e4m3>>(one, other, elements);
      break;
    case f8e5m2:
      mine = difference<Float8<f8e5m2>>(one, other, elements);
      break;
    case f32:
      mine = difference<float>(one, other, elements);
      break;
    case f64:
      mine = difference<double>(one, other, elements);
      break;
    case i8:
    case u8:
    case boolean:
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

extern "C" __global__ void __launch_bounds__(kMostThreads, kBlocks)
    kw_quanta(const void* output, const double* reference, int64_t dtype, int64_t elements, Quanta* partials) {
  const Quanta all = joined_in_block(dtype == i8   ? quanta<int8_t>(output, reference, elements)
                                     : dtype == u8 ? quanta<uint8_t>(output, reference, elements)
                                                   : quanta<int32_t>(output, reference, elements));
  if (threadIdx.x == 0) partials[blockIdx.x] = all;
}
