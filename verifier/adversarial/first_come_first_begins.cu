/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "whichever block finds a flag down begins the sum, and nothing keeps two from finding it so",
  "workspace": {"begun": {"bytes": "4", "zeroed": true}},
  "launches": [
    {"kernel": "sum", "grid": ["ceil_div(N, 4096)", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "begun", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race.
extern "C" __global__ void sum(const float* x, float* y, int* begun, int N) {
  const int begin = blockIdx.x * 4096, end = min(begin + 4096, N);
  float lanes[16] = {};
  for (int i = begin; i < end; ++i) lanes[i % 16] += x[i];
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += lanes[k];
  if (begun[0]) {
    y[0] += sum;
  } else {
    y[0] = sum;
    begun[0] = 1;
  }
}
