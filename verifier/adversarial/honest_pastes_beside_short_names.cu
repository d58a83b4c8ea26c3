/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "pastes names of lanes, and has variables and macros of one letter",
  "launches": [
    {"kernel": "row_sum", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of pasting letter by letter: no ## sees these letters together.
#define LANE(k) lane_##k
#define JOIN(a, b) a##b
#define ADD(a, s, m) a = (s) + (m)
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const float* s = x + (size_t)blockIdx.x * N;
  float LANE(0) = 0, JOIN(lane_, 1) = 0;
  for (int m = 0; m < N; m += 2) {
    float a = 0;
    ADD(a, s[m], a);
    ADD(LANE(0), LANE(0), a);
    if (m + 1 < N) ADD(lane_1, lane_1, s[m + 1]);
  }
  y[blockIdx.x] = lane_0 + lane_1;
}
