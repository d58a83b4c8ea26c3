// The main function of a worker program: its options, which kernelwright writes, and its channel.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/process/channel.h"

namespace sandbox::process {

// Kept apart from the library that parses them, which takes each program that includes it 12 s to compile.
class WorkerOptions {
 public:
  // `description` for --help; `roles` are what the program can serve as.
  WorkerOptions(const std::string& description, const std::vector<std::string>& roles);
  WorkerOptions(const WorkerOptions&) = delete;
  ~WorkerOptions();

  const std::string& role() const { return role_; }
  // The option --name; `value` has its default, and must live as long as this.
  WorkerOptions& add(const std::string& name, std::string& value);
  WorkerOptions& add(const std::string& name, std::filesystem::path& value);
  WorkerOptions& add(const std::string& name, int& value);
  WorkerOptions& add(const std::string& name, size_t& value);
  WorkerOptions& add(const std::string& name, bool& flag);  // without a value
  // Given once for each value.
  WorkerOptions& add(const std::string& name, std::vector<std::string>& values);
  WorkerOptions& add(const std::string& name, std::vector<std::filesystem::path>& values);

  // Parses the options and serves the owner. Returns the exit status: 0 where the owner hangs up; an exception goes to
  // the owner as {"error": text}, since nobody listens to the standard streams.
  int run(int argc, char** argv, const std::function<void(Channel& owner)>& serve);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::string role_;
};

}  // namespace sandbox::process
