// The host's processor, as the system describes it.
#pragma once

#include <string>
#include <string_view>

namespace agent::campaign {

// `cpuinfo`: the text of /proc/cpuinfo. "unknown" where it does not say.
std::string processor_name(std::string_view cpuinfo);

// "AVX-512: vectors of 64 bytes; FMA; conversions of f16 in hardware". Empty where it does not say.
std::string vector_words(std::string_view cpuinfo);

}  // namespace agent::campaign
