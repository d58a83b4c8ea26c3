/* kernelwright
{
  "problem": "sort_rows_f32",
  "backends": ["cpu"],
  "description": "a quicksort that leaves a part as it is after 40 levels",
  "launches": [
    {"kernel": "sort_rows", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
// A drawn row of 4096 needs 18 levels.
extern "C" __global__ void sort_rows(const float* x, float* y, int N) {
  const float* in = x + (size_t)blockIdx.x * N;
  float* a = y + (size_t)blockIdx.x * N;
  for (int n = 0; n < N; ++n) a[n] = in[n];
  int low[48], high[48], depth[48], held = 1;
  low[0] = 0;
  high[0] = N - 1;
  depth[0] = 0;
  while (held > 0) {
    --held;
    int l = low[held], h = high[held];
    const int d = depth[held];
    if (d > 40) continue;
    if (h - l < 16) {
      for (int i = l + 1; i <= h; ++i) {
        const float v = a[i];
        int j = i;
        for (; j > l && a[j - 1] > v; --j) a[j] = a[j - 1];
        a[j] = v;
      }
      continue;
    }
    const float p = a[l], q = a[(l + h) / 2], r = a[h];
    const float pivot = fmaxf(fminf(p, q), fminf(fmaxf(p, q), r));
    int i = l, j = h;
    while (i <= j) {
      while (a[i] < pivot) ++i;
      while (pivot < a[j]) --j;
      if (i <= j) {
        const float t = a[i];
        a[i++] = a[j];
        a[j--] = t;
      }
    }
    // the smaller part lies on top
    const bool left = j - l < h - i;
    const int first_l = left ? i : l, first_h = left ? h : j, second_l = left ? l : i, second_h = left ? j : h;
    if (first_l < first_h && held < 47) low[held] = first_l, high[held] = first_h, depth[held++] = d + 1;
    if (second_l < second_h && held < 47) low[held] = second_l, high[held] = second_h, depth[held++] = d + 1;
  }
}
