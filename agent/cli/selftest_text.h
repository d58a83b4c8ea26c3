// Selftests as text.
#pragma once

#include <string>

#include "agent/campaign/selftest.h"

namespace agent::cli {

std::string selftest_text(const campaign::SelftestReport& report);
// One line: "0 false accepts of 140, ..."
std::string selftest_line(const results::archive::SelftestRecord& record);

}  // namespace agent::cli
