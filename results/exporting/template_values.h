// The templates of exported projects, and the values that fill them in all formats.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "results/exporting/package.h"

namespace results::exporting {
using TemplateValues = std::map<std::string, std::string, std::less<>>;

// `text` with each placeholder replaced; the replacements are not searched. Throws core::SystemError, with `file` and
// the name, for a placeholder without a value. Keeps a '@' that begins no placeholder.
std::string fill(const std::string& text, const TemplateValues& values, const std::string& file);

// The same for a file of templates/, by its path without ".in".
std::string fill_file(const std::filesystem::path& templates, const std::string& file, const TemplateValues& values);

// The sizes of a shape in the order of the problem's axes, for `Shape{...}`.
std::string axis_values(const benchsuite::Problem& problem, const core::Bindings& axes);

// "[M, 2 * N]", for people.
std::string shape_text(const benchsuite::Tensor& tensor);

TemplateValues common_values(const Package& package);

// Declarations that device code needs and that a host compiler spells differently (kw_prelude.h has them for NVRTC).
std::string device_types();

// src/<kernel>.cu: device code, plan, and the object `<scope>::kernel_<id>` that combines them.
std::string kernel_file(const Package& package, const sandbox::Solution& solution,
                        const sandbox::TunableBinding& binding, const std::string& id, const std::string& scope);

// test/: the self-test's files for every format, without subject.h.
void add_tests(const Package& package, const ProblemKernels& own, const ExportData& data, const TemplateValues& values,
               Files& files);

// A shape of the self-test: workloads, and odd shapes near them.
struct TestShape {
  std::string name;
  core::Bindings axes;
  bool timed = false;
};
std::vector<TestShape> test_shapes(const benchsuite::Problem& problem);

}  // namespace results::exporting
