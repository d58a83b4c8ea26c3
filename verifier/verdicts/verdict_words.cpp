#include "verifier/verdicts/verdict_words.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <map>

namespace verifier::verdicts {
namespace {
std::string nine_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", share * 100);
  return text.data();
}

// `workload`: a listed workload, or a kind of drawn shape.
std::string place_of(const std::string& workload) {
  static const std::map<std::string, std::string> kDrawn{
      {"unseen", "at an unseen shape"},
      {"residue", "at a small shape drawn for its residues"},
      {"square", "at a square shape"},
      {"end of the domain", "at an end of the domain"},
      {"number of the source", "at a shape with a size named in the source"},
      {"numbers of the source", "at a large shape with sizes named in the source"},
      {"conditions of the source", "at a shape that meets conditions of the source"},
  };
  const auto drawn = kDrawn.find(workload);
  return drawn == kDrawn.end() ? "at workload " + workload : drawn->second;
}

// "at workload test_7x1023 (M=7 N=1023, inputs ordinary, order reverse)"
std::string place(const Where& where) {
  std::string text = place_of(where.workload);
  std::string details = where.axes;
  if (!where.distribution.empty()) details += std::string(details.empty() ? "" : ", ") + "inputs " + where.distribution;
  if (!where.order.empty()) details += std::string(details.empty() ? "" : ", ") + where.order + " thread order";
  return text + (details.empty() ? "" : " (" + details + ")");
}

std::string place(const std::optional<Where>& where) {
  return where && !where->workload.empty() ? place(*where) : "while it was loaded";
}

// "lines 40 to 46 and 52"
std::string lines_in_words(const std::vector<int64_t>& lines) {
  std::vector<std::string> ranges;
  for (size_t first = 0, past = 0; first < lines.size(); first = past) {
    for (past = first + 1; past < lines.size() && lines[past] == lines[past - 1] + 1;) ++past;
    ranges.push_back(std::to_string(lines[first]) +
                     (past == first + 1 ? "" : " to " + std::to_string(lines[past - 1])));
  }
  std::string words = lines.size() == 1 ? "line " : "lines ";
  for (size_t i = 0; i < ranges.size(); ++i) {
    words += (i == 0 ? "" : i + 1 == ranges.size() ? " and " : ", ") + ranges[i];
  }
  return words;
}

std::string coverage_sentence(const Scope& scope) {
  if (!scope.not_run) return "";
  if (scope.not_run->empty()) return " All of its code was seen to run.";
  return " Not seen to run: all of " + lines_in_words(*scope.not_run) + ".";
}

std::string scope_sentence(const Scope& scope) {
  if (scope.elements == 0) return "";
  std::string axes;
  for (const auto& [axis, size] : scope.largest)
    axes += (axes.empty() ? "" : ", ") + axis + " to " + std::to_string(size);
  return " Checked with " + axes + "; the largest tensor had " + std::to_string(scope.elements) + " elements." +
         coverage_sentence(scope);
}

std::string host_check_sentence(const std::optional<HostCheck>& check) {
  if (!check) return "";
  if (check->passed) {
    return std::string(" The cpu device found no race and no access out of bounds in it") +
           (check->why_not.empty() ? "" : " at its test shapes") +
           (check->dismissed.empty() ? "." : ", so this does not count: " + check->dismissed) +
           (check->why_not.empty() ? "" : " Larger shapes take too long there: " + check->why_not);
  }
  return " The cpu device could not look for races: " + check->why_not;
}

std::string counted(int64_t part, int64_t whole) { return std::to_string(part) + " of " + std::to_string(whole); }
}  // namespace

std::string what_was_seen(const Correct& v) {
  return "Correct in " + std::to_string(v.launches) + " compared launches; the largest error is " +
         percent(v.worst_ratio) + " of what the contract allows" +
         (v.deterministic ? "." : "; thread order changes the last bits.") + scope_sentence(v.scope) +
         host_check_sentence(v.host_check);
}
std::string what_was_seen(const CompileFailed& v) {
  return (v.line ? "Line " + std::to_string(*v.line) + ": " : std::string()) + v.message;
}
std::string what_was_seen(const InvalidPlan& v) { return "The launch plan cannot be used: " + v.message; }
std::string what_was_seen(const WrongResult& v) {
  const bool by_rule = v.pattern && v.pattern->kind == PatternKind::rule;  // such outputs have no allowed error
  return "Wrong result " + place(v.where) + ": " + v.output + "[" + std::to_string(v.index) + "] is " +
         nine_digits(v.got) + " where " + nine_digits(v.expected) + " is right" +
         (by_rule ? "; " : ", " + nine_digits(v.ratio) + " times the allowed error; ") +
         counted(v.wrong_elements, v.elements) + " elements are wrong." + (v.pattern ? " " + v.pattern->sentence : "");
}
std::string what_was_seen(const NotWritten& v) {
  return "Not written " + place(v.where) + ": " + counted(v.count, v.elements) + " elements of " + v.output +
         " still hold what was there before the launch, the first at index " + std::to_string(v.index) + ".";
}
std::string what_was_seen(const WrongNonFinite& v) {
  return "NaN or infinity out of place " + place(v.where) + ": " + v.output + "[" + std::to_string(v.index) + "] is " +
         nine_digits(v.got) + " where " + nine_digits(v.expected) + " is right.";
}
std::string what_was_seen(const OrderDependent& v) {
  return "Right in one thread order and wrong in another " + place(v.where) + ": " + v.output + "[" +
         std::to_string(v.index) + "] depends on which thread runs first.";
}
std::string what_was_seen(const GuardDamaged& v) { return "Wrote outside of " + v.buffer + " " + place(v.where) + "."; }
std::string what_was_seen(const InputModified& v) {
  return "Changed its input " + v.input + " " + place(v.where) + ".";
}
std::string what_was_seen(const Faulted& v) { return v.fault.describe() + " (" + place(v.where) + ")"; }
std::string what_was_seen(const TimedOut& v) {
  if (!v.where) {
    return "Did not end within " + nine_digits(v.limit_s) +
           " s: loading it, preparing its launches, or all of judging it.";
  }
  const std::string limit = v.limit_s > 0 ? " within " + nine_digits(v.limit_s) + " s" : " within its processor time";
  return "Did not end" + limit + " " + place(v.where) + ".";
}
std::string what_was_seen(const Crashed& v) {
  std::string how;
  if (v.signal > 0) {
    const char* name = ::strsignal(v.signal);
    how = " by signal " + std::to_string(v.signal) + (name != nullptr ? std::string(" (") + name + ")" : "");
  }
  return "The candidate's process ended" + how + " " + place(v.where) + ".";
}
std::string what_was_seen(const ForbiddenCall& v) {
  return "The candidate asked the operating system for what no kernel needs and was stopped " + place(v.where) + ".";
}
std::string what_was_seen(const MemoryLimit& v) { return "Out of memory: " + v.message + "."; }
std::string what_was_seen(const TooFast& v) {
  return "Workload " + v.workload + " took " + nine_digits(v.time_us) + " us, less than the " +
         nine_digits(v.floor_us) +
         " us that the device needs at least: not all of the work was done, or something else used the GPU when it was "
         "calibrated (kernelwright calibrate measures it again).";
}

std::string what_to_change(const Correct&) { return "Make it faster and keep it correct."; }
std::string what_to_change(const CompileFailed& v) {
  switch (v.reason) {
    case sandbox::Rejection::compile_error:
      return "Mend the source so that it compiles as CUDA C++17 without standard headers.";
    case sandbox::Rejection::unsupported:
      return "Express it with plain CUDA C++, which every device executes.";
    case sandbox::Rejection::forbidden:
      return "Leave this construct out; kernels need device code only.";
    case sandbox::Rejection::limit:
      return "Make the source smaller: fewer templates, less unrolling.";
  }
  return "";
}
std::string what_to_change(const InvalidPlan&) {
  return "Mend the header's expressions so that they hold for every shape of the problem.";
}
std::string what_to_change(const WrongResult& v) {
  if (v.pattern) return "";  // its sentence says it
  return "Check indexing at the edges of the shape, sizes that are no multiple of the tile, and the precision of sums.";
}
std::string what_to_change(const NotWritten&) {
  return "Write every element of the output in every launch, also the last partial tile.";
}
std::string what_to_change(const WrongNonFinite&) {
  return "Guard against overflow and division by zero; never read memory that was not written.";
}
std::string what_to_change(const OrderDependent&) {
  return "There is a race: put __syncthreads() or __syncwarp() between a write and the reads of other threads.";
}
std::string what_to_change(const GuardDamaged&) { return "Compare the index with the size before every store."; }
std::string what_to_change(const InputModified&) { return "Treat inputs as const; use a workspace for scratch data."; }
std::string what_to_change(const Faulted& v) {
  switch (v.fault.kind) {
    case sandbox::FaultKind::out_of_bounds:
      return "Compare the index with the size before every access.";
    case sandbox::FaultKind::misaligned:
      return "Use wide loads only where the address is a multiple of their size; keep a scalar path for the rest.";
    case sandbox::FaultKind::uninitialised:
      return "Write every element of shared memory and of workspaces before it is read, also those that pad a tile.";
    case sandbox::FaultKind::race:
      return "Put __syncthreads() or __syncwarp() between these accesses.";
    case sandbox::FaultKind::deadlock:
      return "Let every thread of the block reach the same barrier.";
    case sandbox::FaultKind::warp_misuse:
      return "Name in the mask exactly the lanes that take part, and let all of them call the same operation.";
    case sandbox::FaultKind::trap:
      return "Avoid the condition that traps.";
    case sandbox::FaultKind::resource_limit:
      return "Use less stack: smaller local arrays, no deep recursion.";
    case sandbox::FaultKind::invalid_launch:
      return "Make the launch plan fit the kernel: its arguments, block size and shared memory.";
    case sandbox::FaultKind::unsupported:
      return "Express it with plain CUDA C++, which every device executes.";
  }
  return "";
}
std::string what_to_change(const TimedOut&) {
  return "Make sure that every loop ends, and that the work per thread is bounded.";
}
std::string what_to_change(const Crashed&) { return "Look for wild pointers and endless recursion."; }
std::string what_to_change(const ForbiddenCall&) { return "Call nothing but device functions."; }
std::string what_to_change(const MemoryLimit&) { return "Use less memory."; }
std::string what_to_change(const TooFast&) { return "Compute every element from this launch's inputs."; }

}  // namespace verifier::verdicts
