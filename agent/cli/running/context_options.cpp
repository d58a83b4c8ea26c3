#include "agent/cli/running/context_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "core/error.h"

namespace agent::cli::running {

void add_context_options(CLI::App& command, models::Sampling& sampling) {
  const auto above_0 = [](const std::string& text) {
    const bool whole = !text.empty() && text.size() < 13 && text.find_first_not_of("0123456789") == std::string::npos;
    return whole && std::stoll(text) > 0 ? "" : "must be a whole number above 0, not \"" + text + "\"";
  };
  CLI::Option* output =
      command
          .add_option("--max-output", sampling.max_output_tokens,
                      "Tokens of one reply, thinking included (default: 16000, or a third of --context)")
          ->check(above_0);
  command
      .add_option(
          "--context", sampling.context_tokens,
          "Tokens that the model takes, prompt and reply together: prompts shrink to fit (default: what a local "
          "server says of itself)")
      ->check(above_0);
  command.parse_complete_callback([&sampling, output] {
    if (output->count() == 0) return fit_reply(sampling);
    if (sampling.context_tokens > 0 && sampling.max_output_tokens >= sampling.context_tokens) {
      throw core::UsageError("--max-output", "leaves no room for a prompt in --context",
                             "leave it out: a reply then gets a third of the context");
    }
  });
}

void fit_reply(models::Sampling& sampling) {
  if (sampling.context_tokens > 0) {
    sampling.max_output_tokens =
        std::min(sampling.max_output_tokens, std::max<int64_t>(1, sampling.context_tokens / 3));
  }
}

}  // namespace agent::cli::running
