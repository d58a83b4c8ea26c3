#include "sandbox/cpu/runtime/line_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "sandbox/cpu/compiler/diagnostics.h"
#include "sandbox/cpu/compiler/places.h"

namespace sandbox::cpu::runtime {
namespace {
struct Entry {
  uintptr_t address;
  int64_t line;  // 0: not in the solution file
  bool begins_function = false;
};
// Code of one of our headers, inlined where the solution calls it.
struct InlinedCall {
  uintptr_t begin, end;
  int64_t line;
};
struct Table {
  bool has_places = false;
  std::vector<Entry> entries;  // by address
  std::vector<InlinedCall> calls;
};

Table& table() {
  static Table lines;
  return lines;
}

bool is_solution(const char* file) {
  if (file == nullptr) return false;
  const std::string_view name(file), wanted(compiler::kSourceName);
  return name.size() >= wanted.size() && name.substr(name.size() - wanted.size()) == wanted;
}

void read_entries(Dwarf_Die& unit, uintptr_t base) {
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (dwarf_getsrclines(&unit, &lines, &count) != 0) return;
  for (size_t i = 0; i < count; ++i) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    int number = 0;
    dwarf_lineaddr(line, &address);
    dwarf_lineno(line, &number);
    table().entries.push_back({base + address, is_solution(dwarf_linesrc(line, nullptr, nullptr)) ? number : 0});
  }
}

std::optional<Dwarf_Word> number_of(Dwarf_Die& die, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute_name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0)
    return std::nullopt;
  return value;
}

void read_call(Dwarf_Die& die, Dwarf_Files* files, uintptr_t base) {
  const auto line = number_of(die, DW_AT_call_line), file = number_of(die, DW_AT_call_file);
  if (!line || !file || !is_solution(dwarf_filesrc(files, *file, nullptr, nullptr))) return;
  Dwarf_Addr ranges_base = 0, begin = 0, end = 0;
  for (ptrdiff_t i = 0; (i = dwarf_ranges(&die, i, &ranges_base, &begin, &end)) > 0;) {
    table().calls.push_back({base + begin, base + end, static_cast<int64_t>(*line)});
  }
}

void mark_function(Dwarf_Die& die, uintptr_t base) {
  Dwarf_Addr entry = 0;
  if (dwarf_entrypc(&die, &entry) != 0) return;
  std::vector<Entry>& entries = table().entries;
  const auto first = std::lower_bound(entries.begin(), entries.end(), base + entry,
                                      [](const Entry& e, uintptr_t address) { return e.address < address; });
  if (first != entries.end()) first->begins_function = true;
}

void read_functions(Dwarf_Die& parent, Dwarf_Files* files, uintptr_t base) {
  Dwarf_Die die;
  if (dwarf_child(&parent, &die) != 0) return;
  do {
    if (dwarf_tag(&die) == DW_TAG_subprogram) mark_function(die, base);
    if (dwarf_tag(&die) == DW_TAG_inlined_subroutine) read_call(die, files, base);
    read_functions(die, files, base);
  } while (dwarf_siblingof(&die, &die) == 0);
}
}  // namespace

void read_line_table(int binary_fd, uintptr_t base, Build build) {
  table() = Table{};
  table().has_places = build == Build::cover;
  Dwarf* dwarf = dwarf_begin(binary_fd, DWARF_C_READ);
  if (dwarf == nullptr) return;
  Dwarf_Off offset = 0, next = 0;
  size_t header = 0;
  while (dwarf_nextcu(dwarf, offset, &next, &header, nullptr, nullptr, nullptr) == 0) {
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (dwarf_offdie(dwarf, offset + header, &unit) != nullptr && dwarf_getsrcfiles(&unit, &files, &count) == 0) {
      read_entries(unit, base);
      std::stable_sort(table().entries.begin(), table().entries.end(),
                       [](const Entry& a, const Entry& b) { return a.address < b.address; });
      read_functions(unit, files, base);
    }
    offset = next;
  }
  dwarf_end(dwarf);
}

std::optional<int64_t> line_of(uintptr_t address) {
  const std::optional<int64_t> place = place_of(address);
  return place && table().has_places ? compiler::line_of_place(*place) : place;
}

std::optional<int64_t> place_of(uintptr_t address) {
  const std::vector<Entry>& entries = table().entries;
  auto at = std::upper_bound(entries.begin(), entries.end(), address,
                             [](uintptr_t a, const Entry& entry) { return a < entry.address; });
  if (at == entries.begin()) return std::nullopt;
  --at;
  if (at->line > 0) return at->line;
  const InlinedCall* innermost = nullptr;
  for (const InlinedCall& call : table().calls) {
    if (address < call.begin || address >= call.end) continue;
    // The later one of two that are equally long is the inner one, by the order in which they are read.
    if (innermost == nullptr || call.end - call.begin <= innermost->end - innermost->begin) innermost = &call;
  }
  if (innermost != nullptr) return innermost->line;
  // Code without a line of its own, among lines of the solution.
  for (; at != entries.begin() && !at->begins_function; --at) {
    if (at->line > 0) return at->line;
  }
  return std::nullopt;
}

}  // namespace sandbox::cpu::runtime
