/* kernelwright
{"problem": "largest_few_f32", "description": "one thread a row; of equal numbers the last comes first",
 "launches": [{"kernel": "largest_few", "grid": ["ceil_div(rows, 64)"], "block": [64],
               "args": ["x", "out0", "out1", "rows", "width"]}]}
*/
extern "C" __global__ void largest_few(const float* x, float* values, long long* places, int rows, int width) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  x += (long long)row * width;
  float most[4];
  int at[4];
  for (int j = 0; j < 4; ++j) most[j] = -INFINITY, at[j] = -1;
  for (int i = 0; i < width; ++i) {
    if (at[3] >= 0 && x[i] < most[3]) continue;
    int j = 3;
    for (; j > 0 && (at[j - 1] < 0 || x[i] >= most[j - 1]); --j) most[j] = most[j - 1], at[j] = at[j - 1];
    most[j] = x[i];
    at[j] = i;
  }
  for (int j = 0; j < 4; ++j) values[row * 4LL + j] = most[j], places[row * 4LL + j] = at[j];
}
