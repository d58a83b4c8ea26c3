// Every shipped kernel runs on the cpu device at its problem's test workloads and agrees with the reference: in three
// thread orders with the fast build, without a finding of the checking build, and at another point. (The judge has the
// exact tolerances; this only finds gross errors. References and naive solutions are judged by audits.) Those that say
// hip do so in HIP, too, at wavefronts of 64 and of 32 lanes.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

#include "core/paths.h"
#include "sandbox/cpu/compiler/compiler.h"
#include "sandbox/cpu/memory/mapped_buffer.h"
#include "sandbox/cpu/runtime/bound_launch.h"
#include "sandbox/cpu/runtime/module.h"
#include "sandbox/shipped_kernels_fixture.h"

namespace sandbox::test {
namespace {
using benchsuite::Tensor;
using Bytes = std::vector<std::byte>;

double from_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size = exponent == 0    ? std::ldexp(mantissa, -24)
                      : exponent == 31 ? (mantissa == 0 ? HUGE_VAL : NAN)
                                       : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

template <typename T>
T element(const Bytes& bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double from_f8e4m3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  const double size = (bits & 0x7f) == 0x7f ? NAN
                      : exponent == 0       ? std::ldexp(mantissa, -9)
                                            : std::ldexp(8 + mantissa, exponent - 10);
  return (bits & 0x80) != 0 ? -size : size;
}

// Calls `with` with a value of the C type that holds integers of this dtype.
template <typename With>
void as_integer(core::DType dtype, With&& with) {
  switch (dtype) {
    case core::DType::i8:
      return with(int8_t{});
    case core::DType::u8:
      return with(uint8_t{});
    case core::DType::i64:
      return with(int64_t{});
    case core::DType::boolean:
      return with(bool{});
    default:
      return with(int32_t{});
  }
}

// Inputs near what the problem draws: floats of size about 1, integers within their bounds, sorted rows, permutations.
Bytes draw(const Tensor& tensor, const core::Bindings& axes, std::mt19937_64& random) {
  Bytes bytes(static_cast<size_t>(tensor.bytes(axes)));
  const auto count = static_cast<size_t>(tensor.elements(axes));
  std::normal_distribution<float> normal;
  const auto put = [&](size_t index, auto value) {
    std::memcpy(bytes.data() + index * sizeof(value), &value, sizeof(value));
  };
  if (!core::is_floating(tensor.dtype)) {
    const int64_t least = tensor.init.least.eval(axes), most = tensor.init.most.eval(axes);
    std::uniform_int_distribution<int64_t> integers(least, most);
    std::vector<int64_t> values(count);
    for (int64_t& value : values) value = integers(random);
    if (tensor.init.kind == benchsuite::Init::sorted) {
      values.front() = least;
      values.back() = most;
      std::ranges::sort(values);  // of one row
    }
    if (tensor.init.kind == benchsuite::Init::permutation) {
      const auto row = values.begin() + tensor.shape.back().eval(axes);
      for (auto first = values.begin(); first != values.end(); first += row - values.begin()) {
        std::iota(first, first + (row - values.begin()), 0);
        std::shuffle(first, first + (row - values.begin()), random);
      }
    }
    as_integer(tensor.dtype, [&](auto typed) {
      for (size_t i = 0; i < count; ++i) put(i, static_cast<decltype(typed)>(values[i]));
    });
    return bytes;
  }
  const auto columns = static_cast<float>(tensor.shape.back().eval(axes));
  std::uniform_real_distribution<float> uniform(static_cast<float>(tensor.init.low),
                                                static_cast<float>(tensor.init.high));
  for (size_t i = 0; i < count; ++i) {
    if (tensor.init.kind == benchsuite::Init::probabilities && tensor.dtype == core::DType::f32) {
      put(i, std::abs(normal(random)) / columns);
    } else if (tensor.init.kind == benchsuite::Init::uniform && tensor.dtype == core::DType::f32) {
      put(i, uniform(random));
    } else if (tensor.dtype == core::DType::f32) {
      put(i, normal(random));
    } else if (tensor.dtype == core::DType::f16) {
      put(i, static_cast<uint16_t>((random() & 0x83ff) | (11 + random() % 5) << 10));  // 1/16 to 2, either sign
    } else if (tensor.dtype == core::DType::f8e4m3) {
      put(i, static_cast<uint8_t>((random() & 0x87) | (3 + random() % 5) << 3));  // the same
    } else if (tensor.dtype == core::DType::bf16) {
      put(i, static_cast<uint16_t>(std::bit_cast<uint32_t>(normal(random)) >> 16));
    } else {
      throw std::logic_error("no test draws " + std::string(name_of(tensor.dtype)));
    }
  }
  return bytes;
}

std::vector<double> as_doubles(const Bytes& bytes, core::DType dtype) {
  std::vector<double> values(bytes.size() / core::size_bytes(dtype));
  if (!core::is_floating(dtype)) {
    as_integer(dtype, [&](auto typed) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(element<decltype(typed)>(bytes, i));
    });
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = dtype == core::DType::f64   ? element<double>(bytes, i)
                : dtype == core::DType::f32 ? static_cast<double>(element<float>(bytes, i))
                : dtype == core::DType::f16 ? from_f16(element<uint16_t>(bytes, i))
                : dtype == core::DType::f8e4m3
                    ? from_f8e4m3(element<uint8_t>(bytes, i))
                    : static_cast<double>(std::bit_cast<float>(uint32_t{element<uint16_t>(bytes, i)} << 16));
  }
  return values;
}

cpu::memory::MappedBuffer map_bytes(size_t bytes, int poison) {
  const int fd = ::memfd_create("buffer", MFD_CLOEXEC);
  EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(cpu::memory::memory_file_bytes(bytes))), 0);
  cpu::memory::MappedBuffer buffer(fd, bytes, cpu::memory::MappedBuffer::Access::read_write);
  ::close(fd);
  std::memset(buffer.content().data(), poison, bytes);
  return buffer;
}

// One candidate, compiled and loaded.
class Loaded {
 public:
  Loaded(const ShippedKernel& kernel, const Solution& solution, const TunableBinding& point, Build build,
         Dialect dialect = Dialect::cuda)
      : kernel_(kernel), solution_(solution), point_(point) {
    cpu::compiler::CompilerSettings settings;
    settings.host = cpu::compiler::find_host_compiler().value();
    settings.device_headers = core::installed_paths().device_headers();
    settings.dialect = dialect;
    settings.scratch = std::filesystem::path(testing::TempDir()) / ("kw_kernels_" + std::to_string(::getpid()));
    std::filesystem::create_directories(settings.scratch);
    CompileRequest request{solution.file, solution.source, {}, build};
    for (const auto& [name, value] : point) request.macros.emplace_back(name, value);
    Compilation compilation = cpu::compiler::compile(request, settings);
    std::filesystem::remove_all(settings.scratch);
    if (const auto* rejected = std::get_if<Rejected>(&compilation)) {
      throw std::runtime_error(kernel.name + ": " + rejected->message + "\n" + rejected->log);
    }
    module_.emplace(cpu::runtime::Module::load(std::get<Built>(compilation).binary.get(), build));
  }

  // Returns the outputs by name. A fault fails the test.
  std::map<std::string, std::vector<double>> run(const core::Bindings& axes, const std::map<std::string, Bytes>& inputs,
                                                 cpu::runtime::Order order) {
    const LaunchPlan plan = bind_plan(solution_, point_, axes, &kernel_.problem());
    std::map<std::string, cpu::memory::MappedBuffer> memory;
    std::vector<cpu::runtime::Buffer> buffers;
    const auto add = [&](const std::string& name, size_t bytes, int poison, bool writable) {
      const auto at = memory.emplace(name, map_bytes(bytes, poison)).first;
      buffers.push_back({name, at->second.content().data(), bytes, writable});
    };
    for (const auto& [name, bytes] : inputs) {
      add(name, bytes.size(), 0, false);
      std::memcpy(memory.at(name).content().data(), bytes.data(), bytes.size());
    }
    for (const Tensor& output : kernel_.problem().outputs) {
      const auto size = static_cast<size_t>(output.elements(axes)) * core::size_bytes(dtype_of(output));
      add(output.name, size, 0xff, true);
    }
    for (const PlannedWorkspace& workspace : plan.workspaces) {
      add(workspace.name, static_cast<size_t>(workspace.bytes), workspace.zeroed ? 0 : 0xff, true);
    }
    for (const PlannedLaunch& launch : plan.launches) {
      const std::optional<Fault> fault = module_->launch(
          cpu::runtime::bound_launch(launch, plan.tensor_maps,
                                     [&](const std::string& name) { return memory.at(name).content().data(); }),
          buffers, order, 1);
      if (fault) throw std::runtime_error(kernel_.name + ", " + describe(point_) + ": " + fault->describe());
    }
    std::map<std::string, std::vector<double>> outputs;
    for (const Tensor& output : kernel_.problem().outputs) {
      const auto content = memory.at(output.name).content();
      outputs[output.name] = as_doubles(Bytes(content.begin(), content.end()), dtype_of(output));
    }
    return outputs;
  }

 private:
  core::DType dtype_of(const Tensor& output) const {
    return kernel_.reference ? output.reference_dtype() : output.dtype;
  }

  const ShippedKernel& kernel_;
  const Solution& solution_;
  TunableBinding point_;
  std::optional<cpu::runtime::Module> module_;
};

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(got[i] - expected[i]), tolerance * largest)
        << what << ", element " << i << ": " << got[i] << " instead of " << expected[i];
  }
}

// benchsuite::OutputRule::between: two numbers in an element of `expected`.
void expect_between(const std::vector<double>& got, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const auto range = static_cast<int64_t>(expected[i]);
    ASSERT_GE(got[i], static_cast<double>(static_cast<int32_t>(range))) << what << ", element " << i;
    ASSERT_LE(got[i], static_cast<double>(range >> 32)) << what << ", element " << i;
  }
}

class KernelsOnCpu : public testing::TestWithParam<ShippedKernel> {
 protected:
  KernelsOnCpu()
      : reference_kernel_{"reference", GetParam().problem().reference_file(), GetParam().problem_folder, {}, true,
                          true},
        reference_solution_(load_solution(reference_kernel_.file)),
        reference_(reference_kernel_, reference_solution_, {}, Build::fast) {}

  // Runs the point at every test workload in these thread orders and compares with the reference.
  void compare(const TunableBinding& point, Build build, const std::vector<cpu::runtime::Order>& orders) {
    const Solution solution = load_solution(GetParam().file);
    Loaded candidate(GetParam(), solution, point, build);
    for (const benchsuite::Workload& workload : GetParam().problem().workloads) {
      if (workload.role == benchsuite::Role::test) compare(candidate, point, workload, orders);
    }
  }
  // The same in another dialect at the two smallest test workloads.
  void compare_smallest(Dialect dialect, const TunableBinding& point, Build build) {
    const Solution solution = load_solution(GetParam().file);
    Loaded candidate(GetParam(), solution, point, build, dialect);
    std::vector<benchsuite::Workload> tests = GetParam().problem().workloads;
    std::erase_if(tests, [](const auto& workload) { return workload.role != benchsuite::Role::test; });
    std::ranges::sort(tests, {}, [&](const auto& workload) {
      int64_t elements = 0;
      for (const Tensor& input : GetParam().problem().inputs) elements += input.elements(workload.axes);
      return elements;
    });
    tests.resize(std::min<size_t>(tests.size(), 2));
    for (const auto& workload : tests) compare(candidate, point, workload, {cpu::runtime::Order::seeded});
  }

 private:
  void compare(Loaded& candidate, const TunableBinding& point, const benchsuite::Workload& workload,
               const std::vector<cpu::runtime::Order>& orders) {
    std::map<std::string, Bytes> inputs;
    for (const Tensor& input : GetParam().problem().inputs) inputs[input.name] = draw(input, workload.axes, random_);
    const auto expected = reference_.run(workload.axes, inputs, cpu::runtime::Order::forward);
    for (const cpu::runtime::Order order : orders) {
      const auto got = candidate.run(workload.axes, inputs, order);
      for (const Tensor& output : GetParam().problem().outputs) {
        if (output.comparison.rule == benchsuite::OutputRule::between) {
          expect_between(got.at(output.name), expected.at(output.name), output.name + " at " + workload.name);
          continue;
        }
        const bool counts_quanta = output.comparison.rule == benchsuite::OutputRule::quanta;
        const double tolerance = core::is_f8(output.dtype)            ? 7e-2
                                 : output.dtype == core::DType::bf16  ? 1e-2
                                 : counts_quanta                      ? 4e-3  // half of one of 127
                                 : output.dtype == core::DType::f16   ? 2e-3
                                 : output.dtype != core::DType::f32   ? 0
                                 : GetParam().problem().contract.tf32 ? 1e-3
                                                                      : 2e-5;
        expect_near(got.at(output.name), expected.at(output.name), tolerance,
                    output.name + " at " + workload.name + ", " + describe(point));
      }
    }
  }

  std::mt19937_64 random_{1};
  ShippedKernel reference_kernel_;
  Solution reference_solution_;
  Loaded reference_;
};

// One test, since each compiles the reference.
TEST_P(KernelsOnCpu, AreRightInEveryOrderAndAtAnotherPointAndTheCheckingBuildFindsNothing) {
  const Solution solution = load_solution(GetParam().file);
  const TunableBinding point = default_binding(solution), other = another_point(GetParam(), solution);
  compare(point, Build::fast,
          {cpu::runtime::Order::forward, cpu::runtime::Order::reverse, cpu::runtime::Order::seeded});
  compare(point, Build::check, {cpu::runtime::Order::forward});
  if (other != point) compare(other, Build::fast, {cpu::runtime::Order::forward});
}

const auto kName = [](const auto& kernel) { return kernel.param.name; };
// Those in CUDA's dialect: a kernel for the cpu device alone is, too.
std::vector<ShippedKernel> kernels_in_cuda() {
  std::vector<ShippedKernel> kernels = shipped_kernels_for("cpu");
  std::erase_if(kernels, [](const ShippedKernel& kernel) {
    return kernel.of_problem || (!kernel.says("cuda") && kernel.says("hip"));
  });
  return kernels;
}
INSTANTIATE_TEST_SUITE_P(All, KernelsOnCpu, testing::ValuesIn(kernels_in_cuda()), kName);

// Kernels for NVIDIA's GPUs alone: the cpu device executes what they are made of, to find races and bounds.
class KernelsForGpus : public KernelsOnCpu {};

TEST_P(KernelsForGpus, AreRightAndTheCheckingBuildFindsNothing) {
  const Solution solution = load_solution(GetParam().file);
  const TunableBinding point = default_binding(solution), other = another_point(GetParam(), solution);
  compare(point, Build::fast, {cpu::runtime::Order::reverse});
  compare(point, Build::check, {cpu::runtime::Order::forward});
  if (other != point) compare(other, Build::check, {cpu::runtime::Order::seeded});
}

std::vector<ShippedKernel> kernels_for_gpus() {
  std::vector<ShippedKernel> kernels = shipped_kernels_for("cuda");
  std::erase_if(kernels, [](const ShippedKernel& kernel) { return kernel.of_problem || kernel.says("cpu"); });
  return kernels;
}
INSTANTIATE_TEST_SUITE_P(All, KernelsForGpus, testing::ValuesIn(kernels_for_gpus()), kName);

class KernelsInHip : public KernelsOnCpu {};

TEST_P(KernelsInHip, AreRightAndTheCheckingBuildFindsNothing) {
  const Solution solution = load_solution(GetParam().file);
  compare_smallest(Dialect::hip, default_binding(solution), Build::check);
  if (solution.tunables.empty()) return;  // a plain kernel asks for no lanes
  compare_smallest(Dialect::hip32, default_binding(solution), Build::check);
  compare_smallest(Dialect::hip, another_point(GetParam(), solution), Build::fast);
}

std::vector<ShippedKernel> kernels_in_hip() {
  std::vector<ShippedKernel> kernels = shipped_kernels_for("hip");
  std::erase_if(kernels, [](const ShippedKernel& kernel) { return kernel.reference; });
  return kernels;
}
INSTANTIATE_TEST_SUITE_P(All, KernelsInHip, testing::ValuesIn(kernels_in_hip()), kName);

}  // namespace
}  // namespace sandbox::test
