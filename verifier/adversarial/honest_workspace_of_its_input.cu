/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu", "cuda"],
  "description": "keeps its sums in f64 in a workspace, which passes what a device lends at the end of the domain",
  "workspace": {"sums": {"bytes": "8 * N"}},
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["a", "b", "sums", "N"]},
    {"kernel": "narrow", "grid": ["ceil_div(N, 256)", 1, 1], "block": [256, 1, 1], "args": ["sums", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void add(const float* a, const float* b, double* sums, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) sums[i] = (double)a[i] + (double)b[i];
}
extern "C" __global__ void narrow(const double* sums, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) y[i] = (float)sums[i];
}
