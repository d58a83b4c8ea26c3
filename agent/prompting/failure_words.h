// What to say of an attempt that failed, beyond what its verdict says.
#pragma once

#include <string>

#include "agent/prompting/diagnosis.h"

namespace agent {

// The first errors of a compiler's log, each with the line of the source that it is about. Empty when the log has none.
std::string first_errors(const std::string& log, const std::string& source, size_t most = 3);

// A line of the source with its number, and the one before it; empty when there is no such line.
std::string quoted_line(const std::string& source, int64_t line);

// "[3, 1020] of [7, 1023]": where a flat index lies in an output at the axes that a verdict names ("M=7 N=1023").
// Empty where the shape is not known or is flat itself.
std::string place_in_output(const benchsuite::Problem& problem, const std::string& output, const std::string& axes,
                            int64_t index);

// What a wrong element looks like: lost or doubled terms, the last row or column, another precision, ... Where the
// judge saw the pattern of all of them, its own sentence says so, and only odd sizes are added.
std::string pattern_of(const verifier::WrongResult& wrong, const benchsuite::Problem& problem,
                       const sandbox::TunableBinding& binding);

}  // namespace agent
