#include "agent/prompting/cards.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "benchsuite/backend.h"
#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"
#include "sandbox/gpu/driver/driver.h"
#include "sandbox/tokens.h"

namespace agent::prompting {
namespace {
constexpr size_t kMostCardBytes = size_t{16} << 10;

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (const std::string& part : core::split(list, ',')) words.emplace_back(core::trimmed(part));
  return words;
}

// "sm_90", "sm_90a"
bool is_architecture(const std::string& name) {
  if (name.rfind("sm_", 0) != 0) return false;
  const std::string number = name.substr(3, name.back() == 'a' ? name.size() - 4 : std::string::npos);
  return !number.empty() && number.size() <= 3 && number.find_first_not_of("0123456789") == std::string::npos;
}

// The fields between the two lines "---", by name.
class FrontMatter {
 public:
  FrontMatter(const std::vector<std::string>& lines, const std::string& file) : file_(file) {
    if (lines.empty() || lines[0] != "---") fail(1, "does not begin with \"---\"");
    for (size_t i = 1; i < lines.size(); ++i) {
      if (lines[i] == "---") {
        end_ = i + 1;
        return;
      }
      const size_t colon = lines[i].find(": ");
      if (colon == std::string::npos) fail(i + 1, "has no \"name: value\" here");
      if (!values_.emplace(lines[i].substr(0, colon), std::pair(core::trimmed(lines[i].substr(colon + 2)), i + 1))
               .second) {
        fail(i + 1, "says this twice");
      }
    }
    fail(lines.size(), "has no second \"---\"");
  }

  size_t end() const { return end_; }  // the first line after it, from 0
  std::string take(const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) fail(1, "does not say \"" + name + "\"");
    line_ = found->second.second;
    std::string value = found->second.first;
    values_.erase(found);
    return value;
  }
  void expect_nothing_more() const {
    if (!values_.empty())
      fail(values_.begin()->second.second, "says \"" + values_.begin()->first + "\", which no card has");
  }
  // Fails at the field that was read last.
  [[noreturn]] void fail_there(const std::string& what, const std::string& remedy) const {
    throw core::InputError(file_ + ":" + std::to_string(line_), what, remedy);
  }

 private:
  [[noreturn]] void fail(size_t line, const std::string& what) const {
    throw core::InputError(file_ + ":" + std::to_string(line), what,
                           "a card says title, helps, arch, backends and problems between two lines \"---\"");
  }

  const std::string& file_;
  std::map<std::string, std::pair<std::string, size_t>> values_;
  size_t end_ = 0, line_ = 1;
};

// The words of a list field; throws for a word not in `known`.
std::vector<std::string> known_words(const FrontMatter& front, const std::string& list,
                                     const std::vector<std::string>& known) {
  std::vector<std::string> words = words_of(list);
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      front.fail_there("\"" + word + "\" is not known", core::did_you_mean(word, known));
    }
  }
  return words;
}

void read_front_matter(FrontMatter& front, Card& card) {
  card.title = front.take("title");
  for (const std::string& word : known_words(front, front.take("helps"), core::enum_names<Bottleneck>())) {
    card.helps.push_back(*core::enum_from_name<Bottleneck>(word));
  }
  card.arch = front.take("arch");
  if (card.arch == "any") card.arch.clear();
  if (!card.arch.empty() && !is_architecture(card.arch)) {
    front.fail_there("\"" + card.arch + "\" is not an architecture", "write sm_80, or any");
  }
  card.backends = words_of(front.take("backends"));
  for (const std::string& backend : card.backends) {
    const std::vector<std::string> known = benchsuite::judged_backends();
    if (std::find(known.begin(), known.end(), backend) == known.end())
      front.fail_there("\"" + backend + "\" is not a backend", "write " + core::join(known, " or "));
  }
  if (const std::string traits = front.take("problems"); traits != "any") {
    for (const std::string& trait : known_words(front, traits, trait_names())) card.traits.insert(trait);
  }
  front.expect_nothing_more();
}

std::string fragment_of(const std::vector<std::string>& lines, const std::string& file) {
  std::string fragment;
  size_t opened = 0;
  bool inside = false;
  for (const std::string& line : lines) {
    if (line.rfind("```", 0) == 0) {
      if (!inside) ++opened;
      inside = !inside;
    } else if (inside) {
      fragment += line + "\n";
    }
  }
  if (opened != 1 || inside) throw core::InputError(file, "must have exactly one fenced block", "with a solution");
  return fragment;
}

// What its header names; empty where it has none.
std::string problem_of(const std::string& fragment) {
  constexpr std::string_view kField = "\"problem\": \"";
  const size_t at = fragment.find(kField);
  if (at == fragment.npos) return "";
  const size_t begin = at + kField.size();
  return fragment.substr(begin, fragment.find('"', begin) - begin);
}

// Traits of few problems: a card for one of them is about that computation.
const std::set<std::string> kRareTraits{"convolution", "cached_attention", "selection"};

// "conv2d", "ConvTranspose3d"
bool names_convolution(const std::string& name) {
  const bool begins = name.starts_with("conv") || name.starts_with("Conv");
  return begins && (name.ends_with("1d") || name.ends_with("2d") || name.ends_with("3d"));
}

// Ranks newer architectures higher, and features of a single one highest.
int newness(const std::string& arch) {
  if (arch.empty()) return 0;
  return std::stoi(arch.substr(3)) / 10 - 7 + (arch.back() == 'a' ? 1 : 0);
}

int score(const Card& card, const CardWish& wish) {
  int points = wish.bottlenecks.empty() ? 1 : 0;
  for (size_t w = 0; w < wish.bottlenecks.size(); ++w) {
    const auto helps = std::find(card.helps.begin(), card.helps.end(), wish.bottlenecks[w]);
    if (helps == card.helps.end()) continue;
    // Points for the worst bottleneck first and for a card's main use first.
    points += std::max(2, 12 - 4 * static_cast<int>(w)) - std::min(3, static_cast<int>(helps - card.helps.begin()));
  }
  if (points == 0 && !wish.bottlenecks.empty()) return 0;
  if (!card.traits.empty()) points += 4;
  if (std::ranges::any_of(card.traits, [](const std::string& trait) { return kRareTraits.count(trait) > 0; })) {
    points += 4;
  }
  points += newness(card.arch);
  if (card.backends.size() == 1) points += 1;
  if (wish.seen.count(card.name)) points = std::max(1, points - 6);
  return points;
}

bool suits(const Card& card, const CardWish& wish) {
  if (std::find(card.backends.begin(), card.backends.end(), wish.backend) == card.backends.end()) return false;
  if (wish.backend == "cuda" && !sandbox::gpu::driver::runs_on(wish.arch, card.arch)) return false;
  return card.traits.empty() || std::any_of(card.traits.begin(), card.traits.end(),
                                            [&](const std::string& trait) { return wish.traits.count(trait) > 0; });
}
}  // namespace

std::set<std::string> traits_of(const ProblemText& text) {
  const benchsuite::Problem& problem = text.problem;
  std::set<std::string> traits{std::string(name_of(problem.kind))};
  const auto has_many_values_per_row = [](const benchsuite::Tensor& output) { return output.shape.size() > 1; };
  if (problem.kind == benchsuite::ProblemKind::row_reduction &&
      std::none_of(problem.outputs.begin(), problem.outputs.end(), has_many_values_per_row)) {
    traits.insert("reduction");
  }
  const auto is_narrow = [](const benchsuite::Tensor& input) {
    return core::size_bytes(input.dtype) <= (core::is_floating(input.dtype) ? 2 : 1);
  };
  const bool narrow = std::ranges::any_of(problem.inputs, is_narrow);
  if (narrow) traits.insert("narrow");
  if (is_product(problem.kind)) {
    const bool wide = !narrow && !problem.contract.tf32 && problem.contract.accumulate == core::DType::f32;
    traits.insert(wide ? "wide_product" : "narrow_product");
  }
  static const std::set<std::string> kFunctions{"exp", "exp2", "expm1", "log", "log2", "log1p",
                                                "erf", "erfc", "tanh",  "sin", "cos",  "pow"};
  std::set<std::string> words;
  for (const sandbox::Token& token : sandbox::tokenize(text.reference)) {
    if (kFunctions.count(token.text)) traits.insert("transcendental");
    words.insert(token.text);
  }
  for (const sandbox::Token& token : sandbox::tokenize(problem.equivalents.pytorch)) words.insert(token.text);
  const auto holds_places = [](const benchsuite::Tensor& output) {
    return output.comparison.rule == benchsuite::OutputRule::indices && output.shape.size() > 1;
  };
  if (words.count("topk") || words.count("kthvalue") || std::ranges::any_of(problem.outputs, holds_places)) {
    traits.insert("selection");
  }
  const bool by_channel = problem.name.find("depthwise") != problem.name.npos;  // no product of matrices
  if (!by_channel && std::ranges::any_of(words, names_convolution)) traits.insert("convolution");
  const auto is_integer = [](const benchsuite::Tensor& input) {
    return !core::is_floating(input.dtype) && core::size_bytes(input.dtype) >= 4;
  };
  if (problem.kind == benchsuite::ProblemKind::attention && std::ranges::any_of(problem.inputs, is_integer)) {
    traits.insert("cached_attention");
  }
  return traits;
}

std::vector<std::string> trait_names() {
  std::vector<std::string> names = core::enum_names<benchsuite::ProblemKind>();
  names.insert(names.end(), {"transcendental", "narrow", "narrow_product", "wide_product", "convolution",
                             "cached_attention", "selection"});
  return names;
}

Card parse_card(std::string_view text, const std::string& file) {
  std::vector<std::string> lines = core::split(text, '\n');
  FrontMatter front(lines, file);
  Card card;
  card.name = std::filesystem::path(file).stem().string();
  read_front_matter(front, card);
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(front.end()));
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
  card.text = core::join(lines, "\n");
  card.fragment = fragment_of(lines, file);
  card.problem = problem_of(card.fragment);
  return card;
}

std::vector<Card> load_cards(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  if (error) throw core::InputError(folder.string(), "cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  std::vector<Card> cards;
  for (const std::filesystem::path& file : files) {
    cards.push_back(parse_card(core::read_file(file, kMostCardBytes), file.string()));
  }
  return cards;
}

std::vector<const Card*> choose_cards(const std::vector<Card>& cards, const CardWish& wish, size_t most) {
  struct Ranked {
    int points;
    double worth;
    const Card* card;
  };
  std::vector<Ranked> ranked;
  for (const Card& card : cards) {
    if (!suits(card, wish)) continue;
    const auto worth = wish.worths.find(card.name);
    if (const int points = score(card, wish); points > 0) {
      ranked.push_back({points, worth == wish.worths.end() ? 0 : worth->second, &card});
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(b.points, b.worth, a.card->name) < std::tie(a.points, a.worth, b.card->name);
  });
  std::vector<const Card*> chosen;
  for (size_t i = 0; i < std::min(most, ranked.size()); ++i) chosen.push_back(ranked[i].card);
  return chosen;
}

}  // namespace agent::prompting
