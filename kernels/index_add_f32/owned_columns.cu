/* kernelwright
{
  "problem": "index_add_f32",
  "backends": ["cpu"],
  "description": "a thread owns COLUMNS columns of y and adds all rows to them without atomics",
  "tunables": {"COLUMNS": [1024, 256, 64], "LANES": [16, 8, 4]},
  "launches": [
    {"kernel": "index_add", "grid": ["ceil_div(D, COLUMNS)"], "block": [1],
     "args": ["x", "index", "src", "y", "K", "M", "D"]}
  ]
}
*/
// y[m, d] = x[m, d] + sum over k with index[k] = m of src[k, d]; x, y: [M, D], index: [K], src: [K, D].
//
// For the cpu device, which runs one block after another: where a single thread owns a column, no addition needs to be
// atomic. Vectors are written as such, since its compiler forms no others.
typedef float Floats __attribute__((vector_size(4 * LANES), aligned(4)));

extern "C" __global__ void index_add(const float* __restrict__ x, const int* __restrict__ index,
                                     const float* __restrict__ src, float* __restrict__ y, int K, int M, int D) {
  const int first = blockIdx.x * COLUMNS, columns = D - first < COLUMNS ? D - first : COLUMNS;
  const int packed = columns / LANES * LANES;
  for (int m = 0; m < M; ++m) {
    const float* from = x + (size_t)m * D + first;
    float* to = y + (size_t)m * D + first;
    for (int d = 0; d < packed; d += LANES) *(Floats*)(to + d) = *(const Floats*)(from + d);
    for (int d = packed; d < columns; ++d) to[d] = from[d];
  }
  for (int k = 0; k < K; ++k) {
    const float* from = src + (size_t)k * D + first;
    float* to = y + (size_t)index[k] * D + first;
    for (int d = 0; d < packed; d += LANES) *(Floats*)(to + d) = *(Floats*)(to + d) + *(const Floats*)(from + d);
    for (int d = packed; d < columns; ++d) to[d] += from[d];
  }
}
