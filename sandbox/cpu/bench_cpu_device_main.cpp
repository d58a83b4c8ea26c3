// Measures the cpu device itself, on one core: compiling, and nanoseconds per CUDA thread, barrier, shuffle and
// checked access. Usage: bench_cpu_device [repetitions]. Prints the least of the repetitions beside its bar; exits 1
// when a bar is missed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "sandbox/cpu/test_device_fixture.h"

namespace {
using sandbox::Build;
using sandbox::cpu::test::Device;

double seconds(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

constexpr const char* kSource = R"(
extern "C" __global__ void add(const float* a, float* b, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  b[i] = a[i] + 1.0f;
}
extern "C" __global__ void barriers(const float* a, float* b, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = a[threadIdx.x];
  for (int i = 0; i < 64; ++i) __syncthreads();
  if (threadIdx.x == 0) b[blockIdx.x % n] = s[0];
}
extern "C" __global__ void shuffles(const float* a, float* b, int n) {
  float v = a[threadIdx.x];
  for (int i = 0; i < 64; ++i) v += __shfl_xor_sync(0xffffffffu, v, 1 << i % 5);
  b[threadIdx.x] = v;
}
extern "C" __global__ void accesses(const float* a, float* b, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  float v = 0;
  for (int i = 0; i < 64; ++i) v += s[(threadIdx.x + i) % 256];
  b[threadIdx.x] = v;
}
)";

// Nanoseconds per thread of a kernel of kSource.
double per_thread(Device& device, const char* kernel, int blocks) {
  return 1e9 / (256.0 * blocks) * seconds([&] {
           if (const auto fault = device.launch(kernel, blocks, 256)) {
             std::fprintf(stderr, "%s\n", fault->describe().c_str());
             std::exit(2);
           }
         });
}

Device device_of(Build build) {
  Device device(kSource, build);
  device.add_floats("a", 1 << 16, 1);
  device.add_floats("b", 1 << 16);
  device.add_argument(1 << 16);
  return device;
}

struct Bench {
  const char* what;
  const char* unit;
  double bar;  // 0: none
  std::function<double()> measure;
};
}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 5;
  Device fast = device_of(Build::fast), check = device_of(Build::check);
  const auto compile_ms = [](Build build) { return 1e3 * seconds([&] { sandbox::cpu::test::built(kSource, build); }); };
  const Bench benches[] = {
      {"compile, fast", "ms", 100, [&] { return compile_ms(Build::fast); }},
      {"compile, check", "ms", 0, [&] { return compile_ms(Build::check); }},
      {"CUDA thread without barriers", "ns", 10, [&] { return per_thread(fast, "add", 4096); }},
      {"barrier, per thread", "ns", 50, [&] { return per_thread(fast, "barriers", 64) / 64; }},
      {"shuffle, per thread", "ns", 0, [&] { return per_thread(fast, "shuffles", 64) / 64; }},
      {"checked shared access", "ns", 0, [&] { return per_thread(check, "accesses", 16) / 66; }},
  };
  bool met = true;
  for (const Bench& bench : benches) {
    double least = bench.measure();
    for (int i = 1; i < repetitions; ++i) least = std::min(least, bench.measure());
    std::printf("%-30s %8.1f %s", bench.what, least, bench.unit);
    if (bench.bar > 0) std::printf("   bar %.0f%s", bench.bar, least <= bench.bar ? "" : "   MISSED");
    std::printf("\n");
    met = met && (bench.bar == 0 || least <= bench.bar);
  }
  return met ? 0 : 1;
}
