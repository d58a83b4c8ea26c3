"""gpu_report's markdown, from the results of its sections."""

import math
import re
import statistics

ORDER = ["calibration", "kernels", "campaign", "baselines", "throughput", "sweep", "noise", "faults", "sanitizer", "gpu_tests",
         "memory"]
TITLES = {"calibration": "What the device reaches", "kernels": "Every shipped kernel",
          "campaign": "A campaign over the core suite", "baselines": "Libraries", "throughput": "One fresh candidate",
          "sweep": "A sweep", "noise": "Noise", "faults": "Faults", "sanitizer": "compute-sanitizer",
          "gpu_tests": "Tests on the GPU", "memory": "Device memory"}


def slug(data):
    return re.sub(r"[^a-z0-9]+", "-", data.get("device", {}).get("gpu", "unknown").lower()).strip("-")


def table(titles, rows, right=()):
    marks = ["---:" if title in right else "---" for title in titles]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in [titles, marks, *rows]) + "\n"


def time_text(us):
    return f"{us:.1f} us" if us < 1000 else f"{us / 1000:.2f} ms"


def calibration(d):
    rows = []
    for key, value in d.items():
        if key.endswith("_gb_s"):
            rows.append((key[:-5].replace("_", " "), f"{value / 1000:.2f} TB/s"))
        elif key.endswith("_flop_s"):
            rows.append((key[:-7].replace("_", " "), f"{value / 1e12:.1f} TFLOP/s"))
        elif key.endswith("_us"):
            rows.append((key[:-3].replace("_", " "), f"{value:.2f} us"))
    return table(["figure", "measured"], rows, ["measured"]), []


def kernels(d):
    wrong = [one for one in d["results"] if one["verdict"] != "correct"]
    text = f"{len(d['results'])} of {d['asked']} files judged with full effort, {len(d['results']) - len(wrong)} correct.\n"
    text += "".join(f"- {one['file']}: {one['verdict']}: {one['sentence']}\n" for one in wrong)
    return text, [("every shipped kernel is correct on every workload", f"{len(d['results']) - len(wrong)} of {d['asked']}",
                   not wrong and len(d["results"]) == d["asked"])]


def boards(data):
    """The best solution, and the libraries, of each problem."""
    best, libraries = {}, {}
    for name in ("baselines", "campaign"):
        for row in data.get(name, {}).get("leaderboard", []):
            if row.get("kind") == "library":
                libraries.setdefault(row["problem"], {})[row["solution"]] = row["time_us"]
            elif name == "campaign" and row["rank"] == 1:
                best[row["problem"]] = row
    return best, libraries


def campaign(d, data):
    best, libraries = boards(data)
    names = sorted({library for of_problem in libraries.values() for library in of_problem})
    rows = []
    for problem in sorted(set(best) | set(libraries) | set(d["ended"])):
        row = best.get(problem)
        cells = [problem, "naive", "", "", ""] if row is None else [
            problem, row["solution"] + " " + " ".join(f"{k}={v}" for k, v in row["tunables"].items()), time_text(row["time_us"]),
            f"{100 * row['bound_us'] / row['time_us']:.0f} %" if row["bound_us"] else "", f"{row['speed_up']:.2f}x"]
        for name in names:
            us = libraries.get(problem, {}).get(name)
            cells.append("" if us is None or row is None else f"{us / row['time_us']:.2f}x")
        rows.append(cells)
    titles = ["problem", "best", "time", "of the bound", "over naive", *("over " + name for name in names)]
    text = table(titles, rows, titles[2:])
    text += (f"\n{d['attempts']} attempts, {d['seconds_per_problem']:g} s for each problem; verdicts: "
             + ", ".join(f"{count} {verdict}" for verdict, count in d["verdicts"].items()) + ".\n")
    if not names:
        text += "No library was timed: ratios to PyTorch and cuBLAS are missing.\n"
    text += "".join(f"- warning: {what}\n" for what in d["warnings"]) + "".join(f"- {what}\n" for what in d["refused"])
    return text, [("the campaign ends by itself", f"exit code {d['exit_code']}", d["exit_code"] == 0),
                  ("problems with a verified win over naive", f"{len(best)} of {len(d['ended'])}", len(best) == len(d["ended"]))]


def baselines(d):
    timed = sorted({row["solution"] for row in d["leaderboard"] if row.get("kind") == "library"})
    rows = [(row["problem"], row["solution"], time_text(row["time_us"])) for row in d["leaderboard"]
            if row.get("kind") == "library"]
    text = f"Timed: {', '.join(timed) or 'none'}; by the same rules as candidates.\n\n"
    return text + table(["problem", "library", "time"], rows, ["time"]) + "\n" + "".join(f"- {what}\n" for what in d["refused"]), []


def throughput(d):
    rows, bars = [], []
    for problem, one in d["problems"].items():
        for kind in ("median_ms", "p90_ms"):
            rows.append([problem if kind == "median_ms" else "", "median" if kind == "median_ms" else "90 %",
                         *(f"{value:.0f}" for value in one[kind].values())])
        bars.append((f"a fresh {problem} candidate takes 0.5 s or less (median)", f"{one['median_ms']['all'] / 1000:.2f} s",
                     one["median_ms"]["all"] <= 500))
    stages = list(next(iter(d["problems"].values()))["median_ms"])
    text = table(["problem", "", *(f"{stage} ms" for stage in stages)], rows, [f"{stage} ms" for stage in stages])
    text += ("\nCompiled, checked on all workloads and seeds and timed with full effort; `check` includes loading, `rest` is the "
             "time between two results less the judge's own: candidate processes, messages, the archive. ")
    return text + "; ".join(f"{problem}: {one['correct']} of {one['judged']} correct" for problem, one in
                            d["problems"].items()) + ".\n", bars


def sweep(d):
    efforts = ", ".join(f"{count} {effort}" for effort, count in d["by_effort"].items())
    return (f"{d['attempts']} attempts ({efforts}) in {d['seconds']:.1f} s: {d['per_second']:.1f} a second; "
            f"{d['not_correct']} were not correct.\n"), [("5 candidates a second or more, sustained",
                                                          f"{d['per_second']:.1f} a second", d["per_second"] >= 5)]


def noise(d):
    timed = [one for one in d["sessions"] if one["speed_up"]]
    ties = sum(one["outcome"] == "tie" for one in timed)
    largest = max((abs(math.log(one["speed_up"][0])) for one in timed), default=math.inf)
    rows = []
    for problem in dict.fromkeys(one["problem"] for one in timed):
        logs = [math.log(one["speed_up"][0]) for one in timed if one["problem"] == problem]
        rows.append((problem, len(logs), f"{100 * statistics.median(logs):+.3f} %", f"{100 * max(map(abs, logs)):.3f} %"))
    spreads = [(max(medians) - min(medians)) / statistics.median(medians) for medians in zip(*d["medians_us"])]
    text = "A kernel against itself, each session on fresh inputs:\n\n"
    text += table(["kernel of", "sessions", "median deviation", "largest deviation"], rows,
                  ["sessions", "median deviation", "largest deviation"])
    text += (f"\n{d['kernel']} judged in {len(d['medians_us'])} fresh processes: medians from "
             f"{time_text(min(map(min, d['medians_us'])))} to {time_text(max(map(max, d['medians_us'])))}, spread "
             f"{100 * max(spreads):.2f} % of the median.\n")
    return text, [("every A/A session is a tie", f"{ties} of {len(d['sessions'])}", ties == len(d["sessions"])),
                  ("A/A sessions within 0.3 %", f"{100 * largest:.3f} %", largest <= 0.003),
                  ("ten fresh processes agree within 1 %", f"{100 * max(spreads):.2f} %", max(spreads) <= 0.01)]


def faults(d):
    rows, right = [], {True: 0, False: 0}
    asked = {True: 0, False: 0}
    for name, one in sorted(d["verdicts"].items(), key=lambda item: (item[1]["good"], item[0])):
        hits = sum(count for verdict, count in one["found"].items() if verdict in one["wanted"])
        right[one["good"]] += hits
        asked[one["good"]] += sum(one["found"].values())
        rows.append((name + (" (good)" if one["good"] else ""), " or ".join(one["wanted"]),
                     ", ".join(f"{count} {verdict}" for verdict, count in one["found"].items())))
    text = table(["file", "must be", "was"], rows)
    text += f"\n{d['judged']} of {d['asked']} files judged by one `kernelwright judge` in random order, each with a first look (`--screen`), in {d['took_s']:.0f} s.\n\n"
    text += table(["", "before", "after"], [("device memory used, MiB", d["before"]["memory_mib"], d["after"]["memory_mib"]),
                                            ("our processes", d["before"]["processes"], d["after"]["processes"])])
    memory = d["before"]["memory_mib"], d["after"]["memory_mib"]
    return text, [("every good candidate among faulty ones gets its verdict", f"{right[True]} of {asked[True]}",
                   right[True] == asked[True] > 0 and d["judged"] == d["asked"]),
                  ("every faulty one gets its own", f"{right[False]} of {asked[False]}", right[False] == asked[False] > 0),
                  ("no process and no device memory is left", f"{d['after']['processes']} processes, "
                   + ("memory not known" if None in memory else f"{memory[1] - memory[0]:+.0f} MiB"),
                   d["after"]["processes"] == d["before"]["processes"] and None not in memory and memory[1] - memory[0] < 64)]


def sanitizer(d):
    rows = [(tool, one["summary"], "passed" if one["tests_passed"] else "did not pass") for tool, one in d["tools"].items()]
    text = "Over the tests of the judge's own kernels and of the code that launches them, in one process:\n\n"
    text += table(["tool", "says", "the tests"], rows)
    text += "".join(f"\n{tool}:\n\n```\n{one['output']}\n```\n" for tool, one in d["tools"].items() if one["output"])
    clean = [tool for tool, one in d["tools"].items() if one["exit_code"] == 0 and one["tests_passed"]]
    return text, [("compute-sanitizer finds nothing", f"clean: {', '.join(clean) or 'none'}", len(clean) == len(d["tools"]))]


def gpu_tests(d):
    text = d["total"] + "\n" + "".join(f"- failed: {name}\n" for name in d["failed_tests"])
    if d["exit_code"] != 0:
        text += f"\n```\n{d['output']}\n```\n"
    return text, [("the tests on the GPU pass", f"exit code {d['exit_code']}", d["exit_code"] == 0)]


def memory(d):
    text = (f"{d['attempts']} attempts at one problem in {d['seconds']:.0f} s ({d['per_second']:.1f} a second), "
            f"{d['not_correct']} not correct; the agent itself took at most {d['agent_peak_bytes'] / 1e6:.0f} MB of memory.\n")
    if not d["samples"]:
        return text + "nvidia-smi is not here: device memory was not seen.\n", []
    busy = [mib for _, mib in d["samples"]]
    quarter = max(1, len(busy) // 4)
    first, last = max(busy[quarter:2 * quarter]), max(busy[-quarter:])
    text += "\n" + table(["before", "most in the second quarter", "most in the last quarter", "most", "after"],
                         [[f"{mib:.0f} MiB" for mib in (d["before_mib"], first, last, max(busy), d["after_mib"])]])
    return text, [("device memory is flat", f"{last - first:+.0f} MiB over {d['attempts']} attempts", abs(last - first) <= 64),
                  ("device memory is given back", f"{d['after_mib'] - d['before_mib']:+.0f} MiB",
                   d["after_mib"] - d["before_mib"] < 64)]


def render(name, data):
    d = data[name]
    if "failed" in d:
        return f"This section could not be made: {d['failed']}\n", []
    return campaign(d, data) if name == "campaign" else globals()[name](d)


def report(data):
    device = data.get("device", {})
    made = [name for name in ORDER if name in data]
    doctor = device.get("doctor", {})
    backend = device.get("backend", "cuda")
    memory = f", {device['memory_mib']} MiB" if "memory_mib" in device else ""  # nvidia-smi says it
    cuda = f", CUDA {data.get('calibration', {}).get('driver', '?')}" if memory else ""
    facts = [("GPU", device.get("gpu", "unknown") + memory), ("driver", device.get("driver", "?") + cuda),
             ("compiler", doctor.get("hiprtc" if backend == "hip" else "NVRTC", "?")), ("PyTorch", device.get("torch", "?")), ("host", device.get("host", "?")),
             ("sandbox", doctor.get(f"sandbox: {backend}, run", "?"))]
    rendered = {name: render(name, data) for name in made}
    for name in made:
        if data[name].get("stderr"):
            rendered[name] = (rendered[name][0] + f"\nIt also said:\n\n```\n{data[name]['stderr'][-1000:]}\n```\n", rendered[name][1])
    bars = [(what, found, "yes" if met else "**no**") for name in made for what, found, met in rendered[name][1]]
    text = f"# Kernelwright on {device.get('gpu', 'a GPU')}\n\n"
    text += "Made by `scripts/gpu_report`; every figure is of the runs named at its section.\n\n" + table(["", ""], facts)
    text += "\n" + table(["what must hold", "found", "holds"], bars)
    for name in made:
        text += f"\n## {TITLES[name]}\n\n{rendered[name][0]}"
        if "command" in data[name]:
            text += f"\n`{data[name]['command']}`, {data[name]['made']}, {data[name]['seconds']:.0f} s\n"
    return text
