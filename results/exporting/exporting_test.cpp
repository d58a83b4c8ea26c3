#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "benchsuite/shared_headers.h"
#include "results/exporting/device_source.h"
#include "results/exporting/exporting_fixture.h"
#include "results/exporting/expressions.h"
#include "results/exporting/folder.h"
#include "results/exporting/names.h"
#include "results/exporting/plan_code.h"
#include "results/exporting/provenance.h"
#include "results/exporting/template_values.h"

namespace results::exporting::test {
namespace {
using namespace archive;
using namespace archive::test;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string cpp(const std::string& text) {
  return cpp_of(core::Expr::parse(text), [](const std::string& name) { return "at_" + name; });
}

TEST(Expressions, KeepTheirMeaningInCpp) {
  EXPECT_EQ(cpp("4*BLOCKS + 1"), "Exact(4) * at_BLOCKS + Exact(1)");
  EXPECT_EQ(cpp("ceil_div(N, 32*(BM/WM))"), "ceil_div(at_N, Exact(32) * (at_BM / at_WM))");
  EXPECT_EQ(cpp("min(max(N,1), 7, M)"), "least_of(largest_of(at_N, Exact(1)), Exact(7), at_M)");
  EXPECT_EQ(cpp("- -3 - -N"), "- - Exact(3) - - at_N") << "and never a decrement";
  EXPECT_EQ(cpp("K%8==0"), "at_K % Exact(8) == Exact(0)");
  EXPECT_EQ(cpp("(a<=b)*(c!=d)"), "(at_a <= at_b) * (at_c != at_d)");
}

TEST(Expressions, BecomePython) {
  const auto python = [](const std::string& text) {
    return python_of(core::Expr::parse(text), [](const std::string& name) { return safe_name(name); });
  };
  EXPECT_EQ(python("2*M/3"), "2 * M // 3");
  EXPECT_EQ(python("min(in, N) - 1"), "min(in_, N) - 1");
}

TEST(Names, AreIdentifiers) {
  EXPECT_EQ(safe_name("N"), "N");
  EXPECT_EQ(safe_name("default"), "default_");
  EXPECT_EQ(safe_name("lambda"), "lambda_");
  EXPECT_EQ(identifier_of("claude's 2nd-best"), "claude_s_2nd_best");
  EXPECT_EQ(identifier_of("4x4"), "k_4x4");
  EXPECT_EQ(identifier_of(""), "k_");
}

TEST(Names, TextsCannotLeaveTheirQuotes) {
  EXPECT_EQ(cpp_string("a\"b\\\n?"
                       "?/"),
            R"("a\"b\\\012\?\?/")");
  EXPECT_EQ(as_comment("one \\\ntwo\n*/ #include <x>"), "// one\n// two\n// */ #include <x>\n");
  const std::string half(90, 'a');
  EXPECT_EQ(as_comment(half + " \\ " + half), "// " + half + "\n// " + half + "\n") << "long lines are folded";
}

TEST(Templates, EveryPlaceIsFilled) {
  EXPECT_EQ(fill("a @b@ c@d e@@", {{"b", "@x@"}}, "file"), "a @x@ c@d e@@");
  EXPECT_THROW(fill("@missing@", {}, "file"), core::SystemError);
}

TEST(DeviceSource, StandsInANamespaceBelowItsHeaders) {
  const sandbox::Solution solution = sandbox::parse_solution(rich_solution(), "rich.cu");
  const std::string text = in_namespace(solution, sandbox::default_binding(solution), "mine", "typedef int T;\n");
  EXPECT_LT(text.find("#include <cooperative_groups.h>"), text.find("namespace mine {"));
  EXPECT_THAT(text, AllOf(HasSubstr("#define BLOCK 128\n"), HasSubstr("#undef BLOCK\n"), HasSubstr("#undef LANES\n"),
                          HasSubstr("#undef N_OF\n"), HasSubstr("extern \"C++\" {"), Not(HasSubstr("extern \"C\""))));
  EXPECT_EQ(kernels_of(solution), (std::vector<std::string>{"parts", "total"}));
}

TEST(DeviceSource, HoldsNothingThatOnlyAHostsCompilerWouldSee) {
  const sandbox::TunableBinding binding{{"BLOCK", 128}};
  const auto refusal = [&](const std::string& source) -> std::string {
    sandbox::Solution solution;
    solution.file = "sly.cu";
    solution.source = source;
    try {
      in_namespace(solution, binding, "mine", "");
    } catch (const core::InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::vector<std::string> refused{"#ifndef __CUDACC_RTC__\nint now = system(\"x\");\n#endif",
                                         "#if !defined(__CUDA_ARCH__)\n#endif",
                                         "#define HERE __GNUC__\n#if HERE\n#endif",
                                         "#ifdef EOF\n#endif\n#define EOF 1",
                                         "#if 0\n#define EOF 1\n#endif\n#ifdef EOF\n#endif",
                                         "#if __has_include(<stdio.h>)\n#endif",
                                         "asm(\".incbin \\\"/etc/passwd\\\"\");",
                                         "namespace [[deprecated(\"x\")]] a { asm(\"nop\"); }",
                                         "extern \"C\" { asm(\"nop\"); }",
                                         "#define A asm(\"nop\")\nA;",
                                         "#define END }\n__device__ void f() { END asm(\"nop\"); namespace a {",
                                         "} asm(\"nop\"); namespace a {",
                                         "__host__ __device__ void f() {}",
                                         "__attribute__((constructor)) __device__ void f() {}",
                                         "#define JOIN(a, b) a##b",
                                         "#pragma weak main = f"};
  for (const std::string& source : refused) {
    EXPECT_THAT(refusal(source), HasSubstr("could differ from the judged one")) << source;
  }
  const std::vector<std::string> accepted{
      "#define WIDE (BLOCK > 64)\n#if WIDE && defined(WIDE)\n#pragma unroll\n#else\n#endif",
      "namespace a { __device__ void f() { asm volatile(\"membar.gl;\"); } }",
      "#define COMMIT asm volatile(\"cp.async.commit_group;\" ::)\n__device__ void f() { COMMIT; }"};
  for (const std::string& source : accepted) EXPECT_EQ(refusal(source), "");

  const std::string whole = benchsuite::with_shared_headers("#include <kw/exact_product.cuh>\n", "sly.cu");
  EXPECT_EQ(refusal(whole), "") << "it tests macros, but ships";
  std::string changed = whole;
  changed.insert(changed.find("// end <kw/"), "int now;\n");
  for (const std::string& source : {changed, whole + "#ifndef EXACT_ON_TENSOR_CORES\nint now;\n#endif\n"}) {
    EXPECT_THAT(refusal(source), HasSubstr("could differ from the judged one")) << source;
  }
}

TEST(Plans, SayEverything) {
  ExportArchive archive;
  const Package package = archive.choose(archive.add(rich_solution()));
  const std::string file = cuda_project(package, export_data(), "now").at("src/" + package.kernels[0].id + ".cu");
  const std::string plan = file.substr(file.find("inline bool plan_"));
  EXPECT_THAT(plan, HasSubstr("plan.workspace[0] = {Exact(4), true};"));
  EXPECT_THAT(plan, HasSubstr("plan.workspace[1] = {Exact(4) * largest_of(Exact(64), Exact(64)), false};"));
  EXPECT_THAT(plan, HasSubstr("{Exact(1), 3, 7, 4, 2, {Exact(32), Exact(2)}, {Exact(32), Exact(1)}, 128, 0, false};"));
  EXPECT_THAT(plan, HasSubstr("{at_N % Exact(64) == Exact(0), 0, 7, 4, 1, {at_N}, {Exact(64)}, 0, 128, true};"));
  EXPECT_THAT(plan, HasSubstr("{Exact(2), Exact(1), Exact(1)},\n      Exact(4) * Exact(128), false, false, 6"));
  EXPECT_THAT(plan, HasSubstr("{map_at(1), buffer_at(0), buffer_at(3), buffer_at(2), number(at_N), "
                              "number(at_N % Exact(64) == Exact(0))}"));
  EXPECT_THAT(plan, HasSubstr("true, true, 4"));
  EXPECT_THAT(plan, HasSubstr("},\n      at_N > Exact(64)};\n  return leave_out(plan) && is_valid(plan);"));
}

TEST(Plans, PassScalarsAsTheirBytes) {
  benchsuite::Problem problem = shipped_problems().at("sum_f32");
  problem.scalars = {{"eps", 1e-5f}, {"least", INT64_MIN}, {"scale", 2.5}};
  const sandbox::Solution solution = sandbox::parse_solution(R"(/* kernelwright
{"problem": "sum_f32", "launches": [{"kernel": "k", "grid": [1], "block": [1],
 "args": ["x", "eps", "least", "scale", "y"]}]}
*/ extern "C" __global__ void k(const float* x, float eps, long long least, double scale, float* y) {})",
                                                             "s.cu");
  EXPECT_THAT(plan_function(problem, solution, {}, "plan_k"),
              HasSubstr("{buffer_at(0), scalar(int64_t{925353388} /* 1e-05 */), scalar(INT64_MIN /* "
                        "-9223372036854775808 */), scalar(int64_t{4612811918334230528} /* 2.5 */), buffer_at(1)}"));
  EXPECT_EQ(python_scalars(problem),
            "    eps = 9.999999747378752e-06\n    least = -9223372036854775808\n    scale = 2.5\n");
}

TEST(Choosing, TakesTheFastestAtEachShape) {
  ExportArchive archive;
  const int64_t large = archive.add_shipped("gemm_f16/tensor_cores.cu",
                                            {.speed_ups = {{"bench_4096x4096x4096", 9}, {"bench_1024x1024x1024", 3}}});
  const int64_t small = archive.add_shipped("gemm_f16/register_tile.cu",
                                            {.speed_ups = {{"bench_4096x4096x4096", 4}, {"bench_1024x1024x1024", 5}}});
  archive.add_shipped("gemm_f16/register_tile.cu", {.device = "cpu", .architecture = ""});
  const Package package = archive.choose(ExportChoice{{"gemm_f16"}});
  ASSERT_EQ(package.routes.size(), 2u);
  for (const Route& route : package.routes) {
    EXPECT_EQ(route.architecture, "sm_90a");
    EXPECT_EQ(package.kernels[route.kernel].attempt.id, route.workload == "bench_1024x1024x1024" ? small : large);
  }
  const Files files = cuda_project(package, export_data(), "now");
  EXPECT_THAT(files.at("CMakeLists.txt"), HasSubstr(package.kernels[0].id + " 90a-real)"));
  EXPECT_THAT(files.at("src/dispatch.cpp"), HasSubstr(", 90, Shape{4096, 4096, 4096}}"));
}

TEST(Choosing, CpuResultsServeAnyArchitectureAndAreMarked) {
  ExportArchive archive;
  archive.add_shipped("sum_f32/two_launches.cu", {.device = "cpu", .architecture = ""});
  const Package package = archive.choose(ExportChoice{{"sum_f32"}});
  EXPECT_EQ(package.routes.at(0).architecture, "");
  EXPECT_THAT(status_line(package), HasSubstr("cpu device only"));
  EXPECT_THAT(provenance_text(package), HasSubstr("on cpu, which is not a GPU"));
  EXPECT_FALSE(provenance_json(package, "cuda", "now").at("kernels").at(0).at("measured_on_gpu").get<bool>());
}

TEST(Choosing, OtherArchitecturesAreUsedWhereTheUserWantsThemAndTheSolutionRuns) {
  ExportArchive archive;
  const std::string id = std::to_string(archive.add_shipped("gemm_f16/tensor_cores.cu"));
  Package package = archive.choose({.what = {id}, .architectures = {"sm_75", "sm_80", "sm_100"}});
  std::set<std::string> architectures;
  for (const Route& route : package.routes) architectures.insert(route.architecture);
  EXPECT_EQ(architectures, (std::set<std::string>{"sm_90a", "sm_80", "sm_100"}));
  EXPECT_THAT(dispatch_text(package), HasSubstr("sm_80 (not measured there)"));
}

TEST(Choosing, RefusesUnverifiedKernels) {
  ExportArchive archive;
  const auto id = [](int64_t attempt) { return std::to_string(attempt); };
  const int64_t wrong = archive.add_shipped("sum_f32/two_launches.cu", {.verdict = verifier::verdicts::NotWritten{}});
  EXPECT_THAT(refusal([&] { archive.choose(wrong); }), HasSubstr("was refused"));
  const int64_t once = archive.add_shipped("sum_f32/two_launches.cu", {.effort = verifier::verdicts::Effort::full});
  EXPECT_THAT(refusal([&] { archive.choose(once); }),
              AllOf(HasSubstr("not a confirmed win"), HasSubstr("--unconfirmed")));
  const Package package = archive.choose({.what = {id(once)}, .unconfirmed = true});
  EXPECT_THAT(status_line(package), HasSubstr("Not all kernels here are confirmed"));
  EXPECT_THAT(provenance_text(package), HasSubstr("NOT CONFIRMED"));
  EXPECT_FALSE(provenance_json(package, "cuda", "now").at("kernels").at(0).at("confirmed").get<bool>());
  EXPECT_THAT(refusal([&] { archive.choose(ExportChoice{{"nothing"}}); }),
              HasSubstr("is not a problem, attempt or solution"));
  EXPECT_THAT(refusal([&] { archive.choose(ExportChoice{{"softmax_f32"}}); }), HasSubstr("no confirmed solution"));
  const int64_t other = archive.add_shipped("gelu_f32/float4_items.cu");
  EXPECT_THAT(refusal([&] {
                archive.choose({.what = {id(other), id(once)}, .unconfirmed = true});
              }),
              HasSubstr("a folder of its own"));
  const int64_t cuda_only = archive.add_shipped("gemm_f16/tensor_cores.cu");
  EXPECT_THAT(refusal([&] { archive.choose({.what = {id(cuda_only)}, .unconfirmed = true, .backend = "hip"}); }),
              HasSubstr("does not list the backend hip"));
}

TEST(Choosing, LicencesOfOthersAreNotGranted) {
  ExportArchive archive;
  const Package package = archive.choose(archive.add(rich_solution(), {.origin = "model-x"}));
  EXPECT_THAT(licence_text(package), AllOf(HasSubstr("proposed by model-x"), HasSubstr("we cannot grant")));
  EXPECT_EQ(provenance_json(package, "cuda", "now").at("kernels").at(0).at("licence"), "not stated");
}

TEST(Folder, IsWrittenWhollyOrNotAtAll) {
  TemporaryArchive place;
  const auto folder = place.file().parent_path() / "out";
  write_folder(folder, {{"provenance.json", "{}"}, {"a/b.txt", "one"}}, false);
  EXPECT_EQ(core::read_file(folder / "a/b.txt"), "one");
  EXPECT_THAT(refusal([&] { write_folder(folder, {{"c", ""}}, false); }), HasSubstr("is not empty"));
  write_folder(folder, {{"provenance.json", "{}"}}, true);
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  std::filesystem::remove(folder / "provenance.json");
  std::ofstream(folder / "precious") << "mine";
  EXPECT_THAT(refusal([&] { write_folder(folder, {{"c", ""}}, true); }), HasSubstr("something other than an export"));
  EXPECT_EQ(core::read_file(folder / "precious"), "mine");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.parent_path()), {}), 1)
      << "nothing is left beside it";
}

// Every shipped kernel in every format that can describe and test its problem: no placeholder is left, nothing depends
// on Kernelwright. PyTorch's can always; what others cannot, they name.
class Shipped : public testing::TestWithParam<std::string> {};

TEST_P(Shipped, GoesIntoEveryFormat) {
  ExportArchive archive;
  const Package package = archive.choose(archive.add_shipped(GetParam()));
  KernelBinaries binaries{{"naive", {{"sm_90", "n"}}}};
  binaries[package.kernels[0].id] = {{"sm_90a", "k"}};
  std::vector<Files> projects{torch_project(package, export_data(), "now")};
  const auto add_or_refuse = [&](const auto& project) {
    try {
      projects.push_back(project());
    } catch (const core::InputError& refused) {
      EXPECT_THAT(refused.what(), HasSubstr("cannot "));
      EXPECT_THAT(refused.what(), AnyOf(HasSubstr("export to another format"), HasSubstr("export --to pytorch")));
    }
  };
  add_or_refuse([&] { return cuda_project(package, export_data(), "now"); });
  add_or_refuse([&] { return header_project(package, export_data(), "now", {}); });
  add_or_refuse([&] { return header_project(package, export_data(), "now", binaries); });
  add_or_refuse([&] { return flashinfer_project(package, export_data(), "now"); });
  for (const Files& files : projects) {
    EXPECT_EQ(files.count("README.md") + files.count("LICENSE") + files.count("provenance.json"), 3u);
    for (const auto& [path, text] : files) {
      const bool code = path.rfind(".h") != std::string::npos || path.rfind(".cu") != std::string::npos;
      EXPECT_TRUE(!code || text.find("#include \"core/") == std::string::npos) << path;
    }
  }
  EXPECT_FALSE(test_shapes(*package.problem).empty());
}

TEST(Exporting, AnEquivalentOfSeveralLinesKeepsThem) {
  ExportArchive archive;
  Package package = archive.choose(archive.add_shipped("softmax_f32/lanes_per_row.cu"));
  benchsuite::Problem problem = *package.problem;
  problem.equivalents.pytorch = "def equivalent(N, x):\n    return {'y': torch.softmax(x, dim=1)}\n";
  problem.equivalents.parameters = {"N", "x"};
  package.problem = std::make_shared<const benchsuite::Problem>(problem);
  const std::string test = torch_project(package, export_data(), "now").at("tests/test_softmax_f32.py");
  EXPECT_THAT(test, HasSubstr("\n\n\n" + problem.equivalents.pytorch + "\n\ndef of_pytorch(inputs, shape):"));
  EXPECT_THAT(test, HasSubstr("    result = equivalent(N, x)\n"));
  const Files files = flashinfer_project(package, export_data(), "now");
  EXPECT_TRUE(std::any_of(files.begin(), files.end(), [](const auto& file) {
    return file.second.find("return {'y': torch.softmax(x, dim=1)}\\n\\n\\ndef run(x):\\n") != std::string::npos &&
           file.second.find("    result = equivalent(N, x)\\n") != std::string::npos;
  }));
}

TEST(Exporting, WhatTestsInCppCannotCompareGoesToPytorch) {
  ExportArchive archive;
  const Package package = archive.choose(archive.add_shipped("topk_f32/chunks_skipped.cu"));
  EXPECT_THAT(refusal([&] { cuda_project(package, export_data(), "now"); }),
              AllOf(HasSubstr("cannot compare the output indices (indices)"), HasSubstr("export --to pytorch")));
  const std::string test = torch_project(package, export_data(), "now").at("tests/test_topk_f32.py");
  EXPECT_THAT(test, HasSubstr("COMPARED = ((\"indices\", 0, 1, False), (\"equal\", ), )"));
  EXPECT_THAT(test, HasSubstr("for one in check_by_rules(self, got, eager, right, inputs):"));
  EXPECT_THAT(test, Not(HasSubstr("def permutations")));
}

TEST(Exporting, TestsInPythonDrawStructuredRows) {
  ExportArchive archive;
  Package package = archive.choose(archive.add_shipped("softmax_f32/row_in_registers.cu"));
  benchsuite::Problem problem = *package.problem;
  const auto test_with = [&](benchsuite::Init kind) {
    problem.inputs[0].init.kind = kind;
    package.problem = std::make_shared<const benchsuite::Problem>(problem);
    return torch_project(package, export_data(), "now").at("tests/test_softmax_f32.py");
  };
  EXPECT_THAT(test_with(benchsuite::Init::permutation),
              AllOf(HasSubstr("permutations((M, N, ), torch.float32, generator)"), HasSubstr("def permutations")));
  EXPECT_THAT(test_with(benchsuite::Init::probabilities),
              HasSubstr("probabilities((M, N, ), torch.float32, generator)"));
  EXPECT_THAT(test_with(benchsuite::Init::sorted), HasSubstr("sorted_numbers("));
  EXPECT_THAT(test_with(benchsuite::Init::upper_triangular),
              AllOf(HasSubstr(").triu().to("), Not(HasSubstr("def perm"))));
  EXPECT_THAT(refusal([&] { cuda_project(package, export_data(), "now"); }),
              HasSubstr("cannot draw the input x (upper_"));
}

TEST(Hip, TakesKernelsForHipAndNothingOfCuda) {
  ExportArchive archive;
  const Package package =
      archive.choose({.what = {std::to_string(archive.add_shipped("transpose_f32/shared_tile.cu"))}, .backend = "hip"});
  for (const auto& [path, text] : hip_project(package, export_data(), "now")) {
    const bool code = path.rfind("src/", 0) == 0 || path.rfind("test/", 0) == 0 || path.rfind("include/", 0) == 0;
    if (!code) continue;
    EXPECT_THAT(text, AllOf(Not(HasSubstr("cudaError")), Not(HasSubstr("#include <cuda")))) << path;
  }
  const int64_t rich = archive.add(rich_solution());
  EXPECT_THAT(refusal([&] { hip_project(archive.choose(rich), export_data(), "now"); }), HasSubstr("uses tensor maps"));
}

// A mask that CUDA wants and older versions of HIP do not take, and the number of lanes, work in both.
TEST(Hip, LanesAndMasksHaveTheirMeaningInBothLanguages) {
  ExportArchive archive;
  const std::string shipped = std::to_string(archive.add_shipped("row_sum_f32/lanes_per_row.cu"));
  const auto kernel_of = [](const Files& files) {
    for (const auto& [path, text] : files) {
      if (path.rfind("src/", 0) == 0 && text.find("KW_WHOLE_WAVE, sum") != std::string::npos) return text;
    }
    return std::string();
  };
  const std::string in_hip =
      kernel_of(hip_project(archive.choose({.what = {shipped}, .backend = "hip"}), export_data(), "now"));
  EXPECT_THAT(in_hip,
              AllOf(HasSubstr("#define KW_WAVE 64"), HasSubstr("#define __shfl_xor_sync(mask, ...) __shfl_xor(")));
  EXPECT_THAT(in_hip, HasSubstr("\"backends\": [\"cpu\", \"hip\"],"));
  EXPECT_THAT(kernel_of(cuda_project(archive.choose({.what = {shipped}, .backend = "cuda"}), export_data(), "now")),
              HasSubstr("#define KW_WHOLE_WAVE 0xffffffffu"));
}

// Exports are CUDA's here.
std::vector<std::string> shipped_files() {
  std::vector<std::string> files;
  const auto folder = core::installed_paths().kernels();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::canonical(folder))) {
    if (entry.path().extension() != ".cu") continue;
    if (std::ranges::count(sandbox::load_solution(entry.path()).backends, "cuda") > 0) {
      files.push_back(entry.path().parent_path().filename().string() + "/" + entry.path().filename().string());
    }
  }
  return files;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Shipped, testing::ValuesIn(shipped_files()),
                         [](const auto& test) { return identifier_of(test.param); });

}  // namespace
}  // namespace results::exporting::test
