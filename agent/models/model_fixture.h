// For tests: prompts, and waiting for answers.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "agent/models/model.h"

namespace agent::models::test {

inline Prompt prompt_of(const std::string& text) {
  return {"You write kernels.", {{Turn::Speaker::user, {{"The format is so.\n", true}, {text, false}}}}};
}

inline std::future<Answer> ask(Model& model, const Prompt& prompt, const Occasion& occasion = {"softmax_f32", 1},
                               const Sampling& sampling = {}) {
  const auto promise = std::make_shared<std::promise<Answer>>();
  model.ask(occasion, prompt, sampling, [promise](Answer answer) { promise->set_value(std::move(answer)); });
  return promise->get_future();
}

inline Answer wait_for(std::future<Answer> answer) {
  if (answer.wait_for(std::chrono::seconds(30)) != std::future_status::ready) throw std::runtime_error("no answer");
  return answer.get();
}

inline Completion completion_of(const Answer& answer) {
  if (const auto* none = std::get_if<NoCompletion>(&answer)) throw std::runtime_error("no completion: " + none->what);
  return std::get<Completion>(answer);
}

inline NoCompletion no_completion_of(const Answer& answer) {
  if (const auto* reply = std::get_if<Completion>(&answer)) throw std::runtime_error("a completion: " + reply->text);
  return std::get<NoCompletion>(answer);
}

}  // namespace agent::models::test
