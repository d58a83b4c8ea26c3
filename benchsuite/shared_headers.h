// Device code that solutions and references share: kernels/include/kw/<name>.cuh, which a solution takes by
//
//   #include <kw/mbarrier.cuh>
//
// on a line of its own. The header's text replaces that line when the solution is read, once for each header, between
// two comments that name it:
//
//   // begin <kw/mbarrier.cuh>
//   ...
//   // end <kw/mbarrier.cuh>
//
// So a source is complete: its hash, or that of the problem whose reference it is, covers the headers, archives and
// exports carry them, and a later version of a header changes nothing that was judged. A header may include others,
// which then come before it ("begin <kw/a.cuh> for <kw/b.cuh>").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace benchsuite {

struct SharedHeader {
  std::string name;  // "kw/mbarrier.cuh"
  std::string arch;  // the least CUDA architecture, "sm_90": of the line "// arch: sm_90" in its opening comment
  std::vector<std::string> kinds;  // of problems, "// problems: gemm, attention"; empty: any
  std::string about;               // the rest of that comment, without the slashes
};

// All that ship, in order of name.
std::vector<SharedHeader> shared_headers();

// Puts headers in the place of the lines that include them. Throws core::InputError with `file` and line where there is
// no such header.
std::string with_shared_headers(const std::string& source, const std::string& file);

// The reverse, for readers: each header that is still the one that ships becomes its #include again.
std::string without_shared_headers(const std::string& source);

// A line of such a source as its author knows it: "line 12 of <kw/mbarrier.cuh>", or "line 40" of the file. Empty where
// the source has no headers: its lines are the file's.
std::string author_line(const std::string& source, int64_t line);

}  // namespace benchsuite
