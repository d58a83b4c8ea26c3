// The launch plans of every shipped kernel, at every point and workload.
#include "sandbox/shipped_kernels_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "benchsuite/catalogue.h"
#include "core/error.h"
#include "core/paths.h"

namespace sandbox::test {
namespace {
namespace fs = std::filesystem;

void bind_rest(const Solution& solution, size_t next, TunableBinding& binding, std::vector<TunableBinding>& points) {
  if (next == solution.tunables.size()) {
    if (satisfies_constraints(solution, binding)) points.push_back(binding);
    return;
  }
  for (const int64_t value : solution.tunables[next].values) {
    binding[solution.tunables[next].name] = value;
    bind_rest(solution, next + 1, binding, points);
  }
}
}  // namespace

std::ostream& operator<<(std::ostream& out, const ShippedKernel& kernel) { return out << kernel.name; }

namespace {
std::vector<ShippedKernel> read_shipped_kernels() {
  std::vector<ShippedKernel> kernels;
  const core::Paths paths = core::installed_paths();
  for (auto& [name, loaded] : benchsuite::load_problems(paths.problems())) {
    const auto problem = std::make_shared<const benchsuite::Problem>(std::move(loaded));
    kernels.push_back({name + "_reference", problem->reference_file(), problem, true});
    kernels.push_back({name + "_naive", problem->naive_file(), problem});
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(paths.kernels() / name)) {
      if (entry.path().extension() == ".cu") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) kernels.push_back({name + "_" + file.stem().string(), file, problem});
  }
  return kernels;
}
}  // namespace

const std::vector<ShippedKernel>& shipped_kernels() {
  static const std::vector<ShippedKernel> kernels = read_shipped_kernels();
  return kernels;
}

std::vector<ShippedKernel> shipped_kernels_for(const std::string& backend) {
  std::vector<ShippedKernel> kernels = shipped_kernels();
  std::erase_if(kernels, [&](const ShippedKernel& kernel) {
    return std::ranges::count(load_solution(kernel.file).backends, backend) == 0;
  });
  return kernels;
}

std::vector<TunableBinding> valid_points(const Solution& solution) {
  TunableBinding binding;
  std::vector<TunableBinding> points;
  bind_rest(solution, 0, binding, points);
  return points;
}

TunableBinding another_point(const ShippedKernel& kernel, const Solution& solution) {
  std::vector<TunableBinding> points = valid_points(solution);
  const TunableBinding first = default_binding(solution);
  if (points.size() > 1) points.erase(std::remove(points.begin(), points.end(), first), points.end());
  std::mt19937_64 random(std::hash<std::string>()(kernel.name));
  return points.at(random() % points.size());
}

namespace {
class ShippedPlans : public testing::TestWithParam<ShippedKernel> {};

TEST_P(ShippedPlans, FitTheirProblem) {
  const ShippedKernel& kernel = GetParam();
  const Solution solution = load_solution(kernel.file);
  EXPECT_EQ(solution.problem, kernel.problem->name);
  EXPECT_NO_THROW(validate_solution(solution, *kernel.problem));
  // Only what needs a GPU of some architecture or a newer one may be beyond the cpu device; all of Hopper's is.
  const auto on_cpu = std::ranges::count(solution.backends, "cpu");
  EXPECT_TRUE(on_cpu == 1 || !solution.arch.empty());
  EXPECT_TRUE(on_cpu == 0 || !solution.arch.starts_with("sm_9"));
}

TEST_P(ShippedPlans, HoldAtEveryPointAndWorkload) {
  const ShippedKernel& kernel = GetParam();
  const Solution solution = load_solution(kernel.file);
  for (const TunableBinding& point : valid_points(solution)) {
    for (const benchsuite::Workload& workload : kernel.problem->workloads) {
      EXPECT_NO_THROW(bind_plan(solution, point, workload.axes, kernel.problem.get()))
          << describe(point) << ", " << workload.name;
    }
  }
}

// Every problem has kernels with many points for the tuner.
TEST(ShippedKernels, EveryProblemHasATunedKernelWithManyPoints) {
  std::map<std::string, size_t> points, for_gpus;
  for (const ShippedKernel& kernel : shipped_kernels()) {
    const Solution solution = load_solution(kernel.file);
    points[kernel.problem->name] += valid_points(solution).size();
    for_gpus[kernel.problem->name] += std::ranges::count(solution.backends, "cuda") > 0;
  }
  EXPECT_GE(points.size(), 40u);
  for (const auto& [problem, count] : points) EXPECT_GE(count, 10u) << problem;
  for (const auto& [problem, count] : for_gpus) EXPECT_GE(count, 1u) << problem << " has one for the cpu device alone";
}

INSTANTIATE_TEST_SUITE_P(All, ShippedPlans, testing::ValuesIn(shipped_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });
}  // namespace
}  // namespace sandbox::test
