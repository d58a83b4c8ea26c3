"""The sections of gpu_report: each runs something and returns what it saw, as a JSON object."""

import itertools
import json
import math
import os
import pathlib
import platform
import random
import re
import shutil
import statistics
import subprocess
import time

ADVERSARIAL = pathlib.Path("verifier/adversarial")
FRESH = {"gelu_f32": "float4_items", "softmax_f32": "row_in_registers", "gemm_f32": "register_tile"}
FAULTS = {"cuda": ["endless_loop", "cuda_illegal_address", "trap", "cuda_unschedulable_cluster", "cuda_huge_global",
                   "cuda_printf_flood"],
          "cpu": ["endless_loop", "out_of_bounds_write", "trap", "deadlock", "huge_static_memory", "misaligned"]}


def shipped(runner, problem, name):
    return runner.prefix / "share/kernelwright/kernels" / problem / (name + ".cu")


def backends(solution):
    header = solution.read_text().split("*/")[0].split("kernelwright", 1)[1]
    return json.loads(header)["backends"]


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def device(runner):
    found = {"prefix": str(runner.prefix), "backend": runner.backend, "host": f"{os.cpu_count()} cores, {platform.system()} {platform.release()}"}
    smi = runner.smi("name,driver_version,memory.total,clocks.max.sm,power.limit")
    if smi:
        found.update(gpu=smi[0], driver=smi[1], memory_mib=smi[2], max_mhz=smi[3], power_w=smi[4])
    torch = subprocess.run(["python3", "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    found["torch"] = torch.stdout.strip() if torch.returncode == 0 else "not here"
    findings, _, _ = runner.kernelwright("doctor", archive="base.db")
    found["doctor"] = {one["what"]: one["detail"] for one in findings[0][1]}
    own = found["doctor"].get(f"{runner.backend}:{runner.index}")
    if own and "gpu" not in found:  # without nvidia-smi
        found.update(gpu=own.split(",")[0], driver=own.split("; driver for ")[-1])
    if not runner.gpu:
        found["gpu"] = "cpu device"
    return found


def calibration(runner):
    if not runner.gpu:
        raise RuntimeError("the cpu device has no calibration")
    return runner.kernelwright("calibrate", "--device", runner.device, archive="base.db")[0][0][1]


def kernels(runner):
    """Every shipped kernel at its default point, and naive, with full effort."""
    share = runner.prefix / "share/kernelwright"
    files = sorted((file for file in share.glob("kernels/*/*.cu") if runner.backend in backends(file)),
                   key=lambda file: file.parent.name)
    if not runner.gpu:
        files = files[:2]
    seen, _, tail = runner.judge(files, timeout=300)
    return {"asked": len(files), "stderr": tail,
            "results": [{"file": "/".join(pathlib.Path(line["file"]).parts[-2:]), "verdict": line["verdict"],
                         "sentence": line["sentence"], "launches": line["details"].get("launches")} for _, line in seen]}


def leaderboard(runner):
    return runner.kernelwright("leaderboard", "--device", runner.device.partition(":")[0])[0][0][1]


def baselines(runner):
    if runner.backend != "cuda":
        raise RuntimeError("baselines are timed on NVIDIA GPUs")
    seen, code, tail = runner.kernelwright("baselines", "--suite", "core", "--device", runner.device,
                                           timeout=runner.pick(1500, 550))
    said = [line for _, line in seen]
    return {"refused": [f'{line["problem"]}, {line["library"]}: {line["verdict"]}: {line["sentence"]}' for line in said
                        if line.get("event") == "baseline" and line["verdict"] != "correct"]
            + [line["what"] for line in said if line.get("event") == "warned"],
            "leaderboard": leaderboard(runner), "exit_code": code, "stderr": tail}


def campaign(runner):
    suite = "core" if runner.gpu else "quick"
    problems = 12 if runner.gpu else 3
    arguments = ["run", "--suite", suite, "--device", runner.device, "--seconds", runner.seconds * problems, "--seed", 1,
                 "--no-baselines"]
    seen, code, tail = runner.kernelwright(*arguments, timeout=runner.seconds * problems * 1.5 + 60)
    made = [line for _, line in seen if line.get("event") == "attempted"]
    verdicts = {}
    for line in made:
        verdicts[line["verdict"]] = verdicts.get(line["verdict"], 0) + 1
    return {"seconds_per_problem": runner.seconds, "attempts": len(made), "verdicts": verdicts, "exit_code": code,
            "warnings": [line["what"] for _, line in seen if line.get("event") == "warned"],
            "refused": [f'{line["problem"]} {line["solution"]} {line["tunables"]}: {line["verdict"]}' for line in made
                        if line["verdict"] != "correct"][:20],
            "ended": {line["problem"]: line["why"] for _, line in seen if line.get("event") == "problem_ended"},
            "leaderboard": leaderboard(runner), "stderr": tail}


def variants(runner, problem, name, count):
    """Copies of a shipped kernel, each with one point of its tunables as the only one: candidates nobody has compiled."""
    source = shipped(runner, problem, name).read_text()
    header = json.loads(source[source.index("{"):source.index("*/")])
    names = list(header["tunables"])
    ceil_div = lambda a, b: -(-a // b)  # noqa: E731
    points = []
    for values in itertools.product(*header["tunables"].values()):
        point = dict(zip(names, values))
        if all(eval(constraint.replace("/", "//"), {"ceil_div": ceil_div}, point)  # noqa: S307: of files that ship
               for constraint in header.get("constraints", [])):
            points.append(point)
    files = []
    for i, point in enumerate(random.Random(1).sample(points, min(count, len(points)))):
        tunables = json.dumps({key: [value] for key, value in point.items()})
        file = runner.folder / f"{problem}_{i}.cu"
        file.write_text(re.sub(r'"tunables": \{[^}]*\}', f'"tunables": {tunables}', source, count=1))
        files.append(file)
    return files


def throughput(runner):
    """What a fresh candidate takes with full effort, stage by stage, in milliseconds."""
    problems, said = {}, []
    for problem, name in FRESH.items():
        files = variants(runner, problem, name, runner.pick(25, 10) if runner.gpu else 3)
        seen, _, tail = runner.judge(files, archive=f"fresh_{problem}.db", timeout=180)
        stages = {"compile": [], "check": [], "timing": [], "audits": [], "rest": [], "all": []}
        for (before, _), (at, line) in zip(seen, seen[1:]):  # the first one waits for workers to start
            judged = 1e3 * (at - before)  # compiling went on beside the judgement before it
            parts = [line["compile_ms"], line["check_ms"], line["timing_ms"], line["audit_ms"]]
            for stage, value in zip(stages, [*parts, max(0, judged - sum(parts[1:])), judged + parts[0]]):
                stages[stage].append(value)
        problems[problem] = {"kernel": name, "candidates": len(stages["all"]),
                             "correct": sum(line["verdict"] == "correct" for _, line in seen), "judged": len(seen),
                             "median_ms": {stage: statistics.median(values) for stage, values in stages.items()},
                             "p90_ms": {stage: quantile(values, 0.9) for stage, values in stages.items()}}
        said.append(tail)
    return {"problems": problems, "stderr": "\n".join(said).strip()}


def rate(seen):
    """Candidates per second over a campaign's attempts, those that took over an earlier result not counted."""
    made = [(at, line) for at, line in seen if line.get("event") == "attempted" and not line["reused"]]
    return {"attempts": len(made), "seconds": made[-1][0] - made[0][0],
            "per_second": (len(made) - 1) / (made[-1][0] - made[0][0]),
            "by_effort": {effort: sum(line["effort"] == effort for _, line in made)
                          for effort in ("control", "screen", "full", "confirm")},
            "not_correct": sum(line["verdict"] != "correct" for _, line in made)}


def sweep(runner):
    attempts = runner.pick(500, 250) if runner.gpu else 40
    seen, _, tail = runner.kernelwright("run", "--suite", "core" if runner.gpu else "quick", "--device", runner.device,
                                        "--attempts", attempts, "--patience", 1000000, "--seed", 2, "--no-baselines",
                                        archive="sweep.db", timeout=240)
    return {**rate(seen), "stderr": tail}


def noise(runner):
    sessions, processes = [], []
    each = runner.pick(10, 10) if runner.gpu else 2
    for problem, name in FRESH.items():
        file = shipped(runner, problem, name)
        seen, _, _ = runner.judge([file] * each, "--control", archive="noise.db", timeout=120)
        for _, line in seen:
            timed = line.get("measurement")
            sessions.append({"problem": problem, "verdict": line["verdict"],
                             "outcome": timed and timed["outcome"], "speed_up": timed and timed["speed_up"]})
    file = shipped(runner, "softmax_f32", FRESH["softmax_f32"])
    for _ in range(10 if runner.gpu else 2):
        line = runner.judge([file], "--confirm", archive="noise.db", timeout=60)[0][-1][1]  # the confirmation, in fresh processes
        processes.append([workload["candidate_us"] for workload in line["measurement"]["workloads"]])
    return {"sessions": sessions, "kernel": "softmax_f32/" + file.name, "medians_us": processes}


def wanted(file, gpu):
    text = file.read_text()
    found = re.search(r"// On %s: ([^.]*)\." % ("cuda" if gpu else "cpu"), text)
    return found.group(1).split(" or ") if found else ["correct"]


def faults(runner):
    """Faulty candidates among good ones, each given a first look: what this must show is what each does to the next."""
    if runner.backend not in FAULTS:
        raise RuntimeError("the faulty kernels are written in CUDA")
    kinds = FAULTS[runner.backend]
    each = runner.pick(50, 12) if runner.gpu else 1
    good = [ADVERSARIAL / "honest_tree.cu", ADVERSARIAL / "honest_shuffles.cu",
            shipped(runner, "row_sum_f32", "lanes_per_row")]
    files = [ADVERSARIAL / (kind + ".cu") for kind in kinds for _ in range(each)] + good * math.ceil(each / 3)
    random.Random(1).shuffle(files)
    before = {"memory_mib": runner.memory_mib(), "processes": runner.processes()}
    began = time.monotonic()
    seen, code, tail = runner.judge(files, *(["--screen"] if runner.gpu else []), archive="faults.db", timeout=runner.pick(420, 150))
    took = time.monotonic() - began
    time.sleep(2)
    after = {"memory_mib": runner.memory_mib(), "processes": runner.processes()}
    verdicts = {}
    for _, line in seen:
        file = pathlib.Path(line["file"])
        entry = verdicts.setdefault(file.stem, {"good": file in good, "wanted": wanted(file, runner.gpu), "found": {}})
        entry["found"][line["verdict"]] = entry["found"].get(line["verdict"], 0) + 1
    return {"asked": len(files), "judged": len(seen), "each": each, "took_s": took, "verdicts": verdicts, "before": before,
            "after": after, "exit_code": code, "stderr": tail}


def gpu_tests(runner):
    program = runner.prefix / "bin/gpu_tests"
    if runner.backend != "cuda":
        raise RuntimeError("they need an NVIDIA GPU")
    if not program.exists():
        raise RuntimeError("gpu_tests is not here: pack with scripts/pack --gpu-tests")
    seen, code, tail = runner.lines([program, "--gtest_brief=1", *runner.pick([], ["--gtest_filter=-*ShippedOnGpu*"])], 300)
    lines = [line for _, line in seen]
    total = [line for line in lines if re.search(r"test suites? ran", line)]
    return {"exit_code": code, "total": total[-1] if total else tail[-200:],
            "failed_tests": sorted({line.split("] ")[1].split(",")[0].split(" (")[0] for line in lines if "[  FAILED  ] " in line
                              and "listed below" not in line}), "output": "\n".join(lines)[-4000:]}


def sanitizer(runner):
    program = runner.prefix / "bin/gpu_tests"
    if shutil.which("compute-sanitizer") is None:
        raise RuntimeError("compute-sanitizer is not here")
    if not program.exists():
        raise RuntimeError("gpu_tests is not here: pack with scripts/pack --gpu-tests")
    tools = {}
    for tool in ("memcheck", "initcheck", "racecheck", "synccheck"):
        seen, code, tail = runner.lines(["compute-sanitizer", "--tool", tool, "--error-exitcode", 9, program,
                                         "--gtest_filter=DeviceWorkOnGpu.*", "--gtest_brief=1"], runner.pick(150, 90))
        lines = [line for _, line in seen]
        summary = [line.strip("= ") for line in lines if "SUMMARY" in line or "not supported" in line.lower()]
        tools[tool] = {"exit_code": code, "summary": summary[-1] if summary else "no summary: " + (lines + [tail])[-1][-200:],
                       "tests_passed": any("[  PASSED  ]" in line for line in lines),
                       "output": "" if code == 0 else "\n".join(lines)[:3000]}
    return {"tools": tools}


MANY_POINTS = """/* kernelwright
{
  "problem": "gelu_f32",
  "backends": ["%s"],
  "tunables": {"BLOCK": [%s], "ITEMS": [%s]},
  "launches": [
    {"kernel": "gelu", "grid": ["ceil_div(N, BLOCK * ITEMS)"], "block": ["BLOCK"], "args": ["x", "y", "N"]}
  ]
}
*/
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  for (int k = 0; k < ITEMS; ++k) {
    const size_t i = (size_t)blockIdx.x * BLOCK * ITEMS + k * BLOCK + threadIdx.x;
    if (i < N) y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
  }
}
"""


def memory(runner):
    """Many attempts at one problem, so that the memory that they need is the same."""
    file = runner.folder / "many_points.cu"
    file.write_text(MANY_POINTS % (runner.backend, ", ".join(map(str, range(32, 1025, 16))), ", ".join(map(str, range(1, 33)))))
    attempts = runner.pick(1000, 300) if runner.gpu else 40
    before = runner.memory_mib()
    watch = runner.watch_memory()
    try:
        seen, _, tail = runner.kernelwright("run", "--solution", file, "--own-only", "--device", runner.device, "--attempts",
                                            attempts, "--patience", 1000000, "--seed", 3, "--no-baselines",
                                            archive="memory.db", timeout=300)
    finally:
        samples = watch.stop()
    time.sleep(2)
    end = next((line for _, line in seen if line.get("event") == "campaign_ended"), {})
    return {**rate(seen), "before_mib": before, "after_mib": runner.memory_mib(), "samples": samples,
            "agent_peak_bytes": end.get("peak_memory_bytes"), "stderr": tail}


ALL = {one.__name__: one for one in (device, calibration, kernels, campaign, baselines, throughput, sweep, noise, faults, memory,
                                     gpu_tests, sanitizer)}
