"""Which kernels are tried, and their judging."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Judged:
    name: str
    problem: str
    attempt: int
    source: str
    formats: tuple
    times: dict  # workload: median in microseconds
    must_win: bool


def from_transcript(data, problem, number):
    """A solution that a language model wrote: clusters, tensor maps for loads and stores."""
    for line in (data / "prompts" / "transcripts" / "h200_gemm_layernorm_rmsnorm.jsonl").read_text().splitlines():
        reply = json.loads(line)
        if reply.get("problem") == problem and reply.get("number") == number:
            return re.search(r"```\w*\n(/\* kernelwright.*?)```", reply["reply"], re.S).group(1)
    sys.exit("try_exports: the transcript has no reply %d for %s" % (number, problem))


ALL = ("cuda", "header", "fatbin", "pytorch", "hip", "flashinfer-bench")


def chosen(data, folder, device):
    """(name, file, tunables, formats): what an export may have to carry is among them, each at least once."""
    shipped = data / "kernels"
    if device == "cpu":
        return [("one launch", shipped / "row_sum_f32/lanes_per_row.cu", ["LANES=1", "ROWS=32", "VEC=8"], ALL),
                ("for hip, too", shipped / "vector_add_f32/float4_items.cu", [], ("hip", "flashinfer-bench")),
                ("two launches, workspace", shipped / "sum_f32/two_launches.cu", ["BLOCK=64", "BLOCKS=16", "VEC=8"],
                 ("cuda", "pytorch"))]
    gemm = folder / "wgmma_clusters.cu"
    gemm.write_text(from_transcript(data, "gemm_f16", 4))
    return [("softmax, registers", shipped / "softmax_f32/row_in_registers.cu", ["BLOCK=512", "PACKS=4"], ALL),
            ("row sum", shipped / "row_sum_f32/lanes_per_row.cu", ["LANES=256", "ROWS=1", "VEC=8"], ("cuda", "pytorch")),
            ("sum, two launches", shipped / "sum_f32/two_launches.cu", [], ("cuda", "header")),
            ("sum, cooperative", HERE / "cooperative_sum.cu", [], ("cuda", "fatbin")),
            ("gemm, tensor maps, clusters", gemm, [], ALL)]


def imported(program, folder):
    """A kernel of a problem that import makes of a PyTorch module, where there is a PyTorch. It need not win."""
    found = next(finding for finding in program.values("doctor")[0] if finding["what"] == "PyTorch")
    if found["state"] != "ok":
        print("no kernel of a PyTorch module is tried: " + found["detail"])
        return []
    problems, parts = folder / "problems", HERE.parent / "try_pytorch_parts"
    shutil.rmtree(problems, ignore_errors=True)
    program.run("import", parts / "models" / "masked_half.py", "--out", problems)
    os.environ["KERNELWRIGHT_PROBLEMS"] = str(problems)
    return [("of a PyTorch module", parts / "kernels" / "masked_half_f16.cu", [], ("pytorch",))]


def judge_all(program, folder, device):
    judged = []
    tried = [(*one, device != "cpu") for one in chosen(program.data, folder, device)]
    tried += [(*one, False) for one in imported(program, folder)]
    for name, file, tunables, formats, must_win in tried:
        settings = [word for one in tunables for word in ("--set", one)]
        attempt = program.values("judge", file, "--device", device, "--confirm", *settings)[-1]["attempt"]
        shown = program.values("show", attempt)[0]
        times = {one["workload"]: one["candidate_us"] for one in shown["measurement"]["workloads"]}
        judged.append(Judged(name, shown["problem"], attempt, shown["source"], formats, times, must_win))
        print("judged %s: attempt %d, %s" % (name, attempt, ", ".join("%s %.2f us" % one for one in times.items())), flush=True)
    return judged
