// The templates of exported projects, and the values that fill them: worked out once for all formats.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "results/exporting/package.h"

namespace results::exporting {
using TemplateValues = std::map<std::string, std::string, std::less<>>;

// `text` with each place filled. What is filled in stands as it is. A place that has no value is our own fault: throws
// core::SystemError with `file` and its name. A '@' that begins no place stays.
std::string fill(const std::string& text, const TemplateValues& places, const std::string& file);

// The same of a file of templates/ by its path there, less ".in".
std::string fill_file(const std::filesystem::path& templates, const std::string& file, const TemplateValues& places);

// The sizes of a shape in the order of the problem's axes, for `Shape{...}`.
std::string axis_values(const benchsuite::Problem& problem, const core::Bindings& axes);

TemplateValues common_values(const Package& package);

// The declarations that device code relies on and a host compiler spells otherwise (kw_prelude.h has them under NVRTC).
std::string device_types();

// src/<kernel>.cu: device code, plan, and the object `<scope>::kernel_<id>` that holds both together.
std::string kernel_file(const Package& package, const sandbox::Solution& solution,
                        const sandbox::TunableBinding& binding, const std::string& id, const std::string& scope);

// test/: what the self-test of every format is made of, without its subject.h.
void add_tests(const Package& package, const ExportData& data, const TemplateValues& places, Files& files);

// Shapes that the self-test tries: workloads, and odd ones near them.
struct TestShape {
  std::string name;
  core::Bindings axes;
  bool timed = false;
};
std::vector<TestShape> test_shapes(const benchsuite::Problem& problem);

}  // namespace results::exporting
