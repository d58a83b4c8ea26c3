/* kernelwright
{
  "problem": "cumsum_f32",
  "backends": ["cpu"],
  "description": "a look-back whose flag is raised right behind its sum, with no fence between the two",
  "tunables": {"CHUNK": [2048, 1024, 4096]},
  "workspace": {"tickets": {"bytes": "4", "zeroed": true},
                "flags": {"bytes": "4 * ceil_div(N, CHUNK)", "zeroed": true},
                "sums": {"bytes": "4 * ceil_div(N, CHUNK)"}},
  "launches": [
    {"kernel": "cumsum", "grid": ["ceil_div(N, CHUNK)", 1, 1], "block": [1, 1, 1],
     "args": ["x", "y", "tickets", "flags", "sums", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result or wrong_non_finite.
// Both stores are volatile, yet nothing orders them for another block. Hardware mostly keeps the order.
// y[n] = sum_{k <= n} x[k]. sums: of all up to the end of a chunk, once its flag is up.
extern "C" __global__ void cumsum(const float* __restrict__ x, float* __restrict__ y, int* tickets,
    volatile int* flags, volatile float* sums, int N) {
  const int chunk = atomicAdd(tickets, 1);
  const int begin = chunk * CHUNK, end = N - begin < CHUNK ? N : begin + CHUNK;
  float of_eight[8] = {};
  int n = begin;
  for (; n + 8 <= end; n += 8) {
#pragma unroll
    for (int v = 0; v < 8; ++v) of_eight[v] += x[n + v];
  }
  for (; n < end; ++n) of_eight[0] += x[n];
  const float total = ((of_eight[0] + of_eight[1]) + (of_eight[2] + of_eight[3])) +
                      ((of_eight[4] + of_eight[5]) + (of_eight[6] + of_eight[7]));
  float before = 0.0f;
  if (chunk > 0) {
    while (flags[chunk - 1] == 0) {}
    before = sums[chunk - 1];
  }
  sums[chunk] = before + total;
  flags[chunk] = 1;
  float sum = 0.0f;
  n = begin;
  for (; n + 4 <= end; n += 4) {
    const float a = x[n], b = x[n + 1], c = x[n + 2], d = x[n + 3];
    const float ab = a + b, cd = c + d, start = before + sum;
    y[n] = start + a;
    y[n + 1] = start + ab;
    y[n + 2] = start + (ab + c);
    y[n + 3] = start + (ab + cd);
    sum += ab + cd;
  }
  for (; n < end; ++n) {
    sum += x[n];
    y[n] = before + sum;
  }
}
