// A problem: the axes, tensors, numeric contract, cost and workloads of a computation. See docs/problem-format.md for
// the file format (problem.json), which follows the field names of FlashInfer-Bench where they fit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchsuite/safetensors.h"
#include "core/dtype.h"
#include "core/enum_names.h"
#include "core/expr.h"
#include "core/scalar.h"

namespace benchsuite {

// The shape of a computation: which techniques help it.
enum class ProblemKind {
  elementwise,    // each output element from the input elements at its place
  row_reduction,  // sums or maxima along each row: sums of rows, softmax, norms
  reduction,      // a few outputs from all inputs
  transpose,      // elements move and keep their values
  gemm,           // sums of products along an axis that two inputs share
  histogram,      // counts of integers
  scan,           // running sums
  attention,
};
KW_ENUM_NAMES(ProblemKind, elementwise, row_reduction, reduction, transpose, gemm, histogram, scan, attention)
// Products of matrices, which tensor cores take.
inline bool is_product(ProblemKind kind) { return kind == ProblemKind::gemm || kind == ProblemKind::attention; }

// Distribution of an input's elements in an ordinary (not adversarial) launch.
enum class Init {
  normal,    // N(0, scale)
  uniform,   // U[low, high)
  integers,  // uniform integers in [low, high]
  // Rows with a structure that the problem relies on. No distribution changes them (verifier/formulas/structures.h).
  permutation,       // each row holds 0, 1, ... once
  sorted,            // ascending, in [low, high); integers from low to high, both of which occur
  probabilities,     // not negative; each row adds up to 1
  triangular,        // as normal, with zeros above the diagonal of each matrix
  upper_triangular,  // the same with zeros below it
  given,             // by inputs() of reference.py, or by a file that the workload names
};
KW_ENUM_NAMES(Init, normal, uniform, integers, permutation, sorted, probabilities, triangular, upper_triangular, given)

struct InputInit {
  Init kind = Init::normal;
  double scale = 1;          // normal, triangular ones
  double largest = 0;        // of the same: a promise about the size of every element; 0: any finite number
  double low = 0, high = 1;  // uniform; sorted of floating dtypes
  // integers, and sorted of integer dtypes: both inclusive, over the axes ("low" and "high" in the file). These bounds
  // are the problem's domain: an adversarial distribution must keep to them too.
  core::Expr least = core::Expr::constant(0), most = core::Expr::constant(1);
  bool bounded = false;  // given: the problem promises these bounds, too

  // Whether elements of a row depend on each other.
  bool has_structured_rows() const {
    return kind == Init::permutation || kind == Init::sorted || kind == Init::probabilities || kind == Init::given;
  }
  bool is_triangular() const { return kind == Init::triangular || kind == Init::upper_triangular; }
};

// How an output is held against the reference's.
enum class OutputRule {
  elements,   // each element, within what the contract tolerates; integers bit for bit
  equal,      // each element, to the last bit
  any_order,  // the elements of each row, in whatever order
  indices,    // places in the rows of an input: each must hold what the reference's place holds, none occurs twice
  quanta,     // integers that were rounded: each the nearest to the reference, which gives the unrounded number
  between,  // i64 where rounding decides: the reference holds the least right number in the low 32 bits of its element,
            // the largest one in the high 32 bits
};
KW_ENUM_NAMES(OutputRule, elements, equal, any_order, indices, quanta, between)
struct OutputComparison {
  OutputRule rule = OutputRule::elements;
  // For indices: the input; an output that must hold the value at each place, or ""; whether the places of a row may
  // stand in any order.
  std::string into, values;
  bool in_any_order = false;
};

struct Tensor {
  std::string name;
  core::DType dtype;
  std::vector<core::Expr> shape;     // over the axes; row-major, at least one dimension
  InputInit init;                    // inputs only
  OutputComparison comparison = {};  // outputs only

  int64_t elements(const core::Bindings& axes) const;  // throws core::ExprError
  int64_t bytes(const core::Bindings& axes) const;
  bool holds_integers() const { return init.kind == Init::integers || !core::is_floating(dtype); }
  // Of an output: the dtype in which a reference gives it.
  core::DType reference_dtype() const {
    return core::is_floating(dtype) || comparison.rule == OutputRule::quanta ? core::DType::f64 : dtype;
  }
  // Whether an output may be off by rounding errors such as the naive solution makes.
  bool tolerates_rounding() const {
    return core::is_floating(dtype) &&
           (comparison.rule == OutputRule::elements || comparison.rule == OutputRule::any_order);
  }
};

// A constant of the computation that plans pass to kernels by name. reference.py and equivalents.pytorch get it by
// name, too, all of them rounded to its dtype.
struct NamedScalar {
  std::string name;
  core::Scalar value;
};

// A size, and the values it can have: multiples of `multiple_of` within [min, max], both of which are multiples
// themselves; or a list of values, from `min` to `max`. Unseen shapes are drawn from it.
struct Axis {
  std::string name;
  std::string description;
  int64_t min = 1, max = 1, multiple_of = 1;
  std::vector<int64_t> values = {};  // ascending; empty: no list

  bool contains(int64_t size) const;
  int64_t at_most(int64_t size) const;  // the greatest value that is not above `size`, or else the least
  std::string domain() const;           // "4 to 4096, a multiple of 4"; "64, 128 or 256"
};

struct Contract {
  core::DType accumulate;       // the least precise type in which sums may be kept
  bool tf32 = false;            // may matrix products use TF32
  bool nan = false;             // are NaN and Inf inputs defined (they propagate as in the reference)
  bool exact_integers = false;  // bit-exact for whole numbers (only sums, and products of two: see the exact battery)
  std::optional<core::Expr> sums;  // over the axes: terms of the longest sum behind an output element, if that is
                                   // not how many input elements there are to each output element
};

struct Cost {  // expressions over the axes
  core::Expr flops, bytes_read, bytes_written;
};

enum class Role { test, bench };
KW_ENUM_NAMES(Role, test, bench)

// A tensor of a safetensors file in the problem's folder.
struct InputFile {
  std::string file, tensor;
};

struct Workload {
  std::string name;  // unique in its problem
  Role role;
  core::Bindings axes;
  std::vector<std::string> devices;              // backends it is meant for ("cpu", "cuda", "hip"); empty means all
  double weight = 1;                             // how often the shape occurs beside the others; of a bench workload
  std::map<std::string, InputFile> inputs = {};  // by name: those whose content is always that of a file

  bool runs_on(std::string_view backend) const;
};

// Library calls that people would use instead of their own kernel. Timed by the same rules, never a candidate.
struct Equivalents {
  // One line of Python over the inputs, the axes (as integers), torch and F = torch.nn.functional: the output, or a
  // tuple of the outputs in order of name. Or a function of several lines, "def equivalent(x, N):\n ...", which may
  // also return a dict of the outputs by name. Empty: none.
  std::string pytorch;
  std::vector<std::string> parameters;  // of the function; empty for one line
  // Both as Python source: the function's definition, or "", and the expression of its value.
  std::string definition() const { return parameters.empty() ? "" : pytorch; }
  std::string call() const;
  // A matrix product c = a b of row-major matrices: the names of a, b and c. Empty, or three.
  std::vector<std::string> gemm;
};

// The files that define a problem besides problem.json.
inline constexpr std::string_view kReferenceFile = "reference.cu";  // fp64; writes floating outputs as double*
inline constexpr std::string_view kNaiveFile = "naive.cu";          // plain, obeys the contract
inline constexpr std::string_view kPytorchFile = "reference.py";    // instead of both: the truth in PyTorch
inline constexpr std::string_view kDataFile = "data.sha256";  // made when it is loaded: the hash of each data file
using SourceFiles = std::map<std::string, std::string, std::less<>>;  // the text by file name
// The files that workloads name, by file name.
using DataFiles = std::map<std::string, std::shared_ptr<const Safetensors>, std::less<>>;

struct Problem {
  std::string name;
  std::string title;        // "GELU, fp32"
  std::string description;  // the formula and its conventions, for people and models
  ProblemKind kind = ProblemKind::elementwise;
  std::vector<Axis> axes;
  std::vector<Tensor> inputs, outputs;  // each in order of name, as are the axes and scalars
  std::vector<NamedScalar> scalars;
  Contract contract;
  Cost cost;
  std::vector<Workload> workloads;
  Equivalents equivalents;
  std::filesystem::path folder;  // empty: it comes from an archive
  std::string json_text;         // problem.json as read; sent to the judge
  SourceFiles files;             // reference.cu and naive.cu, or reference.py, as read; and data.sha256
  DataFiles data;                // empty for a problem from an archive, which keeps their hashes

  const Tensor* find_tensor(std::string_view name) const;
  const core::Scalar* find_scalar(std::string_view name) const;
  bool has_given_inputs() const;  // whether inputs() or files give any
  std::vector<std::string> axis_names() const;
  // The path of one of its files, for messages; below the problem's name if it has no folder.
  std::filesystem::path place_of(std::string_view file) const;
  std::filesystem::path reference_file() const { return place_of(kReferenceFile); }
  std::filesystem::path naive_file() const { return place_of(kNaiveFile); }
  std::filesystem::path pytorch_file() const { return place_of(kPytorchFile); }
  bool pytorch() const { return files.find(kPytorchFile) != files.end(); }
};

// Parses and validates problem.json text. `file` names it in errors. Throws core::InputError with file, JSON pointer
// and remedy. Every expression has been evaluated at each workload and at the ends of the axis domains. `folder` stays
// empty.
Problem parse_problem(std::string_view json_text, const std::string& file);
// Hash of everything that defines the task: problem.json without "kind", and the source files. A result counts for
// these files only. "kind" only guides prompts, so archives from before it existed stay comparable.
std::string content_hash(const Problem& problem);
std::string content_hash(const std::string& json_text, const SourceFiles& files);
// Reads a problem's folder: problem.json, the source files and the data files. The problem must be called like its
// folder. Throws core::InputError.
Problem load_problem(const std::filesystem::path& folder);
// Does the folder hold any file of a problem?
bool looks_like_problem(const std::filesystem::path& folder);

}  // namespace benchsuite
