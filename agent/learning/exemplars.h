// Winners of similar problems in the archive, which prompts for a fresh solution show.
#pragma once

#include <optional>
#include <string>

#include "agent/prompting/facts.h"
#include "core/strict_json.h"
#include "results/archive/reader.h"

namespace agent::learning {

// The best confirmed solution of the most similar problem; nullopt: the archive has none. `kind`: DeviceChoice::kind of
// the device. Similar problems have the same kind (benchsuite::ProblemKind); of these count the same dtypes, then the
// same device and the same limit (memory or arithmetic) by its calibration, then traits (prompting::traits_of) and
// references alike in code. Leaves out the problem itself, those that ask for the same computation, those that a
// campaign holds out, and solutions that the device cannot run or that are too long for a prompt.
std::optional<prompting::Exemplar> choose_exemplar(const results::archive::Reader& archive,
                                                   const benchsuite::Problem& problem,
                                                   const prompting::DeviceText& device, const std::string& kind);

// For the archive, which has the source under its hash. Throws core::SystemError when it has lost it.
core::Json to_json(const prompting::Exemplar& exemplar);
prompting::Exemplar exemplar_from_json(const core::Json& json, const results::archive::Reader& archive);

}  // namespace agent::learning
