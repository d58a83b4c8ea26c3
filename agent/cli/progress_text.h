// Shows the progress of a campaign: a live view on a terminal, plain lines elsewhere, or JSON lines.
#pragma once

#include <memory>
#include <string>

#include "agent/search/progress.h"

namespace agent::cli {

// JSON lines when `json`; otherwise a live view when stdout is a terminal, plain lines when it is not.
std::unique_ptr<search::Progress> make_progress(bool json);

std::string describe(const search::BudgetLeft& left);       // "40 attempts, 12 s"
std::string describe(const search::AttemptReport& report);  // "screen  float4_items BLOCK=64  correct  3.21x"
std::string describe(const search::ReplyReport& report);  // "3 requests, 900 tokens in (80 % from caches), 70 out, ..."

}  // namespace agent::cli
