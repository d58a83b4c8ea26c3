// kernelwright run --dry-run: estimates the cost of a campaign with models. Sends nothing and needs no key.
#pragma once

#include "agent/campaign/campaign.h"
#include "agent/campaign/startup.h"
#include "agent/cli/invocation.h"
#include "agent/cli/running/prompt_device.h"

namespace agent::cli::running {

// Measures each problem's first prompt for a device (prompt_device.h) and prints an estimate. Throws core::InputError
// if no model is named.
void print_estimate(const results::archive::Reader& archive, const campaign::CampaignSettings& settings,
                    const campaign::LoadedData& data, const PromptDevice& device, const Invocation& invocation);

}  // namespace agent::cli::running
