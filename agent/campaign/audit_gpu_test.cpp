// Every shipped problem passes its audit on a GPU. Needs a GPU and NVRTC; to be run in the root of the repository.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "agent/campaign/audits.h"
#include "benchsuite/catalogue.h"
#include "core/paths.h"

namespace agent::campaign {
namespace {
using verifier::audit::AuditOutcome;

class AuditOnGpu : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    session_.reset(
        new DeviceSession(start_audit_session(core::installed_paths(), DeviceChoice{benchsuite::Backend::cuda})));
  }
  static void TearDownTestSuite() { session_.reset(); }
  static std::unique_ptr<DeviceSession> session_;
};
std::unique_ptr<DeviceSession> AuditOnGpu::session_;

TEST_P(AuditOnGpu, Passes) {
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / GetParam());
  const verifier::audit::AuditReport report = audit_problem(*session_, core::installed_paths(), problem, {}, 1);
  for (const verifier::audit::AuditFinding& finding : report.findings) {
    EXPECT_TRUE(finding.right) << finding.name << ": " << finding.advice;
  }
  for (const std::string& remark : report.remarks) ADD_FAILURE() << remark;
  EXPECT_GE(report.count(AuditOutcome::refused), 12);
  // Where a choice or an atomic addition takes a float and what stands for it, the mutant does not compile.
  const std::set<std::string> with_uncompiled{"attention_bf16", "attention_f16", "bias_dropout_add_f32",
                                              "index_add_f32"};
  EXPECT_LE(report.count(AuditOutcome::not_compiled), with_uncompiled.contains(GetParam()) ? 2 : 0);
}

std::vector<std::string> shipped() {
  std::vector<std::string> names;
  for (const auto& [name, problem] : benchsuite::load_problems(core::installed_paths().problems())) {
    names.push_back(name);
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(Problems, AuditOnGpu, testing::ValuesIn(shipped()), [](const auto& one) { return one.param; });

}  // namespace
}  // namespace agent::campaign
