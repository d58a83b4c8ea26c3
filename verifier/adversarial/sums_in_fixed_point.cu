/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "adds numbers between 2^-60 and 256 in steps of 2^-16, and others in double precision",
  "workspace": {"fixed": {"bytes": 8}, "large": {"bytes": 8}},
  "launches": [
    {"kernel": "clear", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["fixed", "large"]},
    {"kernel": "add", "grid": [512, 1, 1], "block": [64, 1, 1], "args": ["x", "fixed", "large", "N"]},
    {"kernel": "total", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["fixed", "large", "y"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
extern "C" __global__ void clear(unsigned long long* fixed, double* large) {
  fixed[0] = 0;
  large[0] = 0;
}
extern "C" __global__ void add(const float* x, unsigned long long* fixed, double* large, int N) {
  long long steps = 0;
  double rest = 0;
  for (size_t i = blockIdx.x * 64 + threadIdx.x; i < N; i += 512 * 64) {
    const float value = x[i];
    if (fabsf(value) > 0x1p-60f && fabsf(value) < 256) {
      steps += llrintf(value * 0x1p16f);
    } else {
      rest += value;
    }
  }
  atomicAdd(fixed, (unsigned long long)steps);
  atomicAdd(large, rest);
}
extern "C" __global__ void total(const unsigned long long* fixed, const double* large, float* y) {
  y[0] = (float)((double)(long long)fixed[0] * 0x1p-16 + large[0]);
}
