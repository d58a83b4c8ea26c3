// The two kinds of failure. A candidate's failure is neither: it is data (verifier/verdicts/verdict.h).
#pragma once

#include <stdexcept>
#include <string>

namespace core {

// Something the user gave us cannot be used. what() reads "<where>: <what>\n  <remedy>"; its first line is cleaned and
// cut (core/text.h). The program exits with code 1.
class InputError : public std::runtime_error {
 public:
  // where: a file, optionally followed by a JSON pointer or a line ("kernels/a.cu:12"); may be empty.
  // remedy: what to do about it, one sentence; may be empty.
  InputError(std::string where, std::string what, std::string remedy = "");

  const std::string& where() const { return where_; }
  const std::string& problem() const { return problem_; }
  const std::string& remedy() const { return remedy_; }

 private:
  std::string where_, problem_, remedy_;
};

// An option or argument of the command line is missing or has a value that is never right. Exit code 64.
class UsageError : public InputError {
 public:
  using InputError::InputError;
};

// Our own side failed: a worker could not start, a disk is full. Exit code 2; never charged to a candidate.
class SystemError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  // Appends the text of `error_number` (an errno value).
  SystemError(const std::string& what, int error_number);
};

}  // namespace core
