/* kernelwright
{
  "problem": "cumsum_f32",
  "backends": ["cpu"],
  "description": "a thread to a chunk, which begins with what the chunk before has published",
  "tunables": {"CHUNK": [2048, 1024, 4096]},
  "workspace": {"tickets": {"bytes": "4", "zeroed": true},
                "ends": {"bytes": "8 * ceil_div(N, CHUNK)", "zeroed": true}},
  "launches": [
    {"kernel": "cumsum", "grid": ["ceil_div(N, CHUNK)", 1, 1], "block": [1, 1, 1],
     "args": ["x", "y", "tickets", "ends", "N"]}
  ]
}
*/
// y[n] = sum_{k <= n} x[k]; x, y: [N], ends: the sum up to the end of each chunk.
//
// For the cpu device, where one block runs after another: a block draws a ticket, and the chunk before has ended. Four
// columns are summed among themselves, so one addition in four waits for the one before. A chunk sums in fp32 from
// zero; what goes before it is kept in double, as thousands of chunks are added one by one. Its lowest bit is the flag.
using Word = unsigned long long;

extern "C" __global__ void cumsum(const float* __restrict__ x, float* __restrict__ y, int* tickets, Word* ends, int N) {
  const int chunk = atomicAdd(tickets, 1);
  const int begin = chunk * CHUNK, end = N - begin < CHUNK ? N : begin + CHUNK;
  double all = 0.0;
  if (chunk > 0) {
    Word word = 0;
    while (word == 0) word = atomicAdd(ends + chunk - 1, (Word)0);
    all = __longlong_as_double((long long)word);
  }
  const float before = (float)all;
  float sum = 0.0f;
  int n = begin;
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
  atomicExch(ends + chunk, (Word)__double_as_longlong(all + sum) | 1);
}
