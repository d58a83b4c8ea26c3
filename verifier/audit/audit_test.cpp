// Every shipped problem passes its audit on the cpu device; faulty ones fail with a reason.
#include "verifier/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "benchsuite/catalogue.h"
#include "benchsuite/safetensors_fixture.h"
#include "core/error.h"
#include "core/paths.h"
#include "core/text.h"
#include "verifier/audit/reorderings.h"
#include "verifier/judging/cpu_worker_fixture.h"

namespace verifier::audit {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

// One judge and one compile pool for all tests of this file: starting them costs more than judging.
class Audits : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (judge_) return;  // started by an earlier suite
    pool_ = std::make_unique<sandbox::CompilePool>(cpu_device().worker, 2);
    judge_ = std::make_unique<judging::Judge>(cpu_device(), audit_settings(false));
  }
  static judging::JudgedDevice cpu_device() { return {judging::test::cpu_worker()}; }

  static AuditReport audited(const benchsuite::Problem& problem) {
    return audit(problem, audit_variants(problem, {}), *judge_, *pool_);
  }
  static std::string wrongs(const AuditReport& report) {
    std::string text;
    for (const AuditFinding& finding : report.findings) {
      if (!finding.right) text += finding.name + ": " + finding.advice + "\n";
    }
    for (const std::string& remark : report.remarks) text += remark + "\n";
    return text;
  }

  static std::unique_ptr<judging::Judge> judge_;
  static std::unique_ptr<sandbox::CompilePool> pool_;
};
std::unique_ptr<judging::Judge> Audits::judge_;
std::unique_ptr<sandbox::CompilePool> Audits::pool_;

class ShippedProblem : public Audits, public testing::WithParamInterface<std::string> {};

TEST_P(ShippedProblem, Passes) {
  const AuditReport report = audited(benchsuite::load_problem(core::installed_paths().problems() / GetParam()));
  EXPECT_TRUE(report.passed()) << wrongs(report);
  EXPECT_GE(report.count(AuditOutcome::refused), 12);
  // The control and a reordering, which these do not have. Exceptions are named, so that no other problem becomes one.
  const std::set<std::string> without_reordering{"concat_bf16",         "embedding_f32", "gather_f32",
                                                 "index_add_f32",       "permute_f16",   "scatter_rows_bf16",
                                                 "upsample_nearest_f32"};
  EXPECT_GE(report.count(AuditOutcome::accepted), without_reordering.contains(GetParam()) ? 1 : 2);
  const std::map<std::string, int> equal{{"cast_bf16", 2}, {"upsample_nearest_f32", 1}};
  EXPECT_LE(report.count(AuditOutcome::equal), equal.contains(GetParam()) ? equal.at(GetParam()) : 0);
  const std::set<std::string> with_uncompiled{"attention_bf16", "attention_f16",         "bias_dropout_add_f32",
                                              "index_add_f32",  "linear_attention_bf16", "mla_decode_bf16",
                                              "top_p_f32",      "varlen_attention_bf16"};
  EXPECT_LE(report.count(AuditOutcome::not_compiled), with_uncompiled.contains(GetParam()) ? 2 : 0);
}

std::vector<std::string> shipped() {
  std::vector<std::string> names;
  for (const auto& [name, problem] : benchsuite::load_problems(core::installed_paths().problems()))
    names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Problems, ShippedProblem, testing::ValuesIn(shipped()),
                         [](const auto& one) { return one.param; });

// A user's problem in its own folder: y = f(a, b) of [M, N] matrices, one thread per element.
class WrittenProblem : public Audits {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kw_problem_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const fs::path& file, const std::string& text) const { std::ofstream(file) << text; }

  // `reference`, `naive`: statements that compute `value` from i, m, n, a and b; `init`: of a and b.
  benchsuite::Problem make(const std::string& reference, const std::string& naive, const std::string& init) const {
    const fs::path folder = folder_ / "written_f32";
    fs::create_directory(folder);
    write(folder / "problem.json", R"({"name": "written_f32", "title": "t", "description": "d",
      "axes": {"M": {"description": "rows", "min": 1, "max": 4096}},
      "inputs": {"a": {"dtype": "f32", "shape": ["M", "M"], "init": )" +
                                       init + R"(},
                 "b": {"dtype": "f32", "shape": ["M", "M"], "init": )" +
                                       init + R"(}},
      "outputs": {"y": {"dtype": "f32", "shape": ["M", "M"]}},
      "contract": {"accumulate": "f32"},
      "cost": {"flops": "M * M * M", "bytes_read": "8 * M * M", "bytes_written": "4 * M * M"},
      "workloads": [{"name": "test_37", "role": "test", "axes": {"M": 37}},
                    {"name": "test_64", "role": "test", "axes": {"M": 64}},
                    {"name": "bench_48", "role": "bench", "axes": {"M": 48}}]})");
    const auto solution = [](const std::string& number, const std::string& statements) {
      return R"cu(/* kernelwright
{"problem": "written_f32", "launches": [{"kernel": "f", "grid": ["ceil_div(M * M, 64)"], "block": [64],
 "args": ["a", "b", "y", "M"]}]}
*/
extern "C" __global__ void f(const float* a, const float* b, )cu" +
             number + R"cu(* y, int M) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * M) return;
  const int m = i / M, n = i % M;
  )cu" + number +
             " value = 0;\n  " + statements + "\n  y[i] = value;\n}\n";
    };
    write(folder / "reference.cu", solution("double", reference));
    write(folder / "naive.cu", solution("float", naive));
    return benchsuite::load_problem(folder);
  }
  std::string refusal(const benchsuite::Problem& problem) const {
    try {
      judge_->use_problem(problem, *pool_);
    } catch (const core::InputError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};
const std::string kNormal = R"({"kind": "normal", "scale": 1})";

TEST_F(WrittenProblem, SymmetricOutputsHaveMutantsThatAreNone) {
  const std::string sum =
      "for (int k = 0; k < M; ++k) value += ((NUMBER)a[m * M + k] + b[m * M + k]) * "
      "((NUMBER)a[n * M + k] + b[n * M + k]);";
  const auto with = [&](const std::string& number) {
    std::string text = sum;
    for (size_t at; (at = text.find("NUMBER")) != std::string::npos;) text.replace(at, 6, number);
    return text;
  };
  const AuditReport report = audited(make(with("double"), with("float"), kNormal));
  EXPECT_TRUE(report.passed()) << wrongs(report);
  EXPECT_EQ(report.count(AuditOutcome::equal), 1);  // the transposed one
}

TEST_F(WrittenProblem, SloppyNaiveSolutionsAreFoundOut) {
  const AuditReport report = audited(make("value = (double)a[i] + b[i];", "value = (a[i] + b[i]) * 1.002f;", kNormal));
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(wrongs(report),
              HasSubstr("in TF32: the judge accepts it"));  // of a, b or y: each is refused by chance at times
  EXPECT_THAT(wrongs(report), HasSubstr("make naive.cu more precise"));
}

TEST_F(WrittenProblem, DataFilesStayTheSameBitByBit) {
  const std::string gather = "const int at = (int)b[i]; if (at >= 0 && at < M * M) value = a[at];";
  make(gather, gather, kNormal);
  const fs::path folder = folder_ / "written_f32";
  core::Json json = core::parse_json(core::read_file(folder / "problem.json"), "problem.json");
  json["axes"]["M"] = {{"description", "rows"}, {"values", {4, 8}}};
  json["inputs"]["b"]["init"] = {{"kind", "given"}};
  json["workloads"] = core::Json::array();
  for (const int m : {4, 8}) {
    std::vector<float> places(static_cast<size_t>(m * m));
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>((i * 5 + 3) % places.size());
    const std::string name = "data_" + std::to_string(m) + ".safetensors", side = std::to_string(m);
    write(folder / name,
          benchsuite::test::safetensors_of(R"({"b":{"dtype":"F32","shape":[)" + side + "," + side +
                                               R"(],"data_offsets":[0,)" + std::to_string(4 * m * m) + "]}}",
                                           benchsuite::test::bytes_of(places)));
    for (const char* role : {"test", "bench"}) {
      json["workloads"].push_back(
          {{"name", role + side}, {"role", role}, {"axes", {{"M", m}}}, {"inputs", {{"b", {{"file", name}}}}}});
    }
  }
  write(folder / "problem.json", json.dump());
  const benchsuite::Problem problem = benchsuite::load_problem(folder);
  const AuditReport report = audit(problem, audit_variants(problem, {}), *judge_, *pool_);
  EXPECT_TRUE(report.remarks.empty()) << to_json(report).dump(1);
  // Whole numbers up to 63 keep all their bits in TF32 and bf16.
  EXPECT_GE(report.count(AuditOutcome::equal), 2);
  EXPECT_EQ(report.wrong(), 0) << to_json(report).dump(1);
}

TEST_F(WrittenProblem, OutputsThatHardlyVaryAreRefused) {
  const std::string why =
      refusal(make("value = 1 + 1e-9 * ((double)a[i] + b[i]);", "value = 1 + 1e-9f * (a[i] + b[i]);", kNormal));
  EXPECT_THAT(why, HasSubstr("problem.json: output \"y\" hardly depends on the inputs"));
  EXPECT_THAT(why, HasSubstr("a constant would do"));
  EXPECT_THAT(why, HasSubstr("\"init\""));
}

TEST_F(WrittenProblem, InputsThatDoNotMatterAreRefused) {
  EXPECT_THAT(refusal(make("value = a[i];", "value = a[i];", kNormal)),
              HasSubstr("no output depends on the input \"b\""));
  EXPECT_THAT(refusal(make("value = a[i] + 1e-12 * b[i];", "value = a[i] + 1e-12f * b[i];", kNormal)),
              HasSubstr("no output depends on the input \"b\""));
}

TEST_F(WrittenProblem, FilesOfItsAuthorGetTheirRequiredVerdicts) {
  const benchsuite::Problem problem = make("value = (double)a[i] + b[i];", "value = a[i] + b[i];", kNormal);
  sandbox::Solution half = sandbox::own_solution(problem, benchsuite::kNaiveFile);
  const size_t at = half.source.find("a[i] + b[i]");
  half.source.replace(at, 11, "a[i] + b[i] * 0.5f");
  half = sandbox::parse_solution(half.source, "half.cu");
  const AuditReport report = audit(problem,
                                   {written_variant(half, "honest/half", Must::be_accepted),
                                    written_variant(half, "mutants/half", Must::be_refused)},
                                   *judge_, *pool_);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_FALSE(report.findings[0].right);
  EXPECT_THAT(report.findings[0].advice, HasSubstr("the judge refuses it: "));
  EXPECT_TRUE(report.findings[1].right);
}

// scripts/try_pytorch tries the same with a real PyTorch.
TEST_F(WrittenProblem, EquivalentsAreCheckedOnlyWherePyTorchIs) {
  benchsuite::Problem problem = make("value = (double)a[i] + b[i];", "value = a[i] + b[i];", kNormal);
  EXPECT_THAT(audit(problem, {}, *judge_, *pool_).notes, testing::IsEmpty());
  problem.equivalents.pytorch = "a + b";
  const AuditReport report = audit(problem, {}, *judge_, *pool_);
  EXPECT_THAT(report.notes,
              testing::ElementsAre("equivalents.pytorch is not checked: this device has no PyTorch worker"));
  EXPECT_TRUE(report.findings.empty());

  judging::JudgedDevice device = cpu_device();
  device.pytorch = []() -> sandbox::process::WorkerCommand {
    throw core::InputError("reference.py", "needs PyTorch: python3 has no torch", "install it");
  };
  judging::Judge without(device, audit_settings(false));
  EXPECT_THAT(
      audit(problem, {}, without, *pool_).notes,
      testing::ElementsAre("equivalents.pytorch is not checked: needs PyTorch: python3 has no torch; install it"));
  EXPECT_EQ(to_json(report).at("notes").size(), 1u);
}

}  // namespace
}  // namespace verifier::audit
