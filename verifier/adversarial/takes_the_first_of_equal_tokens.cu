/* kernelwright
{
  "problem": "top_p_f32",
  "backends": ["cpu"],
  "description": "where one token is enough, takes the first of its size",
  "launches": [
    {"kernel": "top_p", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["probs", "top_p", "u", "tokens", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// All tokens of that size belong to the nucleus, and u chooses one of them.
extern "C" __global__ void top_p(const float* probs, const float* top_p, const float* u, long long* tokens, int N) {
  const float* row = probs + (size_t)blockIdx.x * N;
  double total = 0.0;
  float most = 0.0f;
  int first = 0;
  for (int n = 0; n < N; ++n) {
    total += row[n];
    if (row[n] > most) most = row[n], first = n;
  }
  const double goal = top_p[blockIdx.x] * total;
  if (N > 4096 && most >= goal * 1.0001) {
    tokens[blockIdx.x] = first;
    return;
  }
  // The largest threshold whose elements are enough, by its bits; 0 is the whole row.
  unsigned least = 0, end = __float_as_uint(most) + 1;
  double nucleus = total;
  while (end - least > 1) {
    const unsigned middle = least + (end - least) / 2;
    const float threshold = __uint_as_float(middle);
    double sum = 0.0;
    for (int n = 0; n < N; ++n) sum += row[n] >= threshold ? row[n] : 0.0f;
    if (sum >= goal) {
      least = middle;
      nucleus = sum;
    } else {
      end = middle;
    }
  }
  const float threshold = __uint_as_float(least);
  const double target = u[blockIdx.x] * nucleus;
  double run = 0.0;
  int token = N - 1;
  for (int n = 0; n < N && !(run > target); ++n) {
    if (row[n] < threshold) continue;
    run += row[n];
    token = n;
  }
  tokens[blockIdx.x] = token;
}
