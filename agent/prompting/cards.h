// Technique cards: prompts/techniques/*.md, one page each on one way to make kernels faster. Each opens with
//
//   ---
//   title: Wide loads and stores
//   helps: uncoalesced, memory_bound       bottlenecks, the most helped first
//   arch: any                              the least CUDA architecture: any, sm_80, sm_90, sm_90a, ...
//   backends: cpu, cuda
//   problems: any                          traits of problems (trait_names), or any
//   ---
//
// and contains one fenced block with a whole example solution. A prompt for the very problem that it solves shows the
// card without it: what a model finds there shall be its own.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/prompting/advice.h"
#include "agent/prompting/facts.h"

namespace agent::prompting {

struct Card {
  std::string name;  // the file's name without .md
  std::string title;
  std::vector<Bottleneck> helps;
  std::string arch;  // empty: any
  std::vector<std::string> backends;
  std::set<std::string> traits;  // of problems; empty: any
  std::string text;              // after the front matter
  std::string fragment;          // its example solution
  std::string problem;           // the problem that the example solves
};

// Throws core::InputError with file and line when the text has another form.
Card parse_card(std::string_view text, const std::string& file);
// All cards of a folder, in order of name.
std::vector<Card> load_cards(const std::filesystem::path& folder);

// Properties of a problem by which cards are chosen: its kind (benchsuite::ProblemKind), and besides
//   reduction        where each row gives one value
//   transcendental   where the reference computes exponentials, logarithms and their like
//   narrow           where an input is a float of 16 bits or an integer of 8
//   narrow_product   of kind gemm or attention, with operands as tensor cores take them
//   wide_product     the same, where all 24 bits of an f32 count
//   convolution      where the reference or its equivalent in PyTorch names one that is not depthwise
//   cached_attention of kind attention, with an input of integers: lengths, or a table of pages
//   selection        where an output holds several places in each row of an input, or PyTorch's topk is called
std::set<std::string> traits_of(const ProblemText& problem);
std::vector<std::string> trait_names();

struct CardWish {
  std::string backend, arch;                  // of the device: "cuda" and "sm_90a"
  std::set<std::string> traits;               // of the problem
  std::vector<Bottleneck> bottlenecks;        // the worst first; empty: choose by the problem alone
  std::set<std::string> seen;                 // cards of earlier prompts; unseen ones come first
  std::map<std::string, double> worths = {};  // of cards: of those that fit equally, the most worth comes first
};

// Up to `most` cards, the most useful first; only useful ones. Deterministic.
std::vector<const Card*> choose_cards(const std::vector<Card>& cards, const CardWish& wish, size_t most);

}  // namespace agent::prompting
