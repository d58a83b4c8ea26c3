#include "agent/cli/running/run_options.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>

#include "agent/cli/running/context_options.h"

namespace agent::cli::running {

void add_dialect_option(CLI::App& command, std::string& dialect) {
  command.add_option("--dialect", dialect,
                     "The cpu device's language: cuda, hip (wavefronts of 64 lanes), hip32 (of 32). Results in HIP are "
                     "those of the devices cpu-hip and cpu-hip32, and --device accepts these names, too");
}

void add_model_options(CLI::App& command, models::ModelOptions& models) {
  command.add_option(
      "--key-file", models.key_file,
      "A file with the provider's key, read instead of ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY");
  command.add_option("--ca-file", models.ca_file, "A file of certificates to trust");
  const auto be_silent = [&models](double seconds) {
    models.limits.first_byte = models.limits.idle = std::chrono::milliseconds(std::llround(seconds * 1000));
  };
  command
      .add_option_function<double>(
          "--model-timeout", be_silent,
          "Seconds of a server's silence before a retry (default: 300 until its answer begins, then 120)")
      ->check(CLI::Range(0.001, 1e6));
}

void add_proposer_options(CLI::App& command, campaign::CampaignSettings& settings) {
  command
      .add_option(
          "--proposer", settings.proposers,
          "A language model: anthropic:MODEL, openai:MODEL, openai-chat:MODEL, gemini:MODEL, http://HOST:PORT/v1, "
          "exec:COMMAND (prompt on standard input, reply on standard output), "
          "inbox:DIR (replies are files that you or another agent write), replay:FILE (from kernelwright transcript); "
          "may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--planner", settings.planner,
                     "A language model that plans each solution, in a request of its own, before a proposer writes it");
  command.add_option("--in-flight", settings.models.in_flight, "Requests in flight at a time")
      ->check(CLI::Range(1, 1000));
  command.add_option("--lines", settings.models.lines, "Lines of descent, or islands")->check(CLI::Range(1, 1000));
  command.add_option("--wanted", settings.models.wanted, "Solutions in a reply")->check(CLI::Range(1, 8));
  command
      .add_option("--model-patience", settings.models.patience,
                  "Replies without a gain before the search has converged")
      ->check(CLI::Range(1, 1'000'000));
  command.add_flag("--hold-out", settings.held_out,
                   "The problems are for an evaluation: prompts use nothing of earlier campaigns, and later ones never "
                   "show winners of these problems");
  const auto above_0 = [](const std::string& text) {
    const bool whole = !text.empty() && text.size() < 13 && text.find_first_not_of("0123456789") == std::string::npos;
    return whole && std::stoll(text) > 0 ? "" : "must be a whole number above 0, not \"" + text + "\"";
  };
  command.add_option("--requests", settings.spending.requests, "Requests to make at most")->check(above_0);
  command.add_option("--tokens", settings.spending.tokens, "Tokens to spend at most, in and out")->check(above_0);
  command.add_option("--dollars", settings.spending.dollars, "Money to spend at most")->check(CLI::PositiveNumber);
  add_context_options(command, settings.sampling);
  command.add_option("--thinking", settings.sampling.thinking_tokens, "Tokens of a reply for extended thinking")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--temperature", settings.sampling.temperature, "Temperature of the models (default: their own)")
      ->check(CLI::Range(0.0, 2.0));
}

}  // namespace agent::cli::running
