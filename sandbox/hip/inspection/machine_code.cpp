#include "sandbox/hip/inspection/machine_code.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace sandbox::hip::inspection {
namespace {
constexpr std::string_view kNoUse = ", which has no honest use in kernels";

// By the begin of a mnemonic. The first that fits counts.
struct Refusal {
  std::string_view begin, what;
};
constexpr std::string_view kClock = "reads a clock";
constexpr std::string_view kThroughRegister =
    "calls, returns or jumps through a register: a kernel here calls only what can be inlined (no __noinline__, "
    "recursion, function pointers or virtual functions), and is smaller than 128 KiB";
constexpr std::string_view kTexture = "reads a texture: use plain loads";
constexpr std::string_view kOutlasts = "uses memory of the whole device (GDS), which outlasts a launch";
constexpr Refusal kRefusals[] = {{"s_memtime", kClock},
                                 {"s_memrealtime", kClock},
                                 {"s_sendmsg_rtn", "asks the hardware for a clock or a place"},
                                 {"s_get_shader_cycles", kClock},
                                 {"s_setpc", kThroughRegister},
                                 {"s_swappc", kThroughRegister},
                                 {"s_call", kThroughRegister},
                                 {"s_rfe", kThroughRegister},
                                 {"s_cbranch_i_fork", kThroughRegister},
                                 {"s_cbranch_g_fork", kThroughRegister},
                                 {"s_cbranch_join", kThroughRegister},
                                 {"s_cbranch_cdbg", "asks whether a debugger watches it"},
                                 {"s_incperflevel", "uses performance counters"},
                                 {"s_decperflevel", "uses performance counters"},
                                 {"s_ttracedata", "uses performance counters"},
                                 {"s_sethalt", "halts"},
                                 {"s_setkill", "kills its wave"},
                                 {"s_endpgm_saved", "saves its wave"},
                                 {"s_atc_probe", "probes the translation of addresses"},
                                 {"s_icache_inv", "changes its code"},
                                 {"ds_gws_", kOutlasts},
                                 {"ds_ordered_count", kOutlasts},
                                 {"ds_append", kOutlasts},
                                 {"ds_consume", kOutlasts},
                                 {"exp", "exports colours"},
                                 {"image_", kTexture},
                                 {"tbuffer_", kTexture}};

// Hardware registers that a compiler's own code reads or sets: rounding, where local and private memory lie.
constexpr std::string_view kHonestRegisters[] = {"HW_REG_MODE", "HW_REG_SH_MEM_BASES", "HW_REG_FLAT_SCR_LO",
                                                 "HW_REG_FLAT_SCR_HI"};

// Registers that hold what only the hardware and the driver know, as words of the operands. A ttmp register may hold
// the number of a block on gfx12.
constexpr std::string_view kDriverRegisters[] = {"ttmp", "tba", "tma", "src_pops_exiting_wave_id"};
constexpr std::string_view kBlockNumbers[] = {"ttmp7", "ttmp9"};

template <size_t n>
bool is_one_of(const std::string_view (&names)[n], std::string_view word) {
  return std::ranges::find(names, word) != std::end(names);
}

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Words of an instruction's text: the mnemonic, then names and numbers of the operands.
std::vector<std::string_view> words_of(std::string_view text) {
  text = text.substr(0, text.find("//"));
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end > at ? end : at + 1;
  }
  return words;
}

std::optional<std::string> refuse_register(std::string_view word) {
  for (const std::string_view name : kDriverRegisters) {
    if (word.starts_with(name) && !is_one_of(kBlockNumbers, word)) {
      return "uses the register " + core::clean_line(std::string(word), 40) + std::string(kNoUse);
    }
  }
  return std::nullopt;
}

bool is_padding(std::string_view mnemonic) { return mnemonic == "s_nop" || mnemonic == "s_code_end"; }
// After s_trap the driver ends the wave.
bool ends_a_path(std::string_view mnemonic) {
  return mnemonic == "s_endpgm" || mnemonic == "s_branch" || mnemonic == "s_trap";
}

// Branches have 16 bits: words from the next instruction.
std::optional<int64_t> branch_words(const std::vector<std::string_view>& words) {
  if (words.empty() || !(words[0].starts_with("s_branch") || words[0].starts_with("s_cbranch") ||
                         words[0].starts_with("s_subvector_loop"))) {
    return std::nullopt;
  }
  const std::string_view last = words.back();
  int64_t number = 0;
  if (std::from_chars(last.data(), last.data() + last.size(), number).ec != std::errc()) return 0;
  return static_cast<int16_t>(number);
}
}  // namespace

std::optional<std::string> refuse_instruction(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.empty()) return "holds bytes that are no instructions among its code";
  const std::string_view mnemonic = words[0];
  for (const Refusal& refusal : kRefusals) {
    if (!mnemonic.starts_with(refusal.begin)) continue;
    if (refusal.begin == "exp" && mnemonic != "exp" && !mnemonic.starts_with("export")) continue;
    const bool says_all = refusal.what.find(':') != std::string_view::npos;
    return std::string(refusal.what) + (says_all ? "" : std::string(kNoUse));
  }
  if (mnemonic.starts_with("s_getreg") || mnemonic.starts_with("s_setreg")) {
    const bool honest =
        std::ranges::any_of(words, [](std::string_view word) { return is_one_of(kHonestRegisters, word); });
    if (!honest) {
      return "reads or sets the hardware register " + core::clean_line(std::string(words.back()), 40) + " (" +
             core::clean_line(std::string(text), 80) + "): clocks and places have no honest use in kernels";
    }
  }
  if (mnemonic.starts_with("s_sendmsg") && !std::ranges::count(words, "MSG_DEALLOC_VGPRS")) {
    return "sends a message to the host or the hardware" + std::string(kNoUse);
  }
  if (mnemonic == "s_trap" && words.back() != "2") return "calls the driver's trap handler" + std::string(kNoUse);
  if (mnemonic.starts_with("ds_") && words.back() == "gds") return std::string(kOutlasts) + std::string(kNoUse);
  for (size_t i = 1; i < words.size(); ++i) {
    if (auto refused = refuse_register(words[i])) return refused;
  }
  return std::nullopt;
}

CodeFacts inspect_code(std::string_view code, const std::string& architecture, const Comgr& comgr) {
  CodeFacts facts;
  std::vector<uint64_t> targets;
  bool runs_on = true;
  comgr.disassemble(architecture, code, [&](size_t offset, size_t bytes, std::string_view text) {
    if (auto refused = refuse_instruction(text)) throw core::InputError("", "the binary " + *refused);
    facts.begins.insert(offset);
    const std::vector<std::string_view> words = words_of(text);
    if (const auto branch = branch_words(words)) {
      targets.push_back(offset + bytes + static_cast<uint64_t>(*branch * 4));
    }
    facts.refers_to_itself |= words[0].starts_with("s_getpc");
    if (!is_padding(words[0])) runs_on = !ends_a_path(words[0]);
  });
  for (const uint64_t target : targets) {
    if (facts.begins.count(target) == 0) throw core::InputError("", "the binary jumps to where no instruction begins");
  }
  if (runs_on) throw core::InputError("", "the binary has code that runs on into what follows it");
  return facts;
}

}  // namespace sandbox::hip::inspection
