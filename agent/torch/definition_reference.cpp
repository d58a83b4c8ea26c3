#include "agent/torch/definition_reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace agent::torch {
namespace {
using core::Json;

// A JSON string is one of Python, too.
std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', true); }

std::string python_of(const Json& number) {
  if (number.is_boolean()) return number.get<bool>() ? "True" : "False";
  return number.dump();
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += quoted(name) + ", ";
  return list;
}

std::string inputs_function(const DefinitionReference& reference) {
  std::string numbers, expressions;
  for (const auto& [name, number] : reference.numbers) numbers += ", " + quoted(name) + ": " + python_of(number);
  for (const auto& [name, expression] : reference.expressions) {
    expressions += fmt::format("    numbers[{}] = eval({}, {{}}, numbers)\n", quoted(name), quoted(expression));
  }
  return fmt::format(R"python(

def inputs(axes, generator):
    import torch
    numbers = {{**axes{}}}
{}    try:
        drawn = {}(numbers, torch.device("cpu"))
    except Exception as error:
        raise ValueError(f"{{type(error).__name__}}: {{error}}") from error
    return {{name: drawn[name] for name in ({})}}
)python",
                     numbers, expressions, reference.entry, quoted_list(reference.custom));
}
}  // namespace

std::string reference_of_definition(const DefinitionReference& reference) {
  std::vector<std::string> passed, sorted = reference.outputs;
  for (const std::string& name : reference.parameters) passed.push_back(name + "=" + name);
  std::ranges::sort(sorted);
  return reference.text + "\n" + (reference.custom.empty() ? "" : inputs_function(reference)) +
         fmt::format(R"python(

def forward({}):
    results = run({})
    if not isinstance(results, dict):
        results = dict(zip(({}), results if isinstance(results, (tuple, list)) else (results,)))
    return tuple(results[name] for name in ({}))
)python",
                     core::join(reference.parameters, ", "), core::join(passed, ", "), quoted_list(reference.outputs),
                     quoted_list(sorted));
}

}  // namespace agent::torch
