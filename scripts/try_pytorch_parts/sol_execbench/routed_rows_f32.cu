/* kernelwright
{"problem": "routed_rows_f32", "description": "each output element looks for its rows",
 "launches": [{"kernel": "routed_rows", "grid": ["ceil_div(tokens * 32, 128)"], "block": [128],
               "args": ["chosen", "x", "out", "scale", "tokens"]}]}
*/
extern "C" __global__ void routed_rows(const long long* chosen, const float* x, float* out, float scale, int tokens) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tokens * 32) return;
  float sum = 0;
  for (int row = 0; row < 2 * tokens; ++row) {
    if (chosen[row] == i / 32) sum += scale * x[row * 32 + i % 32];
  }
  out[i] = sum;
}
