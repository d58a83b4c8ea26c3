// Does a problem ask for anything? Where the right outputs for one draw of the inputs are also right enough for
// another, a solution need not look at its inputs. Such a problem is refused before anything is judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/judging/judge_device.h"

namespace verifier::judging {

// An ordinary draw of all inputs of a listed workload.
using DrawInputs = std::function<TensorBytes(const benchsuite::Workload& workload, statistics::Keys& keys)>;
using RunTrusted = std::function<TrustedOutputs(const core::Bindings& axes, const TensorBytes& inputs)>;

// The fault in it, and how to mend that.
struct Independence {
  std::string problem, remedy;
};

// On the listed test shapes of a device, for each output: that what is right for some inputs is wrong for others. For
// each input: that some output becomes wrong when this input alone is replaced by another draw; given ones depend on
// each other and are replaced together, and those of files have no other draw. Either must be so on at least half of
// the shapes, by ten times the tolerance where that is above zero; for an input, half of the timed shapes do as well,
// if they are affordable, since their outputs are compared, too. nullopt: all is well. Costs a few runs of the trusted
// solutions.
std::optional<Independence> find_independence(const benchsuite::Problem& problem, const std::string& backend,
                                              uint64_t seed, const DrawInputs& draw, const RunTrusted& run);

}  // namespace verifier::judging
