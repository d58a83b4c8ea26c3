// kernelwright audit PROBLEM...: checks that wrong solutions of a problem fail and right ones pass.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "agent/campaign/audits.h"
#include "agent/campaign/devices.h"
#include "agent/campaign/startup.h"
#include "agent/cli/commands/commands.h"
#include "agent/cli/loading.h"
#include "agent/cli/output.h"
#include "agent/cli/table.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
using verifier::audit::AuditFinding;
using verifier::audit::AuditOutcome;
using verifier::audit::AuditReport;
using verifier::audit::Must;

struct AuditOptions {
  std::vector<std::string> problems;
  std::string suite, device = "cpu", keep;
  bool equivalents = false;
  std::optional<uint64_t> seed;
};

std::vector<benchsuite::Problem> chosen(const AuditOptions& options, campaign::LoadedData& data) {
  std::vector<benchsuite::Problem> problems;
  for (const std::string& name : options.problems) {
    problems.push_back(data.catalogue.find_or_load(name, "audit"));
  }
  if (!options.suite.empty()) {
    for (const std::string& name :
         benchsuite::load_suite(data.paths.suites(), options.suite, data.catalogue).problems) {
      problems.push_back(data.catalogue.problems.at(name));
    }
  }
  if (problems.empty()) {
    throw core::UsageError("audit", "which problem?",
                           "name problems or their folders, or give --suite core for its twelve");
  }
  return problems;
}

void show_findings(const AuditReport& report) {
  Table table({{"MUST BE"}, {"SOLUTION"}, {"WHAT IT DOES"}, {"VERDICT"}, {""}});
  for (const AuditFinding& finding : report.findings) {
    std::string verdict = name_of(finding.verdict);
    if (finding.outcome == AuditOutcome::equal) verdict = "equal to naive";
    if (finding.outcome == AuditOutcome::not_compiled) verdict = "not made";
    table.add_row({finding.must == Must::be_refused ? "refused" : "accepted", finding.name,
                   core::clean_line(finding.what, 100), verdict, finding.right ? "right" : "WRONG"});
  }
  if (!report.findings.empty()) print("{}\n", table.text());
  for (const AuditFinding& finding : report.findings) {
    if (!finding.right) print("WRONG: {}: {}\n", finding.name, finding.advice);
  }
  for (const std::string& remark : report.remarks) print("WRONG: {}\n", remark);
  for (const std::string& note : report.notes) print("{}\n", core::clean_line(note));
}

void sum_up(const AuditReport& report) {
  const auto of = [&](Must must, bool also_equal) {
    return std::count_if(report.findings.begin(), report.findings.end(), [&](const AuditFinding& finding) {
      if (finding.must != must || finding.outcome == AuditOutcome::not_compiled) return false;
      return also_equal ||
             finding.outcome == (must == Must::be_refused ? AuditOutcome::refused : AuditOutcome::accepted);
    });
  };
  print("{}: {}: {} of {} mutants refused, {} equal to naive; {} of {} honest solutions accepted\n\n", report.problem,
        report.passed() ? "passed" : "DOES NOT PASS", of(Must::be_refused, false), of(Must::be_refused, true),
        report.count(AuditOutcome::equal), of(Must::be_accepted, false), of(Must::be_accepted, true));
}

void show(const AuditReport& report, bool equivalents) {
  show_findings(report);
  if (!equivalents) {
    sum_up(report);
  } else if (report.findings.empty()) {
    print("{}: nothing was checked\n\n", report.problem);
  } else {
    print("{}: {}\n\n", report.problem, report.passed() ? "passed" : "DOES NOT PASS");
  }
}

void audit(const AuditOptions& options, Invocation& invocation) {
  campaign::LoadedData data = load_data(invocation);
  const std::vector<benchsuite::Problem> problems = chosen(options, data);
  const campaign::DeviceChoice device = campaign::parse_device(options.device);
  for (const benchsuite::Problem& problem : problems) {
    if (!benchsuite::is_gpu(device.backend) || !problem.pytorch()) continue;
    throw core::InputError("audit " + problem.name,
                           "mutants of a problem with reference.py are judged on the cpu device", "leave out --device");
  }
  campaign::DeviceSession session = campaign::start_audit_session(data.paths, device);
  const auto scope = options.equivalents ? campaign::AuditScope::equivalents : campaign::AuditScope::everything;
  const uint64_t seed = options.seed.value_or(verifier::judging::secret_seed());
  if (!invocation.json) print("seed {}\n", seed);
  int64_t passed = 0, unchecked = 0;
  for (const benchsuite::Problem& problem : problems) {
    if (!invocation.json) print("{}: {}\n", problem.name, core::clean_line(problem.title));
    try {
      const AuditReport report = campaign::audit_problem(session, data.paths, problem, options.keep, seed, scope);
      if (invocation.json) {
        core::Json json = to_json(report);
        json["seed"] = std::to_string(seed);  // more bits than every reader of JSON keeps in a number
        print_json(json);
      } else {
        show(report, options.equivalents);
      }
      const bool nothing = report.findings.empty() && report.passed();
      unchecked += nothing;
      passed += report.passed() && !nothing;
    } catch (const core::InputError& error) {
      if (problems.size() == 1) throw;
      flush_output();
      print_error(fmt::format("kernelwright: {}\n", error.what()));  // the others are audited all the same
    }
    flush_output();
  }
  if (passed + unchecked < static_cast<int64_t>(problems.size())) invocation.exit_code = kRefused;
  if (invocation.json || problems.size() == 1) return;
  const std::string rest = unchecked > 0 ? fmt::format(", {} not checked", unchecked) : "";
  print("{} of {} problems passed{}.\n", passed, problems.size(), rest);
}
}  // namespace

void add_audit_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command =
      app.add_subcommand("audit", "Verify that wrong solutions of a problem are refused and honest ones accepted");
  command->add_option("PROBLEM", options->problems, "Problems, by name or folder");
  command->add_option("--suite", options->suite, "All problems of a suite");
  command->add_option("--device", options->device, "Where solutions are judged: cpu, cuda, cuda:N, hip, hip:N");
  command->add_option("--keep", options->keep,
                      "A folder for the mutants and reorderings, as files to judge one by one");
  command->add_flag("--equivalents", options->equivalents,
                    "Only check what the problems name as their equivalent in PyTorch");
  command->add_option(
      "--seed", options->seed,
      "Seed of all random choices, to repeat an audit: the same seed for each problem (default: a fresh one)");
  command->footer(
      "The audit makes mutants and reorderings from the problem's naive solution; it also uses the solutions in the\n"
      "problem's folders honest/ and mutants/. On the cpu device it judges equivalents.pytorch, too, where there is a\n"
      "PyTorch.\n\n"
      "    kernelwright audit my_problem/\n"
      "    kernelwright audit --suite core --device cuda");
  command->callback([options, &invocation] { audit(*options, invocation); });
}

}  // namespace agent::cli::commands
