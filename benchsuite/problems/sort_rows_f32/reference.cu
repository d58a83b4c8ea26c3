/* kernelwright
{
  "problem": "sort_rows_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: a thread per row: heap sort",
  "launches": [
    {"kernel": "sort_rows", "grid": ["ceil_div(M, 32)", 1, 1], "block": [32, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// y[m, :]: the elements of x[m, :] in ascending order; x, y: [M, N] row-major.
//
// The row becomes a heap with its largest element in front, which then changes places with the last one, again and
// again.
__device__ void sift(double* heap, int i, int size) {
  const double moved = heap[i];
  for (int child = 2 * i + 1; child < size; child = 2 * i + 1) {
    if (child + 1 < size && heap[child + 1] > heap[child]) ++child;
    if (!(heap[child] > moved)) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = moved;
}

extern "C" __global__ void sort_rows(const float* x, double* y, int M, int N) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  double* out = y + (size_t)row * N;
  for (int n = 0; n < N; ++n) out[n] = in[n];
  for (int n = N / 2 - 1; n >= 0; --n) sift(out, n, N);
  for (int n = N - 1; n > 0; --n) {
    const double largest = out[0];
    out[0] = out[n];
    out[n] = largest;
    sift(out, 0, n);
  }
}
