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
  bool naive_known = false;  // the naive solution was not run: its errors are known from an earlier draw
  // For inputs close by (draws/neighbours.h): the naive solution's errors, [output][neighbour][tile]. Whole outputs
  // instead, in `neighbours`, where an output is compared by a rule of its own.
  std::vector<std::vector<std::vector<comparison::NaiveTile>>> errors_close_by;
  std::vector<TrustedOutputs> neighbours;

  bool has_neighbours() const { return !errors_close_by.empty() || !neighbours.empty(); }
};

class Oracle {
 public:
  // The device must outlive it. `pytorch`: where reference.py computes; `draws_inputs`: it has a function inputs().
  Oracle(JudgeDevice& device, benchsuite::Problem problem, std::unique_ptr<TrustedSolution> reference,
         std::unique_ptr<TrustedSolution> naive, std::shared_ptr<reference::ReferenceChannel> pytorch = nullptr,
         bool draws_inputs = false)
      : device_(device),
        problem_(std::move(problem)),
        reference_(std::move(reference)),
        naive_(std::move(naive)),
        in_blocks_(pytorch != nullptr),
        drawer_(draws_inputs ? std::move(pytorch) : nullptr) {}

  const benchsuite::Problem& problem() const { return problem_; }
  JudgeDevice& device() { return device_; }

  // `workload`: the listed one that the shape is, or null. Given inputs hold a draw from the beginning, since nothing
  // else is valid where a library warms up. Throws as fill() does.
  LentBuffers make_inputs(const core::Bindings& axes, const benchsuite::Workload* workload, statistics::Keys& keys);
  // Fills every input from `key`, and waits. Inputs to which the distribution does not apply are drawn as usual; those
  // of files stay. Throws core::InputError when inputs() of reference.py fails. `number`: of a named draw.
  void fill(const LentBuffers& inputs, const core::Bindings& axes, draws::Distribution distribution, uint64_t key,
            double number = 0);
  // An ordinary draw of a listed workload, in host memory.
  TensorBytes draw(const benchsuite::Workload& workload, statistics::Keys& keys);
  // Whether there are inputs for a shape that is not listed: not where files alone give one, nor where inputs() refuses
  // the shape, nor where its data is very large. Throws core::InputError when inputs() fails.
  bool can_draw(const core::Bindings& axes);
  // Whether only listed shapes have inputs, since files alone give one of them.
  bool only_listed() const;
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
  // From now on outputs are a library's, or a candidate's.
  void judge_library(bool library) { judges_library_ = library; }

 private:
  bool knows_naive(const core::Bindings& axes, draws::Distribution distribution) const;
  std::variant<comparison::Match, verdicts::Verdict> compare_once(const LentBuffers& inputs, const core::Bindings& axes,
                                                                  const LentBuffers& outputs, size_t index,
                                                                  const Expected& expected,
                                                                  const verdicts::Where& where);
  // `rounding`: of a sum, relative.
  Expected with_rounded_sums(const LentBuffers& inputs, const core::Bindings& axes, Expected expected, double rounding);
  // How many neighbours decide whether a result is only bad luck; 0: it is not, or they would cost too much.
  uint64_t neighbours_of_bad_luck(const std::variant<comparison::Match, verdicts::Verdict>& result,
                                  const core::Bindings& axes, const Expected& expected) const;
  comparison::OutputForm form_of(const LentBuffers& inputs, const core::Bindings& axes, size_t index,
                                 const Expected& expected, const verdicts::Where& where);
  double error_of_reference(size_t index, const Expected& expected);
  void add_neighbours(Expected& expected, const LentBuffers& inputs, const core::Bindings& axes, uint64_t count);
  // For outputs with a comparison of their own, and where neighbours are whole outputs.
  std::variant<comparison::Match, verdicts::Verdict> compare_on_host(const comparison::OutputForm& form, bool exact,
                                                                     const LentBuffers& inputs,
                                                                     const core::Bindings& axes,
                                                                     const LentBuffers& outputs, size_t index,
                                                                     const Expected& expected);
  TensorBytes fetch_all(const LentBuffers& buffers) const;
  // Whether inputs() gives the content of one of them, or of any.
  bool draws_into(const LentBuffers& inputs, size_t index) const;
  bool draws_any(const LentBuffers& inputs) const;
  void store_given(const LentBuffers& inputs, const core::Bindings& axes, uint64_t key);

  JudgeDevice& device_;
  benchsuite::Problem problem_;
  std::unique_ptr<TrustedSolution> reference_, naive_;
  // The naive solution adds in blocks, as PyTorch does, and so errs less than a running sum, which the contract allows
  // as well.
  bool in_blocks_;
  bool judges_library_ = false;
  std::shared_ptr<reference::ReferenceChannel> drawer_;
  std::map<size_t, double> ordinary_scales_;  // RMS of an output in the first ordinary draw
  // The naive solution's errors at a shape, by output.
  std::map<core::Bindings, std::vector<std::vector<comparison::NaiveTile>>> naive_tiles_;
};

}  // namespace verifier::judging
