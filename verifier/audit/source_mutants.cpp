#include <algorithm>
#include <cstdlib>

#include "sandbox/tokens.h"
#include "verifier/audit/damage.h"
#include "verifier/audit/loops.h"
#include "verifier/audit/mutants.h"
#include "verifier/audit/rewriting.h"

namespace verifier::audit {
namespace {
using core::DType;
using sandbox::Token;
using sandbox::TokenKind;
constexpr const char* kTooWide =
    "this precision passes: naive errs too much, or little of it reaches the outputs; make naive.cu more precise, "
    "or allow this in the contract";
constexpr const char* kUnseen = "choose test shapes and inputs (\"init\") that reveal this part of the work";
constexpr size_t kMostConstants = 3, kMostLoops = 4;

// Replaces float (or double): rounds every constructed or copied value.
constexpr std::string_view kNarrow = R"device(
// Added by the problem audit: @FLOAT with @BITS bits of significand.
struct audit_float {
  @FLOAT value;
  static __device__ @FLOAT rounded(@FLOAT v) {
    union { @FLOAT number; @WORD bits; } both;
    both.number = v;
    if ((both.bits & @EXPONENT) == @EXPONENT) return v;
    const @WORD odd = (both.bits >> @DROPPED) & 1;
    both.bits = (both.bits + (((@WORD)1 << (@DROPPED - 1)) - 1 + odd)) >> @DROPPED << @DROPPED;
    return both.number;
  }
  audit_float() = default;
  __device__ audit_float(const audit_float& v) : value(rounded(v.value)) {}
  template <typename T> __device__ audit_float(T v) : value(rounded((@FLOAT)v)) {}
  __device__ audit_float& operator=(const audit_float& v) { value = rounded(v.value); return *this; }
  __device__ operator @FLOAT() const { return rounded(value); }
  template <typename T> __device__ audit_float& operator+=(T v) { value = rounded(*this + (@FLOAT)v); return *this; }
  template <typename T> __device__ audit_float& operator-=(T v) { value = rounded(*this - (@FLOAT)v); return *this; }
  template <typename T> __device__ audit_float& operator*=(T v) { value = rounded(*this * (@FLOAT)v); return *this; }
  template <typename T> __device__ audit_float& operator/=(T v) { value = rounded(*this / (@FLOAT)v); return *this; }
};
)device";
constexpr std::string_view kOperator = R"device(
static __device__ audit_float operator@(const audit_float& a, const audit_float& b) { return (@FLOAT)a @ (@FLOAT)b; }
template <typename T> static __device__ audit_float operator@(const audit_float& a, T b) { return (@FLOAT)a @ (@FLOAT)b; }
template <typename T> static __device__ audit_float operator@(T a, const audit_float& b) { return (@FLOAT)a @ (@FLOAT)b; }
)device";

std::string narrow_float(bool wide, int bits) {
  std::string text(kNarrow);
  for (const char* sign : {"+", "-", "*", "/"}) {
    text += replaced(replaced(std::string(kOperator), "@FLOAT", "%"), "@", sign);
  }
  text = replaced(text, "%", "@FLOAT");
  text = replaced(text, "@FLOAT", wide ? "double" : "float");
  text = replaced(text, "@WORD", wide ? "unsigned long long" : "unsigned int");
  text = replaced(text, "@EXPONENT", wide ? "0x7FF0000000000000ull" : "0x7F800000u");
  text = replaced(text, "@DROPPED", std::to_string((wide ? 52 : 23) - bits));
  return replaced(text, "@BITS", std::to_string(bits));
}

class SourceMutantMaker {
 public:
  SourceMutantMaker(const benchsuite::Problem& problem, const sandbox::Solution& naive)
      : problem_(problem),
        header_(core::parse_json(naive.header, naive.file)),
        body_(body_of(naive)),
        tokens_(sandbox::tokenize(body_)) {}

  std::vector<Variant> make() {
    arithmetic();
    loops();
    constants();
    return std::move(variants_);
  }

 private:
  void add(const std::string& name, const std::string& what, const std::string& advice, const std::string& body) {
    core::Json header = header_;
    header["description"] = "made by the problem audit: " + what;
    variants_.push_back(
        {name, what, Must::be_refused, Equality::bits, false, advice, body, make_solution(header, body, name)});
  }

  // Sums and products in fewer bits than the contract's. (TF32 is different: it rounds inputs.)
  void arithmetic() {
    const DType accumulate = problem_.contract.accumulate;
    const bool wide = accumulate == DType::f64;
    if (!wide && accumulate != DType::f32) return;
    std::vector<Edit> edits;
    for (const Token& token : tokens_) {
      if (token.directive < 0 && token.is(wide ? "double" : "float"))
        edits.push_back({token.begin, token.end, "audit_float"});
    }
    if (edits.empty()) return;
    const std::vector<std::pair<int, const char*>> precisions =
        wide ? std::vector<std::pair<int, const char*>>{{23, "fp32"}}
             : std::vector<std::pair<int, const char*>>{{10, "fp16"}, {7, "bf16"}};
    for (const auto& [bits, name] : precisions) {
      if (bits > finest_bits_shown(problem_)) continue;
      add(std::string("arithmetic in ") + name,
          "every value of type " + std::string(wide ? "double" : "float") + " is rounded to " + std::to_string(bits) +
              " bits of significand",
          kTooWide, narrow_float(wide, bits) + rewrite(body_, edits));
    }
  }

  // Only sums: a maximum without the last element is often still right.
  void loops() {
    size_t made = 0;
    for (const Loop& loop : find_loops(body_)) {
      if ((!loop.stores && loop.sums.empty()) || made++ == kMostLoops) continue;
      add("loop over " + loop.variable + " " + std::to_string(made) + " ends early",
          "the last iteration of the loop in line " + std::to_string(loop.line) + " of naive's code is left out",
          kUnseen, rewrite(body_, {{loop.limit_begin, loop.limit_end, "(" + loop.limit + ") - 1"}}));
    }
  }

  void constants() {
    std::vector<std::string> seen;
    for (const Token& token : tokens_) {
      if (token.kind != TokenKind::number || token.directive >= 0 || token.text.rfind("0x", 0) == 0) continue;
      const bool floating = token.text.find_first_of(".eE") != std::string::npos;
      const double value = std::strtod(token.text.c_str(), nullptr);
      if (!floating || value == 0 || std::count(seen.begin(), seen.end(), token.text) > 0) continue;
      if (seen.size() == kMostConstants) break;
      seen.push_back(token.text);
      std::vector<Edit> edits;
      for (const Token& same : tokens_) {
        if (same.text == token.text && same.directive < 0)
          edits.push_back({same.begin, same.end, "(2 * " + same.text + ")"});
      }
      add(token.text + " doubled", "the constant " + token.text + " is twice as large", kUnseen, rewrite(body_, edits));
    }
  }

  const benchsuite::Problem& problem_;
  core::Json header_;
  std::string body_;
  std::vector<Token> tokens_;
  std::vector<Variant> variants_;
};
}  // namespace

std::vector<Variant> source_mutants(const benchsuite::Problem& problem, const sandbox::Solution& naive) {
  return SourceMutantMaker(problem, naive).make();
}

}  // namespace verifier::audit
