#include "sandbox/cpu/runtime/line_table.h"

#include <elfutils/libdw.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "sandbox/cpu/diagnostics.h"

namespace sandbox::cpu {
namespace {
struct Entry {
  uintptr_t address;
  int64_t line;  // 0: not in the solution file
  bool begins_function = false;
};

std::vector<Entry>& table() {
  static std::vector<Entry> entries;
  return entries;
}

bool is_solution(const char* file) {
  if (file == nullptr) return false;
  const std::string_view name(file), wanted(kSourceName);
  return name.size() >= wanted.size() && name.substr(name.size() - wanted.size()) == wanted;
}

int add_function(Dwarf_Die* function, void* addresses) {
  Dwarf_Addr entry = 0;
  if (dwarf_entrypc(function, &entry) == 0) static_cast<std::vector<Dwarf_Addr>*>(addresses)->push_back(entry);
  return DWARF_CB_OK;
}
}  // namespace

void read_line_table(int binary_fd, uintptr_t base) {
  table().clear();
  Dwarf* dwarf = dwarf_begin(binary_fd, DWARF_C_READ);
  if (dwarf == nullptr) return;
  Dwarf_Off offset = 0, next = 0;
  size_t header = 0;
  std::vector<Dwarf_Addr> functions;
  while (dwarf_nextcu(dwarf, offset, &next, &header, nullptr, nullptr, nullptr) == 0) {
    Dwarf_Die unit;
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (dwarf_offdie(dwarf, offset + header, &unit) != nullptr && dwarf_getsrclines(&unit, &lines, &count) == 0) {
      for (size_t i = 0; i < count; ++i) {
        Dwarf_Line* line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address = 0;
        int number = 0;
        dwarf_lineaddr(line, &address);
        dwarf_lineno(line, &number);
        table().push_back({base + address, is_solution(dwarf_linesrc(line, nullptr, nullptr)) ? number : 0});
      }
      dwarf_getfuncs(&unit, add_function, &functions, 0);
    }
    offset = next;
  }
  dwarf_end(dwarf);
  std::stable_sort(table().begin(), table().end(),
                   [](const Entry& a, const Entry& b) { return a.address < b.address; });
  for (const Dwarf_Addr entry : functions) {
    const auto first = std::lower_bound(table().begin(), table().end(), base + entry,
                                        [](const Entry& e, uintptr_t a) { return e.address < a; });
    if (first != table().end()) first->begins_function = true;
  }
}

std::optional<int64_t> line_of(uintptr_t address) {
  const std::vector<Entry>& entries = table();
  auto after = std::upper_bound(entries.begin(), entries.end(), address,
                                [](uintptr_t a, const Entry& entry) { return a < entry.address; });
  // Code inlined from our headers belongs to the nearest line of the solution before it, in the same function.
  while (after != entries.begin()) {
    --after;
    if (after->line > 0) return after->line;
    if (after->begins_function) break;
  }
  return std::nullopt;
}

}  // namespace sandbox::cpu
