#include "verifier/audit/variant.h"

namespace verifier::audit {

std::string body_of(const sandbox::Solution& solution) {
  const size_t begin = solution.source.find("/* kernelwright"), end = solution.source.find("*/", begin);
  return solution.source.substr(0, begin) + solution.source.substr(end + 2);
}

sandbox::Solution make_solution(const core::Json& header, const std::string& body, const std::string& name) {
  return sandbox::parse_solution("/* kernelwright\n" + header.dump(2) + "\n*/" + body, name);
}

}  // namespace verifier::audit
