// The launch plans of every shipped kernel, at every point and workload.
#include "sandbox/shipped_kernels_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/error.h"
#include "core/paths.h"
#include "core/text.h"

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

const benchsuite::Problem& ShippedKernel::problem() const {
  static std::map<fs::path, benchsuite::Problem> read;
  auto found = read.find(problem_folder);
  if (found == read.end()) found = read.emplace(problem_folder, benchsuite::load_problem(problem_folder)).first;
  return found->second;
}
bool ShippedKernel::says(const std::string& backend) const { return std::ranges::count(backends, backend) > 0; }

namespace {
std::vector<std::string> backends_in(const fs::path& file) {
  const std::string text = core::read_file(file);
  std::vector<std::string> backends{"cpu", "cuda", "hip"};
  const size_t begin = text.find("\"backends\"");
  if (begin == std::string::npos) return backends;
  const std::string list = text.substr(begin, text.find(']', begin) - begin);
  std::erase_if(backends, [&](const std::string& one) { return list.find('"' + one + '"') == std::string::npos; });
  return backends;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

std::vector<ShippedKernel> list_shipped_kernels() {
  std::vector<ShippedKernel> kernels;
  const core::Paths paths = core::installed_paths();
  for (const fs::path& folder : sorted_entries(paths.problems())) {
    const std::string name = folder.filename().string();
    const auto add = [&](const fs::path& file, bool of_problem) {
      const std::string stem = file.stem().string();
      kernels.push_back({name + "_" + stem, file, folder, backends_in(file), of_problem, stem == "reference"});
    };
    add(folder / benchsuite::kReferenceFile, true);
    add(folder / benchsuite::kNaiveFile, true);
    for (const fs::path& file : sorted_entries(paths.kernels() / name)) {
      if (file.extension() == ".cu") add(file, false);
    }
  }
  return kernels;
}
}  // namespace

const std::vector<ShippedKernel>& shipped_kernels() {
  static const std::vector<ShippedKernel> kernels = list_shipped_kernels();
  return kernels;
}

std::vector<ShippedKernel> shipped_kernels_for(const std::string& backend) {
  std::vector<ShippedKernel> kernels = shipped_kernels();
  std::erase_if(kernels, [&](const ShippedKernel& kernel) { return !kernel.says(backend); });
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
  const std::vector<std::string> all{"cpu", "cuda", "hip"};
  EXPECT_EQ(solution.backends.empty() ? all : solution.backends, kernel.backends);
  EXPECT_EQ(solution.problem, kernel.problem().name);
  EXPECT_NO_THROW(validate_solution(solution, kernel.problem()));
  // Only what is written in PTX, itself or through our headers, may be beyond the cpu device.
  EXPECT_TRUE(kernel.says("cpu") || solution.source.find("asm") != std::string::npos);
}

TEST_P(ShippedPlans, HoldAtEveryPointAndWorkload) {
  const ShippedKernel& kernel = GetParam();
  const Solution solution = load_solution(kernel.file);
  for (const TunableBinding& point : valid_points(solution)) {
    for (const benchsuite::Workload& workload : kernel.problem().workloads) {
      EXPECT_NO_THROW(bind_plan(solution, point, workload.axes, &kernel.problem()))
          << describe(point) << ", " << workload.name;
    }
  }
}

// Every problem has kernels with many points for the tuner.
TEST(ShippedKernels, EveryProblemHasATunedKernelWithManyPoints) {
  std::map<std::string, size_t> points, for_gpus;
  for (const ShippedKernel& kernel : shipped_kernels()) {
    const Solution solution = load_solution(kernel.file);
    points[kernel.problem().name] += valid_points(solution).size();
    for_gpus[kernel.problem().name] += std::ranges::count(solution.backends, "cuda") > 0;
  }
  EXPECT_GE(points.size(), 40u);
  for (const auto& [problem, count] : points) EXPECT_GE(count, 10u) << problem;
  for (const auto& [problem, count] : for_gpus) EXPECT_GE(count, 1u) << problem << " has one for the cpu device alone";
}

INSTANTIATE_TEST_SUITE_P(All, ShippedPlans, testing::ValuesIn(shipped_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });
}  // namespace
}  // namespace sandbox::test
