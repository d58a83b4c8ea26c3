// reference.py of a Definition.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/strict_json.h"

namespace agent::torch {

struct DefinitionReference {
  std::string text;                                // the Definition's "reference", which defines run()
  std::vector<std::string> parameters;             // of run()
  std::vector<std::string> outputs;                // as run() returns them
  std::string entry;                               // its function for custom inputs, which takes all numbers by name
  std::vector<std::string> custom;                 // the inputs that this function makes; empty: none
  std::map<std::string, core::Json> numbers;       // constant axes and scalars
  std::map<std::string, std::string> expressions;  // other axes, over the variable ones, in Python
};

// forward() calls run() and gives the outputs in order of name; inputs() calls the function for custom inputs, which
// draws with PyTorch's own generator, which the worker seeds.
std::string reference_of_definition(const DefinitionReference& reference);

}  // namespace agent::torch
