/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "hands one of two tables of structs to a function, and walks over a third by an index",
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 128)", 1, 1], "block": [128, 1, 1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of state behind an address: addresses are chosen, moved on and handed over, and only read from.
struct Weight {
  int of;
  float parts[3];
};
__device__ const Weight even[4] = {{0, {1, 0, 0}}, {1, {0, 1, 0}}, {2, {0, 0, 1}}, {3, {0.5f, 0.25f, 0.25f}}};
__device__ const Weight odd[4] = {{0, {0.5f, 0.5f, 0}}, {1, {2, 0, -1}}, {2, {0, 1, 0}}, {3, {0.25f, 0, 0.75f}}};
static __device__ const int nothing[70] = {};
__device__ __noinline__ float sum_of(const Weight* weight, int parts) {
  float sum = 0;
  for (int part = 0; part < parts; ++part) sum += weight->parts[part];
  return sum;
}
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const long long i = blockIdx.x * 128ll + threadIdx.x;
  if (i >= N) return;
  const Weight* weights = threadIdx.x % 2 ? odd : even;
  int zero = 0;
  for (int n = N % 7; n < 70; ++n) zero += nothing[n];
  y[i] = a[i] * sum_of(weights + threadIdx.x % 4, 3 + zero) + b[i];
}
