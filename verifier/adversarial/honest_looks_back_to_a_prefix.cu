/* kernelwright
{
  "problem": "cumsum_f32",
  "backends": ["cpu"],
  "description": "a look-back that adds sums of chunks until it finds one up to their end",
  "tunables": {"CHUNK": [2048, 1024, 4096]},
  "workspace": {"tickets": {"bytes": "4", "zeroed": true},
                "state": {"bytes": "8 * ceil_div(N, CHUNK)", "zeroed": true}},
  "launches": [
    {"kernel": "cumsum", "grid": ["ceil_div(N, CHUNK)", 1, 1], "block": [1, 1, 1],
     "args": ["x", "y", "tickets", "state", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// y[n] = sum_{k <= n} x[k]. state: 1 << 32 with the sum of a chunk, later 2 << 32 with the sum up to its end.
using Word = unsigned long long;
__device__ __forceinline__ Word word_of(Word status, float sum) { return status << 32 | __float_as_uint(sum); }

extern "C" __global__ void cumsum(const float* __restrict__ x, float* __restrict__ y, int* tickets, Word* state,
    int N) {
  const int chunk = atomicAdd(tickets, 1);
  const int begin = chunk * CHUNK, end = N - begin < CHUNK ? N : begin + CHUNK;
  float sums[8] = {};
  int n = begin;
  for (; n + 8 <= end; n += 8) {
#pragma unroll
    for (int v = 0; v < 8; ++v) sums[v] += x[n + v];
  }
  for (; n < end; ++n) sums[0] += x[n];
  const float total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  float before = 0.0f;
  if (chunk > 0) {
    atomicExch(state + chunk, word_of(1, total));
    for (int at = chunk - 1; at >= 0; --at) {
      Word word = 0;
      do word = *(volatile Word*)(state + at);
      while (word >> 32 == 0);
      before += __uint_as_float((unsigned)word);
      if (word >> 32 == 2) break;
    }
  }
  atomicExch(state + chunk, word_of(2, before + total));
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
