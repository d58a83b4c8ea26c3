// Knows the right outputs: a problem with its trusted solutions loaded on a device.
#pragma once

#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/judging/dependence.h"
#include "verifier/judging/judge_device.h"

namespace verifier::judging {

// The right outputs for some inputs. The outputs themselves stay with the trusted solutions until the next
// Expected is made.
struct Expected {
  draws::Distribution distribution = draws::Distribution::ordinary;  // of the inputs
  bool naive_known = false;                // the naive solution was not run: its errors are known from an earlier draw
  std::vector<TrustedOutputs> neighbours;  // for inputs close by (draws/neighbours.h)
};

class Oracle {
 public:
  // The device must outlive it.
  Oracle(JudgeDevice& device, benchsuite::Problem problem, std::unique_ptr<TrustedSolution> reference,
         std::unique_ptr<TrustedSolution> naive)
      : device_(device), problem_(std::move(problem)), reference_(std::move(reference)), naive_(std::move(naive)) {}

  const benchsuite::Problem& problem() const { return problem_; }
  JudgeDevice& device() { return device_; }

  LentBuffers make_inputs(const core::Bindings& axes, statistics::Keys& keys);
  // Fills every input from `key`, and waits. Inputs to which the distribution does not apply are drawn as usual.
  void fill(const LentBuffers& inputs, const core::Bindings& axes, draws::Distribution distribution, uint64_t key);
  // Call it after the launch that it is for: the outputs come into being here. Throws core::SystemError when a trusted
  // solution faults. `with_naive`: runs the naive solution even where its errors are known.
  // `neighbours`: at least so many.
  Expected expected(const LentBuffers& inputs, const core::Bindings& axes, draws::Distribution distribution,
                    bool with_naive = false, uint64_t neighbours = 0);
  // Holds output `index` of a candidate against what is expected. `inputs`: those that it was given; `outputs`: all
  // that it gave.
  std::variant<comparison::Match, verdicts::Verdict> compare(const LentBuffers& inputs, const core::Bindings& axes,
                                                             const LentBuffers& outputs, size_t index,
                                                             const Expected& expected, const verdicts::Where& where);
  TrustedOutputs run_trusted(const core::Bindings& axes, const TensorBytes& inputs);

 private:
  bool knows_naive(const core::Bindings& axes, draws::Distribution distribution) const;
  std::variant<comparison::Match, verdicts::Verdict> compare_once(const LentBuffers& inputs, const core::Bindings& axes,
                                                                  const LentBuffers& outputs, size_t index,
                                                                  const Expected& expected,
                                                                  const verdicts::Where& where);
  bool may_be_bad_luck(const std::variant<comparison::Match, verdicts::Verdict>& result, const core::Bindings& axes,
                       const Expected& expected) const;
  comparison::OutputForm form_of(const LentBuffers& inputs, const core::Bindings& axes, size_t index,
                                 const Expected& expected, const verdicts::Where& where);
  // For small outputs, and those with a comparison of their own.
  std::variant<comparison::Match, verdicts::Verdict> compare_on_host(const comparison::OutputForm& form, bool exact,
                                                                     const LentBuffers& inputs,
                                                                     const core::Bindings& axes,
                                                                     const LentBuffers& outputs, size_t index,
                                                                     const Expected& expected);
  TensorBytes fetch_all(const LentBuffers& buffers) const;

  JudgeDevice& device_;
  benchsuite::Problem problem_;
  std::unique_ptr<TrustedSolution> reference_, naive_;
  // The naive solution's errors at a shape, by output.
  std::map<core::Bindings, std::vector<std::vector<comparison::NaiveTile>>> naive_tiles_;
};

}  // namespace verifier::judging
