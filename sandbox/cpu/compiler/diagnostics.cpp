#include "sandbox/cpu/compiler/diagnostics.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "core/text.h"

namespace sandbox::cpu::compiler {
namespace {
constexpr size_t kLogBytes = 8192, kNameBytes = 100;
constexpr std::string_view kUnsupportedMark = "unsupported on the cpu device";

// Prefixes of names that CUDA declares and our headers do not; such an undeclared name is not the author's mistake.
constexpr std::string_view kCudaPrefixes[] = {"__kw_ptx_",
                                              "__nv_",
                                              "__nvvm_",
                                              "cuda",
                                              "__pipeline_",
                                              "__mbarrier_",
                                              "__cluster",
                                              "__tma_",
                                              "__isClusterShared",
                                              "__cvta_",
                                              "__create",
                                              "__set_",
                                              "__get_",
                                              "__nv_cvt_",
                                              "nanosleep",
                                              "surf",
                                              "tex",
                                              "__vabs",
                                              "__vset",
                                              "__vcmp",
                                              "__vadd",
                                              "__vsub",
                                              "__vmax",
                                              "__vmin",
                                              "__vav",
                                              "__vneg",
                                              "__dp2a",
                                              "__viadd",
                                              "__vi",
                                              "curand",
                                              "__builtin_amdgcn_",
                                              "__hip_",
                                              "__ockl_",
                                              "__ocml_",
                                              "hip",
                                              "HIP_"};

// Messages with which g++ and clang give up on a source that exceeds their limits.
constexpr std::string_view kLimitMarks[] = {"instantiation depth exceeds",
                                            "instantiation exceeded maximum depth",
                                            "instantiating fold expression with more than",
                                            "evaluation operation count exceeds",
                                            "evaluation depth exceeds",
                                            "loop iteration count exceeds",
                                            "evaluation hit maximum step limit",
                                            "evaluation exceeded maximum depth",
                                            "bracket nesting level exceeded",
                                            "nested too deeply"};

// The number behind "kernel.cu:" at its first mention in `text`.
std::optional<int64_t> first_line(std::string_view text) {
  const std::string mark = std::string(kSourceName) + ":";
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + mark.size());
  int64_t line = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
  return error == std::errc() && end != rest.data() ? std::optional(line) : std::nullopt;
}

// The name in  'X' was not declared  (g++) or  use of undeclared identifier 'X'  (clang), also "has no member named".
std::string_view undeclared_name(std::string_view message) {
  if (message.find("declared") == std::string_view::npos) return "";
  const size_t open = message.find('\'');
  const size_t close = open == std::string_view::npos ? open : message.find('\'', open + 1);
  return close == std::string_view::npos ? "" : message.substr(open + 1, close - open - 1);
}

bool is_unsupported(std::string_view message) {
  if (message.find(kUnsupportedMark) != std::string_view::npos) return true;
  const std::string_view name = undeclared_name(message);
  return std::ranges::any_of(
      kCudaPrefixes, [&](std::string_view prefix) { return !name.empty() && name.substr(0, prefix.size()) == prefix; });
}

// "__kw_ptx_foo_bar" is our spelling of an instruction; say it as the author knows it.
std::string shown_message(std::string_view message) {
  const std::string_view name = undeclared_name(message);
  if (!name.empty() && is_unsupported(message) && message.find(kUnsupportedMark) == std::string_view::npos) {
    const bool ptx = name.substr(0, 9) == "__kw_ptx_";
    const std::string shown = core::clean_line(ptx ? name.substr(9) : name, kNameBytes);
    return (ptx ? "the PTX instruction " : "") + shown + " is " + std::string(kUnsupportedMark);
  }
  return core::clean_line(message, 400);
}

std::optional<std::string> passed_limit(const std::string& output) {
  for (const std::string& text : core::split(output, '\n')) {
    const auto said = [&](std::string_view mark) { return text.find(mark) != std::string::npos; };
    if (std::ranges::none_of(kLimitMarks, said)) continue;
    const size_t said_at = text.find(": ", text.find(kSourceName) + 1);  // "kernel.cu:3:7: error: ..."
    return core::clean_line(said_at == std::string::npos ? text : text.substr(said_at + 2), 400);
  }
  return std::nullopt;
}
}  // namespace

std::string clean_log(const std::string& output, const std::string& shown_name) {
  std::string log = output;
  const std::string from = kSourceName;
  const std::string to = std::filesystem::path(shown_name).filename().string();
  for (size_t at = log.find(from); at != std::string::npos && !to.empty(); at = log.find(from, at + to.size())) {
    log.replace(at, from.size(), to);
  }
  return core::clean_text(log, kLogBytes);
}

Rejected classify_diagnostics(const std::string& output, const std::string& shown_name) {
  std::optional<std::string> first_error, first_unsupported;
  std::optional<int64_t> line;
  std::string context;  // the lines above an error tell where it was required from
  for (const std::string& text : core::split(output, '\n')) {
    const size_t error = text.find("error: ");
    if (error == std::string::npos) {
      // The line of an #include is not the line that uses the header.
      const bool included = text.find("In file included from") == 0 || text.find("                 from ") == 0;
      if (!included) context += text + "\n";
      continue;
    }
    const std::string message = text.substr(error + 7);
    const bool unsupported = is_unsupported(message);
    const bool better = unsupported && !first_unsupported;
    if (!first_error || better) {
      line = first_line(text);
      if (!line) line = first_line(context);
      if (!line) line = first_line(std::string_view(output).substr(output.find(text)));
    }
    if (!first_error) first_error = message;
    if (better) first_unsupported = message;
    context.clear();
  }
  if (const auto limit = passed_limit(output)) {
    return {Rejection::limit, *limit, line, clean_log(output, shown_name)};
  }
  const Rejection reason = first_unsupported ? Rejection::unsupported : Rejection::compile_error;
  const std::string message = first_unsupported ? *first_unsupported : first_error.value_or("the compiler gave up");
  return {reason, shown_message(message), line, clean_log(output, shown_name)};
}

}  // namespace sandbox::cpu::compiler
