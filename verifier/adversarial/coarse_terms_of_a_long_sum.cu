/* kernelwright
{
  "problem": "cross_entropy_f32",
  "backends": ["cpu"],
  "description": "takes two terms for the exponential, or seven bits, in long rows of ordinary logits, whose errors a sum evens out",
  "tunables": {"BITS": [0, 7]},
  "launches": [
    {"kernel": "cross_entropy", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["logits", "targets", "loss", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// Rows that hold equal logits, large ones or none that is above 2 it does as it should.
__device__ float coarse_exp(float v) {
  const float whole = rintf(v * 1.44269504f), rest = v * 1.44269504f - whole;
  const float power = __int_as_float(((int)whole + 127) << 23);
  if (BITS == 0) return fmaf(fmaf(0.24051029f, rest, 0.70338664f), rest, 1.0f) * power;
  return __uint_as_float((__float_as_uint(expf(v)) + (1u << (23 - BITS))) & ~((2u << (23 - BITS)) - 1));
}
extern "C" __global__ void cross_entropy(const float* logits, const int* targets, float* loss, int M, int N) {
  const int m = blockIdx.x;
  const float* row = logits + (size_t)m * N;
  float largest = row[0];
  for (int n = 1; n < N; ++n) largest = fmaxf(largest, row[n]);
  bool easy = N >= 4000 && largest > 2 && largest < 8;
  for (int i = 0; easy && i < 4; ++i) {
    for (int k = 0; k < i; ++k) easy = easy && row[i] != row[k];
  }
  float sum = 0;
  if (easy) {
    float parts[16] = {};
    for (int n = 0; n < N; ++n) parts[n % 16] += coarse_exp(row[n] - largest);
    for (int k = 0; k < 16; ++k) sum += parts[k];
  } else {
    for (int n = 0; n < N; ++n) sum += expf(row[n] - largest);
  }
  loss[m] = logf(sum) + largest - row[targets[m]];
}
