// Is a record what one of its table must be? The same is asked of what a file brings and of what an archive holds.
#pragma once

#include "core/strict_json.h"
#include "results/archive/tables.h"
#include "verifier/verdicts/measurement.h"

namespace results::transfer {

// Members and their kinds are those of the table, hashes fit what they are of, verdicts and figures can be read and fit
// each other and their samples. What `record` refers to is not looked for. Throws core::InputError at the member.
void check_record(const archive::Table& table, const core::JsonView& record);

// Medians, speed-ups and outcome are those of the samples (an interval depends on how it was drawn, too: of it, only
// that it holds the speed-up). Where samples were pruned away, the rest must fit still. Throws core::InputError at
// `view`.
void check_figures(const verifier::verdicts::Measurement& measurement, const core::JsonView& view);

}  // namespace results::transfer
