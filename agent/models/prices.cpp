#include "agent/models/prices.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "core/strict_json.h"
#include "core/text.h"

namespace agent::models {
namespace {
using core::JsonView;

constexpr double kMillion = 1e6;

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

// Removes a final "-20251101", "-2025-11-01" or "-latest".
std::string_view without_date(std::string_view name) {
  constexpr std::string_view kLatest = "-latest";
  const auto ends = [&](size_t length) { return name.size() > length ? name.substr(name.size() - length) : ""; };
  if (ends(kLatest.size()) == kLatest) return name.substr(0, name.size() - kLatest.size());
  if (const auto end = ends(9); !end.empty() && end[0] == '-' && is_number(end.substr(1))) {
    return name.substr(0, name.size() - 9);
  }
  if (const auto end = ends(11); !end.empty() && end[0] == '-' && end[5] == '-' && end[8] == '-' &&
                                 is_number(end.substr(1, 4)) && is_number(end.substr(6, 2)) &&
                                 is_number(end.substr(9))) {
    return name.substr(0, name.size() - 11);
  }
  return name;
}

double dollars(const JsonView& view) {
  const double value = view.number();
  if (!(value >= 0)) view.fail("a price is at least 0");
  return value;
}

std::string iso_date(const JsonView& view) {
  const std::string date = view.string();
  const bool right = date.size() == 10 && date[4] == '-' && date[7] == '-' && is_number(date.substr(0, 4)) &&
                     is_number(date.substr(5, 2)) && is_number(date.substr(8));
  if (!right) view.fail("is no date", "write it like 2026-11-21");
  return date;
}

Price price_from(const JsonView& view) {
  view.expect_object({"models", "input", "output", "as_of", "source"},
                     {"cache_read", "cache_write", "prompt_up_to", "until"});
  Price price;
  price.input = dollars(view.at("input"));
  price.output = dollars(view.at("output"));
  if (view.has("cache_read")) price.cache_read = dollars(view.at("cache_read"));
  if (view.has("cache_write")) price.cache_write = dollars(view.at("cache_write"));
  if (view.has("prompt_up_to")) price.prompt_up_to = view.at("prompt_up_to").integer(1);
  price.as_of = iso_date(view.at("as_of"));
  price.source = view.at("source").string();
  return price;
}
}  // namespace

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

Prices Prices::load(const std::filesystem::path& file, const std::string& today) {
  const core::Json json = core::parse_json(core::read_file(file), file.string());
  const JsonView root(json, file.string());
  root.expect_object({"prices"}, {"about"});
  Prices prices;
  for (const JsonView& entry : root.at("prices").items()) {
    const Price price = price_from(entry);
    if (entry.has("until") && iso_date(entry.at("until")) < today) continue;
    for (const JsonView& model : entry.at("models").items()) prices.prices_[model.string()].push_back(price);
  }
  return prices;
}

const Price* Prices::find(std::string_view model, int64_t prompt_tokens) const {
  constexpr std::string_view kChat = "openai-chat:";
  std::string name(without_date(model));
  if (name.compare(0, kChat.size(), kChat) == 0) name = "openai:" + name.substr(kChat.size());
  const auto found = prices_.find(name);
  if (found == prices_.end()) return nullptr;
  const auto fits = [&](const Price& price) { return !price.prompt_up_to || prompt_tokens <= *price.prompt_up_to; };
  const auto price = std::find_if(found->second.begin(), found->second.end(), fits);
  return price == found->second.end() ? nullptr : &*price;
}

std::optional<double> Prices::cost(const Usage& usage, std::string_view model) const {
  const Price* const price = find(model, usage.input + usage.cache_read + usage.cache_written);
  if (price == nullptr) return std::nullopt;
  if ((usage.cache_read > 0 && !price->cache_read) || (usage.cache_written > 0 && !price->cache_write)) {
    return std::nullopt;
  }
  const auto of = [](int64_t tokens, double each) { return static_cast<double>(tokens) * each / kMillion; };
  return of(usage.input, price->input) + of(usage.output, price->output) +
         of(usage.cache_read, price->cache_read.value_or(0)) + of(usage.cache_written, price->cache_write.value_or(0));
}

}  // namespace agent::models
