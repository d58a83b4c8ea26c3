// Candidate and incumbent side by side on a GPU, each in a run worker of its own.
#pragma once

#include <memory>
#include <variant>

#include "sandbox/cuda/driver/nvml.h"
#include "verifier/devices/cuda/launch_harness.h"
#include "verifier/judging/paired_launches.h"

namespace verifier::devices::cuda {

// Kernels of 20 us and more are timed one by one, shorter ones in sequences of up to 12 launches, each on data of its
// own: what an empty sequence costs is taken off. No launch goes untimed (a difference of two sequences would let a
// kernel be fast by being slow in the shorter one), and each may be audited.
//
// Both sides, the monitor and the keys must outlive the launches. A Verdict when the candidate cannot be set up; throws
// core::SystemError when the incumbent cannot.
std::variant<verdicts::Verdict, std::unique_ptr<judging::PairedLaunches>> open_paired_launches(
    Oracle& oracle, const core::Bindings& axes, Contender& candidate, Contender& incumbent, bool hot,
    const sandbox::cuda::driver::ClockMonitor& clocks, statistics::Keys& keys);

}  // namespace verifier::devices::cuda
