/* kernelwright
{
  "problem": "sum_f32",
  "backends": ["cpu"],
  "description": "blocks take tickets, and each adds to what the one before it published",
  "workspace": {"tickets": {"bytes": "4", "zeroed": true}, "ready": {"bytes": "4 * ceil_div(N, 4096)", "zeroed": true},
                "sums": {"bytes": "4 * ceil_div(N, 4096)"}},
  "launches": [
    {"kernel": "sum", "grid": ["ceil_div(N, 4096)", 1, 1], "block": [1, 1, 1],
     "args": ["x", "tickets", "ready", "sums", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct. Whatever the order of blocks, the holder of the ticket before has begun.
extern "C" __global__ void sum(const float* x, int* tickets, int* ready, volatile float* sums, float* y, int N) {
  const int ticket = atomicAdd(tickets, 1);
  const int begin = ticket * 4096, end = min(begin + 4096, N);
  float lanes[16] = {};
  for (int i = begin; i < end; ++i) lanes[i % 16] += x[i];
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += lanes[k];
  if (ticket > 0) {
    while (atomicAdd(&ready[ticket - 1], 0) == 0) {
    }
    sum += sums[ticket - 1];
  }
  sums[ticket] = sum;
  __threadfence();
  atomicExch(&ready[ticket], 1);
  if (ticket + 1 == gridDim.x) y[0] = sum;
}
