#include "sandbox/process/worker_program.h"

#include <CLI/CLI.hpp>
#include <exception>

#include "core/unique_fd.h"
#include "sandbox/process/worker.h"

namespace sandbox::process {

struct WorkerOptions::Parser {
  CLI::App app;

  template <typename Value>
  void add_each(const std::string& name, std::vector<Value>& values) {
    app.add_option("--" + name, values)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
};

WorkerOptions::WorkerOptions(const std::string& description, const std::vector<std::string>& roles)
    : parser_(std::make_unique<Parser>()) {
  parser_->app.description(description);
  parser_->app.add_option("--role", role_)->required()->check(CLI::IsMember(roles));
}

WorkerOptions::~WorkerOptions() = default;

WorkerOptions& WorkerOptions::add(const std::string& name, std::string& value) {
  parser_->app.add_option("--" + name, value);
  return *this;
}

WorkerOptions& WorkerOptions::add(const std::string& name, std::filesystem::path& value) {
  parser_->app.add_option("--" + name, value);
  return *this;
}

WorkerOptions& WorkerOptions::add(const std::string& name, int& value) {
  parser_->app.add_option("--" + name, value);
  return *this;
}

WorkerOptions& WorkerOptions::add(const std::string& name, size_t& value) {
  parser_->app.add_option("--" + name, value);
  return *this;
}

WorkerOptions& WorkerOptions::add(const std::string& name, bool& flag) {
  parser_->app.add_flag("--" + name, flag);
  return *this;
}

WorkerOptions& WorkerOptions::add(const std::string& name, std::vector<std::string>& values) {
  parser_->add_each(name, values);
  return *this;
}

WorkerOptions& WorkerOptions::add(const std::string& name, std::vector<std::filesystem::path>& values) {
  parser_->add_each(name, values);
  return *this;
}

int WorkerOptions::run(int argc, char** argv, const std::function<void(Channel& owner)>& serve) {
  CLI11_PARSE(parser_->app, argc, argv);
  Channel owner{core::UniqueFd(kWorkerChannelFd)};
  try {
    serve(owner);
  } catch (const ChannelClosed&) {
    return 0;
  } catch (const std::exception& error) {
    owner.send({{"error", error.what()}});
    return 1;
  }
  return 0;
}

}  // namespace sandbox::process
