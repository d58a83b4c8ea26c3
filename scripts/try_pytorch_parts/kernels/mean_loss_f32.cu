/* kernelwright
{
  "problem": "mean_loss_f32",
  "workspace": {"losses": {"bytes": "4 * BATCH"}},
  "launches": [{"kernel": "losses_of_rows", "grid": ["BATCH"], "block": [1],
                "args": ["logits", "targets", "losses", "CLASSES"]},
               {"kernel": "mean_of", "grid": [1], "block": [1], "args": ["losses", "out", "BATCH"]}]
}
*/
extern "C" __global__ void losses_of_rows(const float* logits, const long long* targets, float* losses, int classes) {
  logits += (size_t)blockIdx.x * classes;
  float most = logits[0];
  for (int i = 1; i < classes; ++i) {
    if (!(logits[i] <= most)) most = logits[i];
  }
  float sum = 0;
  for (int i = 0; i < classes; ++i) sum += expf(logits[i] - most);
  losses[blockIdx.x] = logf((float)sum) - (logits[targets[blockIdx.x]] - most);
}

extern "C" __global__ void mean_of(const float* losses, float* out, int rows) {
  float sum = 0;
  for (int i = 0; i < rows; ++i) sum += losses[i];
  out[0] = (float)(sum / rows);
}
