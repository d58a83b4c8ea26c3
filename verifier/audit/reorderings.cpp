#include "verifier/audit/reorderings.h"

#include <algorithm>

#include "sandbox/tokens.h"
#include "verifier/audit/loops.h"
#include "verifier/audit/rewriting.h"

namespace verifier::audit {
namespace {
using core::Json;
using sandbox::Token;
using sandbox::TokenKind;

constexpr const char* kTooNarrow =
    "reference.cu may be wrong, or naive.cu more precise than its contract requires: keep sums in contract.accumulate";

std::string in(const std::string& text) { return "(" + text + ")"; }

class ReorderingMaker {
 public:
  explicit ReorderingMaker(const sandbox::Solution& naive)
      : header_(core::parse_json(naive.header, naive.file)),
        body_(body_of(naive)),
        tokens_(sandbox::tokenize(body_)),
        loops_(find_loops(body_)) {}

  std::vector<Variant> make() {
    backwards();
    halves();
    compensated();
    in_double();
    smaller_blocks();
    return std::move(variants_);
  }

 private:
  void add(const std::string& name, const std::string& what, const std::string& body, const Json& header) {
    Json described = header;
    described["description"] = "made by the problem audit: " + what;
    variants_.push_back({name, what, Must::be_accepted, Equality::never, false, kTooNarrow, body,
                         make_solution(described, body, name)});
  }
  void add_rewritten(const std::string& name, const std::string& what, std::vector<Edit> edits) {
    if (!edits.empty()) add(name, what, rewrite(body_, std::move(edits)), header_);
  }
  std::string source(size_t begin, size_t end) const { return body_.substr(begin, end - begin); }

  void backwards() {
    std::vector<Edit> edits;
    for (const Loop& loop : loops_) {
      if (!loop.any_order) continue;
      const std::string &v = loop.variable, first = "(long long)" + in(loop.start),
                        limit = "(long long)" + in(loop.limit), step = "(long long)" + in(loop.step),
                        v_down = "audit_" + v;
      const std::string last = limit + " > " + first + " ? " + first + " + (" + limit + " - 1 - " + first + ") / " +
                               step + " * " + step + " : " + first + " - 1";
      // The body sees the variable with its own type.
      edits.push_back({loop.begin, loop.header_end,
                       "for (long long " + v_down + " = " + last + "; " + v_down + " >= " + first + "; " + v_down +
                           " -= " + step + ") if (" + loop.type + " " + v + " = " + v_down + "; true)"});
    }
    add_rewritten("loops backwards", "loops run from their last iteration to the first", std::move(edits));
  }

  // Split-K in one thread: each half of the iterations has its own sums.
  void halves() {
    std::vector<Edit> edits;
    for (const Loop& loop : loops_) {
      if (!loop.only_sums || !loop.innermost) continue;
      const std::string middle = "audit_middle", body = source(loop.header_end, loop.end);
      std::string second_body = body;
      std::vector<Edit> renamed;
      std::string before = "{ const long long " + middle + " = (long long)" + in(loop.start) + " + ((long long)" +
                           in(loop.limit) + " - (long long)" + in(loop.start) + ") / 2 / (long long)" + in(loop.step) +
                           " * (long long)" + in(loop.step) + "; ";
      std::string after;
      for (const LoopSum& sum : loop.sums) {
        const std::string other = "audit_" + sum.variable;
        before += "decltype(" + sum.variable + ") " + other + " = 0; ";
        after += " " + sum.variable + " += " + other + ";";
        renamed.push_back({sum.begin - loop.header_end, sum.begin - loop.header_end + sum.variable.size(), other});
      }
      second_body = rewrite(body, renamed);
      const std::string header = source(loop.begin, loop.header_end);
      const std::string first_header =
          rewrite(header, {{loop.limit_begin - loop.begin, loop.limit_end - loop.begin, middle}});
      const size_t start = header.find('=') + 1;
      const std::string second_header = rewrite(header, {{start, header.find(';'), " " + middle}});
      edits.push_back(
          {loop.begin, loop.end, before + first_header + body + " " + second_header + second_body + after + " }"});
    }
    add_rewritten("sums in two halves", "sums each half of a loop separately, then adds the two", std::move(edits));
  }

  // Stops compensating once a sum is not finite, or infinity would become NaN.
  void compensated() {
    std::vector<Edit> edits;
    for (const Loop& loop : loops_) {
      if (!loop.only_sums || !loop.innermost) continue;
      std::vector<Edit> inner;
      std::string before = "{ ";
      for (const LoopSum& sum : loop.sums) {
        const std::string &v = sum.variable, lost = "audit_lost_" + v, type = "decltype(" + v + ") ";
        before += type + lost + " = 0; ";
        inner.push_back({sum.begin - loop.begin, sum.end - loop.begin,
                         "{ const " + type + "audit_term = (" + source(sum.expression_begin, sum.expression_end) +
                             ") - " + lost + "; const " + type + "audit_next = " + v + " + audit_term; " + lost +
                             " = (audit_next - " + v + ") - audit_term; if (" + lost + " - " + lost + " != 0) " + lost +
                             " = 0; " + v + " = audit_next; }"});
      }
      edits.push_back({loop.begin, loop.end, before + rewrite(source(loop.begin, loop.end), inner) + " }"});
    }
    add_rewritten("compensated sums", "compensated (Kahan) sums", std::move(edits));
  }

  void in_double() {
    std::vector<Edit> edits;
    int depth = 0;
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].directive >= 0) continue;
      if (tokens_[i].is("{")) ++depth;
      if (tokens_[i].is("}")) --depth;
      const Token& next = tokens_[i + 1];
      if (depth == 0 || !tokens_[i].is("float") || next.is("*") || next.is("&") || next.is(">")) continue;
      edits.push_back({tokens_[i].begin, tokens_[i].end, "double"});
    }
    add_rewritten("variables in double", "float variables are kept in double", std::move(edits));
  }

  bool names_number(int64_t number) const {
    return std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) {
      return token.kind == TokenKind::number && token.text == std::to_string(number);
    });
  }

  void smaller_blocks() {
    Json header = header_;
    bool changed = false;
    for (Json& launch : header.at("launches")) {
      Json &grid = launch.at("grid"), &block = launch.at("block");
      if (!block.at(0).is_number_integer() || !grid.at(0).is_string()) continue;
      const auto size = block.at(0).get<int64_t>();
      auto text = grid.at(0).get<std::string>();
      const std::string wanted = ", " + std::to_string(size) + ")";
      const bool divided = text.rfind("ceil_div(", 0) == 0 && text.size() > wanted.size() &&
                           text.find(wanted) == text.size() - wanted.size();
      if (!divided || size % 2 != 0 || names_number(size)) continue;
      grid.at(0) = text.substr(0, text.size() - wanted.size()) + ", " + std::to_string(size / 2) + ")";
      block.at(0) = size / 2;
      changed = true;
    }
    if (!changed) return;
    add("smaller blocks", "blocks have half of the threads in x", body_, header);
  }

  Json header_;
  std::string body_;
  std::vector<Token> tokens_;
  std::vector<Loop> loops_;
  std::vector<Variant> variants_;
};
}  // namespace

std::vector<Variant> reorderings(const sandbox::Solution& naive) { return ReorderingMaker(naive).make(); }

Variant written_variant(const sandbox::Solution& solution, const std::string& name, Must must) {
  return {name,
          solution.description.empty() ? "a solution from a file" : solution.description,
          must,
          Equality::never,
          true,
          "",
          body_of(solution),
          solution};
}

}  // namespace verifier::audit
