/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "writes where its own instructions are",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: escapes.
// On cpu: out_of_bounds or crashed or forbidden.
// On cuda: out_of_bounds or correct or trap or crashed or forbidden. The address of a function is no address of its code there.
__device__ __noinline__ float one() { return 1; }
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  __shared__ float part[64];
  float (*volatile function)() = one;
  if (threadIdx.x == 0) ((volatile char*)(unsigned long long)function)[0] = 0x90;
  if (one() != 1) return;
  const float* in = x + (size_t)blockIdx.x * N;
  float sum = 0;
  for (int n = threadIdx.x; n < N; n += 64) sum += in[n];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
