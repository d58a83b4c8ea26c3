// Inputs whose init is "given": inputs() of reference.py draws them, where no file does.
#pragma once

#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/judging/judge_device.h"
#include "verifier/reference/reference_channel.h"
#include "verifier/reference/reference_worker.h"

namespace verifier::judging {

inline bool is_given(const benchsuite::Tensor& input) { return input.init.kind == benchsuite::Init::given; }

// Calls inputs() at a shape that it must not refuse. Throws core::InputError.
reference::ReferenceChannel::Given draw_given(reference::ReferenceChannel& drawer, const benchsuite::Problem& problem,
                                              const core::Bindings& axes, uint64_t key);
// Whether it gives inputs of at most kMostGivenBytes at a shape that is not listed. Throws core::InputError when it
// fails, or refuses the shape for one key and not for another: a problem may leave shapes out, not draws.
inline constexpr int64_t kMostGivenBytes = int64_t{256} << 20;
bool can_draw_given(reference::ReferenceChannel& drawer, const benchsuite::Problem& problem,
                    const core::Bindings& axes);

// An ordinary draw of all inputs at a listed workload. `drawer`: null where reference.py has no inputs(). Throws
// core::InputError.
TensorBytes draw_inputs(const benchsuite::Problem& problem, const benchsuite::Workload& workload,
                        reference::ReferenceChannel* drawer, statistics::Keys& keys);

// Shapes like those that candidates are tried at beyond the listed ones, the same ones for each call.
std::vector<core::Bindings> shapes_to_try(const benchsuite::Problem& problem, const std::string& backend);

// Requires content for every given input: at each workload of a backend, drawn within half a second, and at half of
// shapes_to_try() or more. A problem that refused more shapes would have candidates tried at listed ones alone. Throws
// core::InputError.
void require_given_inputs(reference::ReferenceWorker& worker, const benchsuite::Problem& problem,
                          const std::string& backend);

}  // namespace verifier::judging
