// What a campaign tells its watchers, in words: for a part of a line each.
#pragma once

#include <string>

#include "agent/progress.h"

namespace agent {

std::string describe(const BudgetLeft& left);        // "40 attempts, 12 s"
std::string describe(const AttemptReport& report);   // "screen  float4_items BLOCK=64  correct  3.21x"
std::string describe(const ExchangeReport& report);  // "3 requests, 900 tokens in (80 % from caches), 70 out, ..."

}  // namespace agent
