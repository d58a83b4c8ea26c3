#include "agent/cli/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "agent/cli/progress_text.h"
#include "agent/cli/table.h"

namespace agent::cli {
namespace {
constexpr size_t kCurveWidth = 24;
constexpr size_t kAttemptsShown = 3;
}  // namespace

std::string sparkline(const std::vector<double>& values, size_t width) {
  constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty()) return "";
  const double most = *std::max_element(values.begin(), values.end());
  const size_t count = std::min(width, values.size());
  std::string line;
  for (size_t i = 0; i < count; ++i) {
    const double value = values[(i + 1) * values.size() / count - 1];
    const double share = most > 1 ? std::clamp((value - 1) / (most - 1), 0.0, 1.0) : 0;
    line += kBars[static_cast<size_t>(share * (kBars.size() - 1))];
  }
  return line;
}

void LiveView::problem_started(const std::string& problem, std::string where) {
  searches_[problem] = {std::move(where), {}};
  if (searches_.size() == 1) attempts_.clear();
}

void LiveView::problem_ended(const std::string& problem) { searches_.erase(problem); }

void LiveView::attempted(const search::AttemptReport& report) {
  searches_[report.problem].best.push_back(report.best);
  left_ = describe(report.left);
  const std::string problem = searches_.size() > 1 ? report.problem + " " : "";
  attempts_.push_back(fmt::format("  #{} {}{}", report.number, problem, describe(report)));
  if (attempts_.size() > kAttemptsShown) attempts_.pop_front();
}

void LiveView::answered(const search::ReplyReport& report) {
  models_[report.model] = report.task + ": " + (report.failed.empty() ? "replied" : report.failed);
  spend_ = describe(report);
}

std::vector<std::string> LiveView::lines() const {
  std::vector<std::string> lines;
  for (const auto& [problem, search] : searches_) {
    lines.push_back(search.where);
    if (search.best.empty()) continue;
    lines.back() +=
        fmt::format("  best {}  {}", format_speed_up(search.best.back()), sparkline(search.best, kCurveWidth));
  }
  if (!left_.empty() && !lines.empty()) lines.back() += "  left " + left_;
  lines.insert(lines.end(), attempts_.begin(), attempts_.end());
  for (const auto& [model, what] : models_) lines.push_back("  " + model + ", " + what);
  if (!spend_.empty()) lines.push_back("  " + spend_);
  return lines;
}

}  // namespace agent::cli
