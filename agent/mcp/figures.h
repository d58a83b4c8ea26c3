// Figures for models.
#pragma once

#include "core/strict_json.h"

namespace agent::mcp {

// Every figure with five digits: more say nothing to a model, and cost it tokens. For what was measured; a definition
// must stay exact.
core::Json with_short_figures(core::Json json);

}  // namespace agent::mcp
