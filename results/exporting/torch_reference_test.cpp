#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "results/exporting/exporting_fixture.h"
#include "results/exporting/provenance.h"

namespace results::exporting::test {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kByHand = "def forward(**inputs):\n    return inputs['pairs'], inputs['keep']\n";
// It begins and ends like a file that import writes; scripts/try_pytorch tries real ones.
constexpr const char* kImported =
    "\"\"\"Made by kernelwright import from gated.py; what it imported is SOURCE.\"\"\"\n\nSOURCE = '\\nPARAMETERS = "
    "{}'\n"
    "PARAMETERS = {'pairs': 'layers.0.pairs', 'lambda': 'lambda'}  # of the module\ndef forward(**inputs): pass\n";

// An export of gated_f32 to PyTorch.
class TorchReference : public testing::Test {
 protected:
  static Package chosen(const std::string& reference, const std::filesystem::path& folder = {}) {
    benchsuite::Problem problem = reference_problem(reference);
    problem.folder = folder;
    ExportArchive archive({{problem.name, problem}});
    return archive.choose(archive.add(kGatedKernel));
  }
  static Files exported(const std::string& reference) { return torch_project(chosen(reference), export_data(), "now"); }
};

TEST_F(TorchReference, ForwardStandsInForTheNaiveKernel) {
  const Files files = exported(kByHand);
  EXPECT_EQ(files.at("gated_f32/reference.py"), kByHand);
  EXPECT_EQ(files.count("csrc/src/naive.cu"), 0u);
  EXPECT_THAT(files.at("csrc/src/dispatch.cpp"), AllOf(HasSubstr("nullptr, shape, device"), Not(HasSubstr("naive"))));
  EXPECT_THAT(files.at("setup.py"), AllOf(HasSubstr("gated"), Not(HasSubstr("naive"))));
  EXPECT_THAT(
      files.at("csrc/binding.cpp"),
      AllOf(HasSubstr("if (status.code == lib::Code::unsupported) return in_eager(keep_, lambda__, pairs_, K_);"),
            HasSubstr("gated_f32(Tensor keep, Tensor lambda_, Tensor pairs, SymInt K) -> (Tensor, Tensor)"),
            HasSubstr("forward_in_eager(Tensor keep, Tensor lambda_, Tensor pairs, int K) -> (Tensor, Tensor)")));
  EXPECT_THAT(files.at("README.md"), AllOf(HasSubstr("otherwise forward() of reference.py"), HasSubstr("why_eager"),
                                           Not(HasSubstr("In place of the original")), Not(HasSubstr("naive"))));
  const core::Json fallback = core::Json::parse(files.at("provenance.json")).at("fallback");
  EXPECT_EQ(fallback.at("name"), "forward() of reference.py");
}

TEST_F(TorchReference, TheFunctionKnowsWhatItsKernelsTake) {
  const std::string text = exported(kByHand).at("gated_f32/__init__.py");
  EXPECT_THAT(text, HasSubstr("{\"keep\": \"keep\", \"lambda_\": \"lambda\", \"pairs\": \"pairs\"}"));
  EXPECT_THAT(text, HasSubstr("_DTYPES = (torch.bool, torch.float16, torch.float32,)"));
  EXPECT_THAT(text, HasSubstr("_OUTPUT_DTYPES = (torch.float32, torch.bool,)"));
  EXPECT_THAT(text, HasSubstr("_SCALARS = {\"eps\": 0.5}"));
  EXPECT_THAT(text, HasSubstr("if not (D in (64, 128, )):"));
  EXPECT_THAT(text, HasSubstr("if not (2 <= K <= 8 and K % 2 == 0):"));
  EXPECT_THAT(text, HasSubstr("if tuple(pairs.shape) != (2 * K, ):"));
  EXPECT_THAT(text,
              HasSubstr("def gated_f32(keep: torch.Tensor, lambda_: torch.Tensor, pairs: torch.Tensor, K: int):"));
}

TEST_F(TorchReference, ItsTestCountsTheTermsOfTheContract) {
  const std::string test = exported(kByHand).at("tests/test_gated_f32.py");
  EXPECT_THAT(test, AllOf(HasSubstr("    return D * K, 0\n"), HasSubstr("allow_tf32 = False"),
                          HasSubstr("torch.randint(0, 1 + 1, (M, D, ), generator=generator, device=DEVICE")));
}

TEST_F(TorchReference, AnImportedModuleGivesItsParameters) {
  const Files files = exported(kImported);
  EXPECT_THAT(files.at("README.md"),
              AllOf(HasSubstr("gated_f32(keep=keep, K=K, **parameters_of(model))"), HasSubstr("imported from gated.py"),
                    HasSubstr("`lambda_` is its `lambda`, `pairs` is its `layers.0.pairs`")));
  EXPECT_THAT(files.at("gated_f32/__init__.py"),
              HasSubstr("_PARAMETERS = {\"pairs\": \"layers.0.pairs\", \"lambda_\": \"lambda\"}"));
  EXPECT_THAT(files.at("tests/test_gated_f32.py"), HasSubstr("test_in_place_of_the_original"));
  EXPECT_THAT(exported(kByHand).at("gated_f32/__init__.py"), Not(HasSubstr("parameters_of")));
}

TEST_F(TorchReference, TheReadmeRepeatsWhatImportRemarked) {
  archive::test::TemporaryArchive place;
  const std::filesystem::path folder = place.file().parent_path();
  std::ofstream(folder / "import.json") << R"({"remarks": ["batch norm is in train mode"]})";
  const Package package = chosen(kImported, folder);
  EXPECT_THAT(torch_project(package, export_data(), "now").at("README.md"),
              HasSubstr("\n- batch norm is in train mode\n"));
  EXPECT_TRUE(chosen(kImported).remarks.empty()) << "an archive has problems without their folders";
}

TEST_F(TorchReference, OtherFormatsCouldNotTestThemselves) {
  const Package package = chosen(kByHand);
  const auto advises = AllOf(HasSubstr("reference of gated_f32 is reference.py"), HasSubstr("export --to pytorch"));
  EXPECT_THAT(refusal([&] { cuda_project(package, export_data(), "now"); }), advises);
  EXPECT_THAT(refusal([&] { hip_project(package, export_data(), "now"); }), advises);
  EXPECT_THAT(refusal([&] { header_project(package, export_data(), "now", {}); }), advises);
  EXPECT_THAT(refusal([&] { flashinfer_project(package, export_data(), "now"); }), advises);
}

TEST_F(TorchReference, ForwardItselfIsNoKernel) {
  const benchsuite::Problem problem = reference_problem(kByHand);
  ExportArchive archive({{problem.name, problem}});
  const int64_t naive = archive.add(sandbox::naive_solution(problem).source, {.name = "naive", .origin = "naive"});
  EXPECT_THAT(refusal([&] { archive.choose(naive); }),
              HasSubstr("is forward() of reference.py in PyTorch, not a kernel"));
}

}  // namespace
}  // namespace results::exporting::test
