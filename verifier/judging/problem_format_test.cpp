// Kernels of problems with scalars, lists of sizes, many tensors and bool, judged on the cpu device.
#include <gtest/gtest.h>

#include <memory>

#include "benchsuite/safetensors_fixture.h"
#include "verifier/judging/cpu_worker_fixture.h"
#include "verifier/judging/judge.h"

namespace verifier::judging {
namespace {
using core::Json;

// y[i] = ... x[i] over N: change what a test needs.
Json elementwise_problem() {
  return Json::parse(R"json({
    "name": "made", "title": "Made", "description": "made for a test",
    "axes": {"N": {"description": "elements", "min": 1, "max": 65536}},
    "inputs": {"x": {"dtype": "f32", "shape": ["N"], "init": {"kind": "normal", "scale": 1}}},
    "outputs": {"y": {"dtype": "f32", "shape": ["N"]}},
    "contract": {"accumulate": "f32"},
    "cost": {"flops": "N", "bytes_read": "4 * N", "bytes_written": "4 * N"},
    "workloads": [{"name": "test", "role": "test", "axes": {"N": 257}},
                  {"name": "bench", "role": "bench", "axes": {"N": 16384}}]
  })json");
}

// A kernel over the elements: its parameters, its arguments, and what it does with element i.
std::string source(const std::string& parameters, const std::string& args, const std::string& body) {
  return R"cu(/* kernelwright
{"problem": "made", "launches": [{"kernel": "k", "grid": ["ceil_div(N, 256)"], "block": [256], "args": [)cu" +
         args + R"cu(]}]}
*/
extern "C" __global__ void k()cu" +
         parameters + R"cu() {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) { )cu" +
         body + R"cu( }
}
)cu";
}

class ProblemFormat : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const sandbox::process::WorkerCommand worker = test::cpu_worker();
    pool_ = std::make_unique<sandbox::CompilePool>(worker, 2);
    JudgeSettings settings;
    settings.timing.screen_pairs = 3;
    judge_ = std::make_unique<Judge>(JudgedDevice{worker}, settings);
  }
  static void TearDownTestSuite() {
    judge_.reset();
    pool_.reset();
  }

  static void use(const Json& json, const std::string& reference, const std::string& naive,
                  const benchsuite::DataFiles& data = {}) {
    benchsuite::Problem problem = benchsuite::parse_problem(json.dump(), "problem.json");
    problem.data = data;
    problem.files = {{std::string(benchsuite::kReferenceFile), reference},
                     {std::string(benchsuite::kNaiveFile), naive}};
    for (const auto& [file, text] : problem.files) {
      sandbox::validate_solution(sandbox::parse_solution(text, file), problem);
    }
    judge_->use_problem(problem, *pool_);
  }

  // The verdict's name; a plan or source that is refused before that fails the test.
  static std::string verdict_on(const std::string& source) {
    const sandbox::Solution solution = sandbox::parse_solution(source, "candidate.cu");
    Builds builds(solution, sandbox::default_binding(solution));
    if (const sandbox::Rejected* rejected = builds.wait(*pool_, verdicts::Effort::confirm)) return rejected->message;
    const verdicts::Judgement judgement = judge_->judge(builds, judge_->naive(), verdicts::Effort::confirm);
    last_ = verdicts::sentence_for_people(judgement.verdict);
    return std::string(name_of(judgement.verdict));
  }

  static std::unique_ptr<sandbox::CompilePool> pool_;
  static std::unique_ptr<Judge> judge_;
  static std::string last_;  // the verdict in words
};
std::unique_ptr<sandbox::CompilePool> ProblemFormat::pool_;
std::unique_ptr<Judge> ProblemFormat::judge_;
std::string ProblemFormat::last_;

TEST_F(ProblemFormat, KernelsTakeScalarsByValueWithTheirDtypes) {
  Json json = elementwise_problem();
  json["scalars"] = {{"eps", {{"dtype", "f32"}, {"value", 0.1}}},
                     {"offset", {{"dtype", "i64"}, {"value", 5000000000}}},
                     {"scale", {{"dtype", "f64"}, {"value", 2.5}}},
                     {"shift", {{"dtype", "i32"}, {"value", -3}}}};
  const std::string args = R"("x", "y", "eps", "offset", "scale", "shift", "N")";
  const auto with = [&](const std::string& type, const std::string& body) {
    return source("const float* x, " + type + "* y, float eps, long long offset, double scale, int shift, int N", args,
                  body);
  };
  const std::string sum = "y[i] = x[i] * (float)scale + eps + (float)(offset / 1000000000) + (float)shift;";
  use(json, with("double", "y[i] = x[i] * scale + eps + (double)(offset / 1000000000) + shift;"), with("float", sum));
  EXPECT_EQ(verdict_on(with("float", sum)), "correct") << last_;
  EXPECT_EQ(verdict_on(with("float", "y[i] = x[i] * 2.5f + 0.1f + 5.0f - 3.0f;")), "correct") << last_;  // constants
  EXPECT_EQ(verdict_on(with("float", "y[i] = x[i] * (float)scale + (float)(offset / 1000000000) + (float)shift;")),
            "wrong_result");
  // A kernel that takes four bytes for the eight of a double is not launched.
  EXPECT_NE(verdict_on(source("const float* x, float* y, float eps, long long offset, float scale, int shift, int N",
                              args, sum)),
            "correct");
}

TEST_F(ProblemFormat, AListOfSizesIsTheWholeDomain) {
  Json json = elementwise_problem();
  json["axes"]["D"] = {{"description", "head size"}, {"values", {64, 128, 256}}};
  json["inputs"]["x"]["shape"] = {"N", "D"};
  json["outputs"]["y"]["shape"] = {"N"};
  json["contract"]["sums"] = "D";
  json["workloads"] = {{{"name", "test"}, {"role", "test"}, {"axes", {{"N", 33}, {"D", 64}}}},
                       {{"name", "bench"}, {"role", "bench"}, {"axes", {{"N", 1024}, {"D", 128}}}}};
  const std::string args = R"("x", "y", "N", "D")";
  const auto with = [&](const std::string& type, const std::string& body) {
    return source("const float* x, " + type + "* y, int N, int D", args, body);
  };
  const auto sum = [](const std::string& type, const std::string& columns) {
    return type + " sum = 0; for (int d = 0; d < " + columns + "; ++d) sum += x[(size_t)i * D + d]; y[i] = sum;";
  };
  use(json, with("double", sum("double", "D")), with("float", sum("float", "D")));
  // Right at the three sizes, wrong at every other one.
  EXPECT_EQ(verdict_on(with("float", sum("float", "(D == 64 ? 64 : D == 128 ? 128 : D == 256 ? 256 : 0)"))), "correct")
      << last_;
  EXPECT_EQ(verdict_on(with("float", sum("float", "(D < 128 ? D : 128)"))), "wrong_result");  // no workload has 256
}

TEST_F(ProblemFormat, MayHave64Tensors) {
  Json json = elementwise_problem();
  json["axes"]["N"]["max"] = 4096;
  json["contract"]["sums"] = "63";
  json["workloads"][1]["axes"]["N"] = 2048;
  const Json input = json["inputs"]["x"];
  json["inputs"] = Json::object();
  std::string parameters, args, sum;
  for (int t = 10; t < 73; ++t) {
    const std::string name = "x" + std::to_string(t);
    json["inputs"][name] = input;
    parameters += "const float* " + name + ", ";
    args += "\"" + name + "\", ";
    sum += (sum.empty() ? "" : " + ") + name + "[i]";
  }
  args += R"("y", "N")";
  const auto with = [&](const std::string& type, const std::string& value) {
    return source(parameters + type + "* y, int N", args, "y[i] = " + value + ";");
  };
  use(json, with("double", "(double)" + sum), with("float", sum));
  EXPECT_EQ(verdict_on(with("float", sum)), "correct") << last_;
  EXPECT_EQ(verdict_on(with("float", sum + " - x51[i]")), "wrong_result");
}

TEST_F(ProblemFormat, ABoolIsAByteOf0Or1) {
  Json json = elementwise_problem();
  json["inputs"]["mask"] = {
      {"dtype", "bool"}, {"shape", {"N"}}, {"init", {{"kind", "integers"}, {"low", 0}, {"high", 1}}}};
  json["outputs"]["y"]["dtype"] = "bool";
  const std::string args = R"("mask", "x", "y", "N")";
  const auto with = [&](const std::string& type, const std::string& body) {
    return source("const bool* mask, const float* x, " + type + "* y, int N", args, body);
  };
  const std::string right = "y[i] = mask[i] && x[i] > 0;";
  use(json, with("bool", right), with("bool", right));
  EXPECT_EQ(verdict_on(with("bool", right)), "correct") << last_;
  EXPECT_EQ(verdict_on(with("unsigned char", "y[i] = mask[i] * (x[i] > 0);")), "correct") << last_;
  EXPECT_EQ(verdict_on(with("bool", "y[i] = mask[i] || x[i] > 0;")), "wrong_result");
  EXPECT_EQ(verdict_on(with("unsigned char", "y[i] = (mask[i] && x[i] > 0) ? 2 : 0;")), "wrong_result");
  EXPECT_EQ(verdict_on(with("signed char", "y[i] = (mask[i] && x[i] > 0) ? -1 : 0;")), "wrong_result");
  // A run of bytes that are not written, too long for chance. Shorter ones are wrong results.
  EXPECT_EQ(verdict_on(with("bool", "if (mask[i] && 2 * i < N) y[i] = x[i] > 0;")), "not_written");
}

std::string with_fp8(std::string source) {
  const size_t end = source.find("*/") + 3;
  return source.insert(end, "#include <cuda_fp8.h>\n");
}

TEST_F(ProblemFormat, AProductOf8BitsNeedsItsScaleItsFormatsAndItsTail) {
  Json json = elementwise_problem();
  json["axes"]["K"] = {{"description", "columns"}, {"min", 1}, {"max", 300}};
  json["inputs"]["x"] = {{"dtype", "f8e4m3"}, {"shape", {"N", "K"}}, {"init", {{"kind", "normal"}, {"scale", 2}}}};
  json["inputs"]["w"] = {{"dtype", "f8e5m2"}, {"shape", {"K"}}, {"init", {{"kind", "normal"}, {"scale", 1}}}};
  json["scalars"] = {{"scale", {{"dtype", "f32"}, {"value", 0.125}}}};
  json["contract"] = {{"accumulate", "f32"}, {"sums", "K"}, {"nan", true}};
  json["workloads"] = {{{"name", "test"}, {"role", "test"}, {"axes", {{"N", 33}, {"K", 65}}}},
                       {{"name", "bench"}, {"role", "bench"}, {"axes", {{"N", 1024}, {"K", 96}}}}};
  const std::string args = R"("x", "w", "y", "scale", "N", "K")";
  const auto with = [&](const std::string& type, const std::string& factor, const std::string& last,
                        const std::string& x = "__nv_fp8_e4m3") {
    return with_fp8(source("const " + x + "* x, const __nv_fp8_e5m2* w, " + type + "* y, float scale, int N, int K",
                           args,
                           type + " sum = 0; for (int k = 0; k < " + last + "; ++k) sum += (" + type +
                               ")x[(size_t)i * K + k] * (" + type + ")w[k]; y[i] = sum * " + factor + ";"));
  };
  use(json, with("double", "scale", "K"), with("float", "scale", "K"));
  EXPECT_EQ(verdict_on(with("float", "scale", "K")), "correct") << last_;
  EXPECT_EQ(verdict_on(with("float", "0.125f", "K")), "correct") << last_;
  EXPECT_EQ(verdict_on(with("float", "1", "K")), "wrong_result");
  EXPECT_EQ(verdict_on(with("float", "scale", "(K / 16 * 16)")), "wrong_result");
  EXPECT_NE(verdict_on(with("float", "scale", "K", "__nv_fp8_e5m2")), "correct");
}

TEST_F(ProblemFormat, AnOutputOf8BitsIsRoundedOnce) {
  for (const std::string format : {"e4m3", "e5m2"}) {
    Json json = elementwise_problem();
    json["outputs"]["y"]["dtype"] = "f8" + format;
    json["scalars"] = {{"scale", {{"dtype", "f32"}, {"value", 3.7}}}};
    json["contract"]["nan"] = true;
    const std::string args = R"("x", "y", "scale", "N")", type = "__nv_fp8_" + format;
    const auto with = [&](const std::string& written, const std::string& body) {
      return with_fp8(source("const float* x, " + written + "* y, float scale, int N", args,
                             "typedef __nv_fp8_" + format + " T; const float v = x[i] * scale; " + body));
    };
    const std::string interpretation = format == "e4m3" ? "__NV_E4M3" : "__NV_E5M2";
    use(json, with("double", "y[i] = (double)x[i] * (double)scale;"), with(type, "y[i] = T(v);"));
    EXPECT_EQ(verdict_on(with(type, "y[i] = T((double)x[i] * (double)scale);")), "correct") << last_;
    EXPECT_EQ(verdict_on(with(type, "y[i].__x = __nv_cvt_float_to_fp8(v, __NV_NOSAT, " + interpretation + ");")),
              "correct")
        << last_;
    const std::string truncated = "T t(v); if (fabsf((float)t) > fabsf(v)) --t.__x; y[i] = t;";
    EXPECT_EQ(verdict_on(with(type, truncated)), "wrong_result") << format;
    EXPECT_EQ(verdict_on(with(type, "y[i] = T(x[i]);")), "wrong_result") << format;
    EXPECT_EQ(verdict_on(with(type, "y[i] = T(i < N / 16 * 16 ? v : 0.0f);")), "wrong_result") << format;
    EXPECT_EQ(verdict_on(with(type, "y[i] = T(v != v ? 0.0f : v);")), "wrong_non_finite") << format;
  }
}

TEST_F(ProblemFormat, AnInputOfAFileIsTheSameInEveryDraw) {
  Json json = elementwise_problem();
  json["axes"]["N"] = {{"description", "elements"}, {"values", {4, 8}}};
  json["inputs"]["order"] = {
      {"dtype", "i32"}, {"shape", {"N"}}, {"init", {{"kind", "given"}, {"low", 0}, {"high", "N - 1"}}}};
  const auto workload = [](const char* name, const char* role, int n) {
    return Json{{"name", name},
                {"role", role},
                {"axes", {{"N", n}}},
                {"inputs", {{"order", {{"file", std::string(name) + ".safetensors"}, {"tensor", "t"}}}}}};
  };
  json["workloads"] = {workload("test", "test", 4), workload("other", "test", 4), workload("bench", "bench", 8)};
  const auto file = [](const std::vector<int32_t>& values) {
    return std::make_shared<const benchsuite::Safetensors>(benchsuite::test::one_tensor("I32", values), "a");
  };
  const benchsuite::DataFiles data{{"test.safetensors", file({3, 2, 1, 0})},
                                   {"other.safetensors", file({3, 1, 2, 0})},
                                   {"bench.safetensors", file({7, 6, 5, 4, 3, 2, 1, 0})}};
  const std::string args = R"("order", "x", "y", "N")";
  const auto with = [&](const std::string& type, const std::string& body) {
    return source("const int* order, const float* x, " + type + "* y, int N", args, body);
  };
  use(json, with("double", "y[i] = x[order[i]];"), with("float", "y[i] = x[order[i]];"), data);
  EXPECT_EQ(verdict_on(with("float", "y[i] = x[order[i]];")), "correct") << last_;
  // Right at the first workload alone: the two of four elements have files of their own.
  EXPECT_EQ(verdict_on(with("float", "y[i] = x[N - 1 - i];")), "wrong_result");
  EXPECT_NE(last_.find("workload other"), std::string::npos) << last_;
  // The content of files is no secret, and there are no other shapes.
  EXPECT_EQ(verdict_on(with("float", "y[i] = x[order[0] == 3 && order[1] == 1 ? order[i] : N - 1 - i];")), "correct")
      << last_;
}

}  // namespace
}  // namespace verifier::judging
