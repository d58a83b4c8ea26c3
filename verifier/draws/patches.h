// The patches of a draw: parts of a tensor with other content.
#pragma once

#include "verifier/formulas/draw.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

// Adds the patches of a patchwork draw to `args`, an outlier among them as a rule, or the one place of a stray draw.
// `between_bounds`: the problem bounds the content.
void draw_patches(formulas::FillArgs& args, bool between_bounds, statistics::Keys keys);

}  // namespace verifier::draws
