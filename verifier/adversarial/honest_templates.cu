/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["cpu", "cuda"],
  "description": "templates, constexpr and a lambda",
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, 512)", 1, 1], "block": [128, 1, 1], "args": ["x", "y", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
template <typename T, int items>
struct Items {
  T value[items];
  template <typename Function>
  __device__ void for_each(Function function) {
#pragma unroll
    for (int i = 0; i < items; ++i) function(i, value[i]);
  }
};
constexpr int kItems = 4;
extern "C" __global__ void gelu(const float* __restrict__ x, float* __restrict__ y, int N) {
  const long long first = blockIdx.x * (128ll * kItems) + threadIdx.x;
  Items<float, kItems> items;
  items.for_each([&](int i, float& v) { v = first + i * 128 < N ? x[first + i * 128] : 0; });
  items.for_each([](int, float& v) { v = 0.5f * v * (1.0f + erff(v * 0.70710678f)); });
  items.for_each([&](int i, float& v) {
    if (first + i * 128 < N) y[first + i * 128] = v;
  });
}
