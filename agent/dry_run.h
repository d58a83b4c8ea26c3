// kernelwright run --dry-run: what a campaign with models would cost. Nothing is sent, no key is needed.
#pragma once

#include "agent/campaign.h"
#include "agent/cli.h"
#include "agent/opening.h"

namespace agent {

// Measures each problem's first prompt and prints an estimate. Throws core::InputError when no model is named.
void print_estimate(const results::archive::Reader& archive, const CampaignSettings& settings, const Data& data,
                    const Shell& shell);

}  // namespace agent
