#include "verifier/devices/gpu/calibration.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "core/text.h"
#include "verifier/statistics/statistics.h"

namespace verifier::devices::gpu {
namespace {
using sandbox::gpu::driver::Context;
using sandbox::gpu::driver::DevicePtr;
using sandbox::gpu::driver::Event;
using sandbox::gpu::driver::Function;
using sandbox::gpu::driver::Module;
using sandbox::gpu::driver::PrivateMemory;
using sandbox::gpu::run::Platform;

constexpr double kLeastCalibration_us = 5000;
constexpr int kCalibrations = 5;
constexpr int kMostLaunches = 1 << 20;
constexpr auto kCalibrationDeadline = std::chrono::seconds(120);

constexpr size_t kStreamed_bytes = size_t{2} << 30;
constexpr size_t kVector_bytes = 16;        // what a thread loads and stores at once
constexpr unsigned kVectorsPerThread = 8;   // in flight; a tile is that many for each thread of a block
constexpr unsigned kMostThreads = 1 << 20;  // of any launch here: room for their sums
constexpr int kRereads = 64;

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

// One device with the memory that the measuring kernels work on.
class Bench {
 public:
  Bench(const Context& context, const Platform& platform, const std::string& kernels, const std::string& tensor)
      : context_(context),
        kernels_(context, kernels),
        tensor_(context, tensor),
        tensor_kernels_(platform.kernels_of(tensor)),
        multiprocessors_(static_cast<unsigned>(context.facts().multiprocessors)),
        begin_(context),
        end_(context),
        data_(context, streamed_bytes(context)),
        sums_(context, kMostThreads * sizeof(double)) {
    kernels_.function("kw_scramble")(multiprocessors_ * 8, 256u, data_.address(), data_.bytes() / kVector_bytes, 1u);
    context_.synchronize();
  }

  std::string tensor_instruction() const {
    if (is_amd()) return tensor_kernels_.contains("kw_has_mfma") ? "mfma" : "fma";
    return has_wgmma() ? "wgmma" : "mma.sync";
  }

  double read_gb_s() const {
    const Function kernel = kernels_.function("kw_read");
    return streamed([&, this](unsigned blocks) { kernel(blocks, 512u, data(), vectors(), sums()); });
  }
  double write_gb_s() const {
    const Function kernel = kernels_.function("kw_write");
    return streamed([&, this](unsigned blocks) { kernel(blocks, 512u, data(), vectors(), blocks); });
  }
  double copy_gb_s() const {
    const Function kernel = kernels_.function("kw_copy");
    const unsigned long long half = vectors() / 2;
    return streamed([&, this](unsigned blocks) { kernel(blocks, 512u, data(), data() + half * kVector_bytes, half); });
  }

  // A buffer of about a quarter of L2 and at most half, in whole tiles for every block, so that none is idle.
  double l2_read_gb_s() const {
    const Function kernel = kernels_.function("kw_read_again");
    const auto l2 = static_cast<size_t>(context_.facts().l2_bytes);
    double best = 0;
    for (const auto& shape : {std::pair{128u, 1u}, {256u, 1u}, {256u, 2u}, {512u, 1u}, {512u, 2u}, {512u, 4u}}) {
      const unsigned threads = shape.first, blocks = multiprocessors_ * shape.second;
      const size_t round = size_t{blocks} * threads * kVectorsPerThread * kVector_bytes;
      const size_t bytes = std::max<size_t>(1, l2 / 4 / round) * round;
      if (bytes > l2 / 2 || bytes > data_.bytes()) continue;
      best = std::max(best, rate(static_cast<double>(bytes) * kRereads, [&, this] {
                        kernel(blocks, threads, data(), static_cast<unsigned long long>(bytes / kVector_bytes),
                               kRereads, sums());
                      }));
    }
    if (best == 0) throw core::SystemError("the L2 cache of this GPU is too small to be measured");
    return best * 1e-9;
  }

  // FLOP/s of a kernel (rounds, sums) with so many FLOP per thread and round.
  double flop_s(const std::string& name, double flop_per_thread, int rounds, unsigned blocks_per_multiprocessor) const {
    const bool tensor = name.rfind("kw_fma", 0) != 0;
    const Function kernel = (tensor ? tensor_ : kernels_).function(name);
    const unsigned blocks = multiprocessors_ * blocks_per_multiprocessor, threads = 256;
    return rate(flop_per_thread * rounds * blocks * threads, [&, this] { kernel(blocks, threads, rounds, sums()); });
  }
  // AMD: kProducts products for the 64 lanes of a wavefront, see calibrate_matrix.cu. NVIDIA: kTiles tiles for the 32
  // threads of a warp, kProducts products for the 128 of a warpgroup: see calibrate_tensor.cu.
  double tensor_flop_s(const std::string& type) const {
    if (is_amd()) return flop_s("kw_matrix_" + type, 8 * 2 * 16 * 16 * (type == "tf32" ? 4 : 16) / 64.0, 256, 4);
    const double columns = type == "tf32" ? 8 : 16;
    const double mma = flop_s("kw_mma_" + type, 8 * 2 * 16 * 8 * columns / 32, 2048, 4);
    if (!has_wgmma()) return mma;
    return std::max(mma, flop_s("kw_wgmma_" + type, 8 * 2 * 64 * 256 * columns / 128, 512, 1));
  }

  // Between two events, queued behind other work so that the processor's own time is no part of it.
  double launch_floor_us() {
    const Function nothing = kernels_.function("kw_nothing"), delay = kernels_.function("kw_fma_f32");
    std::vector<double> times_us;
    for (int i = 0; i < 201; ++i) {
      delay(multiprocessors_, 256u, 256, sums());
      begin_.record();
      nothing(1, 32);
      end_.record();
      context_.synchronize();
      times_us.push_back(end_.us_since(begin_));
    }
    return statistics::median(times_us);
  }

 private:
  static size_t streamed_bytes(const Context& context) {
    constexpr size_t kWhole = size_t{2} << 20;
    const size_t bytes = std::min(kStreamed_bytes, context.free_bytes() / 2) / kWhole * kWhole;
    if (bytes < 4 * static_cast<size_t>(context.facts().l2_bytes) || bytes == 0) {
      throw core::SystemError("the GPU has too little free memory to be measured: " +
                              std::to_string(context.free_bytes() >> 20) + " MiB; end what else uses it");
    }
    return bytes;
  }

  bool is_amd() const { return tensor_kernels_.contains("kw_matrix_f16"); }
  bool has_wgmma() const { return tensor_kernels_.contains("kw_wgmma_f16"); }
  DevicePtr data() const { return data_.address(); }
  DevicePtr sums() const { return sums_.address(); }
  unsigned long long vectors() const { return data_.bytes() / kVector_bytes; }

  double rate(double work, const std::function<void()>& launch) const {
    return best_rate(work, [&](int launches) {
      begin_.record();
      for (int i = 0; i < launches; ++i) launch();
      end_.record();
      context_.synchronize();
      return end_.us_since(begin_);
    });
  }
  // All of the data once per launch, with few blocks and with many: the best of them, in GB/s.
  double streamed(const std::function<void(unsigned blocks)>& launch) const {
    double best = 0;
    for (const unsigned per_multiprocessor : {2u, 4u, 8u, 16u}) {
      const unsigned blocks = std::min(multiprocessors_ * per_multiprocessor, kMostThreads / 512);
      best = std::max(best, rate(static_cast<double>(data_.bytes()), [&] { launch(blocks); }));
    }
    return best * 1e-9;
  }

  const Context& context_;
  Module kernels_, tensor_;
  std::map<std::string, int64_t> tensor_kernels_;  // by name
  unsigned multiprocessors_;
  mutable Event begin_, end_;
  PrivateMemory data_, sums_;
};
}  // namespace

double best_rate(double work, const std::function<double(int)>& time_us) {
  int launches = 1;
  double taken_us = time_us(launches);  // warms up
  for (taken_us = time_us(launches); taken_us < kLeastCalibration_us; taken_us = time_us(launches)) {
    if (launches >= kMostLaunches) throw core::SystemError("the GPU's clock stands still");
    launches *= 2;
  }
  double best = 0;
  for (int repeat = 0; repeat < kCalibrations; ++repeat) {
    taken_us = time_us(launches);
    if (!(taken_us > 0)) throw core::SystemError("the GPU's clock stands still");
    best = std::max(best, work * launches / (taken_us * 1e-6));
  }
  return best;
}

verdicts::Calibration measure_device(const Context& context, const Platform& platform, const std::string& kernels,
                                     const std::string& tensor) {
  Bench bench(context, platform, kernels, tensor);
  verdicts::Calibration c;
  c.device = context.facts().name;
  c.architecture = context.facts().architecture;
  c.driver = context.driver().version();
  c.multiprocessors = context.facts().multiprocessors;
  c.l2_bytes = context.facts().l2_bytes;
  c.dram_read_gb_s = bench.read_gb_s();
  c.dram_write_gb_s = bench.write_gb_s();
  c.dram_copy_gb_s = bench.copy_gb_s();
  c.l2_read_gb_s = bench.l2_read_gb_s();
  constexpr double kFmaFlop = 2 * 8 * 16;  // per thread and round, as in calibrate_kernels.cu
  c.fp32_flop_s = bench.flop_s("kw_fma_f32", kFmaFlop, 1024, 4);
  c.fp64_flop_s = bench.flop_s("kw_fma_f64", kFmaFlop, 256, 4);
  c.tensor_f16_flop_s = bench.tensor_flop_s("f16");
  c.tensor_bf16_flop_s = bench.tensor_flop_s("bf16");
  c.tensor_tf32_flop_s = bench.tensor_flop_s("tf32");
  c.tensor_instruction = bench.tensor_instruction();
  c.launch_floor_us = bench.launch_floor_us();
  return c;
}

verdicts::Calibration ask_for_calibration(sandbox::process::Worker& judge, sandbox::CompilePool& pool,
                                          const std::filesystem::path& folder) {
  std::vector<std::future<sandbox::Compilation>> compiled;
  const bool amd = pool.greeting().at("architecture").get<std::string>().starts_with("gfx");
  for (const char* name : {"calibrate_kernels.cu", amd ? "calibrate_matrix.cu" : "calibrate_tensor.cu"}) {
    compiled.push_back(pool.submit({name, core::read_file(folder / name), {}, sandbox::Build::fast}));
  }
  std::vector<sandbox::Built> built;
  for (auto& one : compiled) {
    sandbox::Compilation compilation = one.get();
    if (const auto* rejected = std::get_if<sandbox::Rejected>(&compilation)) {
      throw core::SystemError("the measuring kernels do not compile: " + rejected->message + "\n" + rejected->log);
    }
    built.push_back(std::move(std::get<sandbox::Built>(compilation)));
  }
  sandbox::process::Message answer =
      judge.request({{"op", "calibrate"}}, {built[0].binary.get(), built[1].binary.get()}, kCalibrationDeadline);
  answer.json["calibration"]["made"] = now_utc();
  return verdicts::calibration_from_json(core::JsonView(answer.json, "judge worker").at("calibration"));
}

}  // namespace verifier::devices::gpu
