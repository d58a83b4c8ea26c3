// The facts of a prompt in words: what fills the places of the templates.
#pragma once

#include <string>
#include <vector>

#include "agent/prompting/facts.h"
#include "agent/prompting/templates.h"

namespace agent {

TemplateValues problem_values(const ProblemText& problem, const std::string& backend);
std::string device_words(const DeviceText& device);

// "s12: 20.82x over naive [20.1x, 21.5x], 134.1 us, 87 % of the bound; block 256, ...; "what its author said""
std::string solution_line(const KnownSolution& known, const benchsuite::Problem& problem, const std::string& backend);
// The source in a fence, with a note where it was cut.
std::string source_block(const std::string& source, size_t most_bytes);

std::string bullets(const std::vector<std::string>& lines, size_t most);

// "one solution", "3 solutions that differ in structure"
std::string wanted_words(int wanted);
// Empty where nobody else is asked for the same.
std::string others_words(size_t alongside);

}  // namespace agent
