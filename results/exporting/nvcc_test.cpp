// Compiles exported projects with nvcc, without a GPU: kernels that only a GPU could judge. scripts/try_exports follows
// the projects' own instructions.
#ifdef KW_NVCC
#include <gtest/gtest.h>

#include <cstdlib>

#include "results/exporting/exporting_fixture.h"
#include "results/exporting/expressions.h"
#include "results/exporting/folder.h"

namespace results::exporting::test {
namespace {
using namespace archive;
using namespace archive::test;
namespace fs = std::filesystem;

// Compiles one source of a project for sm_90a; returns the compiler's output on failure.
std::string compile(const fs::path& folder, const std::string& source, const std::string& include) {
  const fs::path log = folder / "log.txt";
  const std::string command = std::string(KW_NVCC) +
                              " -std=c++17 -arch=sm_90a -Xcompiler -Wall,-Wextra -Werror all-warnings -I" +
                              (folder / include).string() + " -c " + (folder / source).string() + " -o " +
                              (folder / "object.o").string() + " > " + log.string() + " 2>&1";
  return std::system(command.c_str()) == 0 ? "" : core::read_file(log);
}

int run(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()); }

class Compiled : public testing::Test {
 protected:
  fs::path write(const Files& files) {
    const fs::path folder = place_.file().parent_path() / "project";
    write_folder(folder, files, false);
    return folder;
  }
  TemporaryArchive place_;
};

TEST_F(Compiled, EverythingThatAPlanCanSayInALibrary) {
  ExportArchive archive;
  const Package package = archive.choose(archive.add(rich_solution()));
  const fs::path folder = write(cuda_project(package, export_data(), "now"));
  EXPECT_EQ(compile(folder, "src/" + package.kernels[0].id + ".cu", "include"), "");
  EXPECT_EQ(compile(folder, "src/dispatch.cpp", "include"), "");
}

TEST_F(Compiled, ALibraryWithoutANaiveKernel) {
  ExportArchive archive({{"gated_f32", reference_problem("def forward(**inputs): pass\n")}});
  const Package package = archive.choose(archive.add(kGatedKernel));
  const fs::path folder = write(torch_project(package, export_data(), "now"));
  EXPECT_EQ(compile(folder, "csrc/src/" + package.kernels[0].id + ".cu", "csrc/include"), "");
  EXPECT_EQ(compile(folder, "csrc/src/dispatch.cpp", "csrc/include"), "");
}

TEST_F(Compiled, NumbersOf8Bits) {
  const benchsuite::Problem problem = requantised_problem();
  ExportArchive archive({{problem.name, problem}});
  const Package package = archive.choose(archive.add(problem.files.at(std::string(benchsuite::kNaiveFile))));
  const fs::path folder = write(cuda_project(package, export_data(), "now"));
  EXPECT_EQ(compile(folder, "src/" + package.kernels[0].id + ".cu", "include"), "");
  EXPECT_EQ(compile(folder, "src/dispatch.cpp", "include"), "");
}

TEST_F(Compiled, NumbersOf8BitsInAHeader) {
  const benchsuite::Problem problem = requantised_problem();
  ExportArchive archive({{problem.name, problem}});
  const Package package = archive.choose(archive.add(problem.files.at(std::string(benchsuite::kNaiveFile))));
  const fs::path folder = write(header_project(package, export_data(), "now", {}));
  EXPECT_EQ(compile(folder, "test/selftest.cu", "."), "");
}

TEST_F(Compiled, EverythingThatAPlanCanSayInAHeader) {
  ExportArchive archive;
  const Package package = archive.choose(archive.add(rich_solution()));
  const fs::path folder = write(header_project(package, export_data(), "now", {}));
  EXPECT_EQ(compile(folder, "test/selftest.cu", "."), "");
}

// Expressions in C++ have the values and errors of core::Expr.
TEST_F(Compiled, ExpressionsCountAsOursDo) {
  const std::vector<std::string> expressions{
      "N / 3 - N % 7",      "ceil_div(N, 32) * -4", "ceil_div(-N, 4)", "min(N, 5, 9 - N)",
      "max(N * N, 7)",      "(N <= 5) * (N != 3)",  "100 / (N - 5)",   "N * 9223372036854775807",
      "- -N + 2 * (3 - N)", "N % (N - N)",          "(N > 2) == 1",    "-7 / N"};
  ExportArchive archive;
  const Package package = archive.choose(archive.add_shipped("sum_f32/two_launches.cu"));
  Files files = cuda_project(package, export_data(), "now");
  std::string body, expected;
  for (const int64_t n : {1, 2, 3, 5, 64, 1000}) {
    for (const std::string& text : expressions) {
      const core::Expr expr = core::Expr::parse(text);
      body += "  show(" + cpp_of(expr, [&](const std::string&) { return "Exact(" + std::to_string(n) + ")"; }) + ");\n";
      try {
        expected += std::to_string(expr.eval({{"N", n}})) + "\n";
      } catch (const core::ExprError&) {
        expected += "fault\n";
      }
    }
  }
  files["src/main.cpp"] =
      "#include <cstdio>\n#include \"plan.h\"\nusing namespace sum_f32::detail;\n"
      "static void show(Exact e) { e.ok ? (void)std::printf(\"%lld\\n\", (long long)e.value) : "
      "(void)std::puts(\"fault\"); }\nint main() {\n" +
      body + "}\n";
  const fs::path folder = write(files), program = folder / "program", said = folder / "said";
  ASSERT_EQ(run(std::string(KW_NVCC) + " -std=c++17 -I" + (folder / "include").string() + " " +
                (folder / "src/main.cpp").string() + " -o " + program.string()),
            0);
  ASSERT_EQ(std::system((program.string() + " > " + said.string()).c_str()), 0);
  EXPECT_EQ(core::read_file(said), expected);
}

TEST_F(Compiled, PlansLeaveOutWhatTheirConditionsLeaveOut) {
  const auto solution = sandbox::parse_header(R"json({"problem": "sum_f32", "launches": [
    {"kernel": "thin", "grid": ["N / 64"], "block": [1], "args": ["x", "y"], "when": "N % 64 == 0"},
    {"kernel": "any", "grid": [7], "block": [1], "args": ["x", "y"], "when": "100 / (N - 3) < 50",
     "overlaps_previous": true}]})json",
                                              "s.cu");
  ExportArchive archive;
  Files files = cuda_project(archive.choose(archive.add(rich_solution())), export_data(), "now");
  files["src/main.cpp"] =
      "#include <cstdio>\n#include <initializer_list>\n#include \"plan.h\"\nusing namespace sum_f32;\nusing namespace "
      "detail;\n" +
      plan_function(shipped_problems().at("sum_f32"), solution, {}, "plan_it") + R"cpp(
    int main() {
      for (int64_t n : {1, 2, 3, 64, 4}) {
        Plan plan;
        std::printf("%s:", plan_it(Shape{n}, plan) ? "valid" : "invalid");
        for (int i = 0; i < plan.launches; ++i)
          std::printf(" %d%s", plan.launch[i].kernel, plan.launch[i].overlaps_previous ? "o" : "");
        std::puts("");
      }
    })cpp";
  const fs::path folder = write(files), program = folder / "program", said = folder / "said";
  ASSERT_EQ(run(std::string(KW_NVCC) + " -std=c++17 -I" + (folder / "include").string() + " " +
                (folder / "src/main.cpp").string() + " -o " + program.string()),
            0);
  ASSERT_EQ(std::system((program.string() + " > " + said.string()).c_str()), 0);
  EXPECT_EQ(core::read_file(said), "valid: 1\nvalid: 1\ninvalid: 0 1o\nvalid: 0 1o\ninvalid:\n");
}

// Two exports of one problem, with kernels of the same name, in one library.
TEST_F(Compiled, ExportsNeverShareASymbol) {
  ExportArchive archive;
  const int64_t one = archive.add_shipped("transpose_f32/shared_tile.cu");
  const int64_t other = archive.add_shipped("transpose_f32/register_tile.cu");
  std::string objects;
  for (const int64_t attempt : {one, other}) {
    const Package package = archive.choose(attempt);
    const fs::path folder = place_.file().parent_path() / std::to_string(attempt);
    write_folder(folder, cuda_project(package, export_data(), "now"), false);
    for (const std::string& source : {package.kernels[0].id + ".cu", std::string("dispatch.cpp")}) {
      const fs::path object = folder / (source + ".o");
      ASSERT_EQ(
          run(std::string(KW_NVCC) + " -std=c++17 -arch=sm_90 -Xcompiler -fPIC -I" + (folder / "include").string() +
              " -c " + (folder / "src" / source).string() + " -o " + object.string()),
          0)
          << source;
      objects += " " + object.string();
    }
  }
  EXPECT_EQ(
      run(std::string(KW_NVCC) + " -shared" + objects + " -o " + (place_.file().parent_path() / "both.so").string()),
      0);
}

}  // namespace
}  // namespace results::exporting::test
#endif
