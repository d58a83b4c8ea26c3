"""Runs the model with PyTorch's operators and with exported ones, checks and times it. scripts/try_model starts it.

Usage: run_model.py --seconds N PROBLEM=FOLDER...: each folder holds the built package of a problem"""

import argparse
import dataclasses
import os
import sys
import time
import typing

import torch
import torch._dynamo
import torch._inductor.config

import operators
import timing
from model import Model, Size

ROUNDS = 41
TIMING_SECONDS = 25  # kept for the rounds
EAGER, OURS = "PyTorch eager", "exported kernels"  # those that are faster alone
MODES = {"torch.compile": "default", "torch.compile max-autotune": "max-autotune-no-cudagraphs"}

ABOUT = """
Times are medians of {rounds} rounds with flushed caches, every variant once in each; ratios come from pairs of one
round, with 99 % intervals. CUDA graphs, on both sides, leave out what the host takes to launch kernels; calls include
it. Errors are those of logits and of losses, against fp32 with the same weights. SDPA reads the masked half of the
cache, too; FlexAttention and the exported kernel skip it. "exported kernels" are those that are faster alone."""


@dataclasses.dataclass
class Workload:
    title: str
    shapes: str
    uses: tuple               # operators
    run: typing.Callable      # (operators, dtype of activations) -> outputs; the first one is compared
    flex: typing.Callable = None  # gives operators with FlexAttention, where it has a use
    variants: list = dataclasses.field(default_factory=list)
    exact: torch.Tensor = None
    faster: tuple = ()        # operators whose exported kernel is faster alone, over all calls of this workload


def make_workloads(size, device):
    model = Model(size, device)
    lengths = torch.randint(1, size.positions + 1, (size.sequences,), dtype=torch.int32, device=device)
    cache = (size.sequences, size.kv_heads, size.positions, 128)
    caches = [tuple(torch.randn(cache, dtype=torch.bfloat16, device=device) for _ in range(2))
              for _ in range(size.layers)]
    tokens = torch.randint(0, size.decode_vocabulary, (size.sequences,), device=device)
    read = torch.randint(0, size.loss_vocabulary, (size.loss_batch, size.loss_tokens + 1), device=device)
    known, targets = read[:, :-1].contiguous(), read[:, 1:].reshape(-1)
    decode = Workload("decode step", f"{size.layers} layers, {size.sequences} sequences of 1 to {size.positions} "
                      f"positions, {size.decode_vocabulary} logits, the 64 largest of them",
                      ("add_norm", "linear", "decode", "top_k"),
                      lambda ops, dtype=torch.bfloat16: model.decode_step(ops, tokens, lengths, caches, dtype),
                      lambda: operators.with_flex_attention(lengths, caches[0][0]))
    loss = Workload("loss", f"{size.layers} layers, {size.loss_batch} x {size.loss_tokens} tokens, "
                    f"{size.loss_vocabulary} logits", ("add_norm", "linear", "cross_entropy"),
                    lambda ops, dtype=torch.bfloat16: model.loss(ops, known, targets, dtype))
    return [decode, loss]


def compiled(workload, ops, mode):
    return torch.compile(lambda: workload.run(ops), mode=mode, dynamic=False)


def add_variants(workload, exported):
    """PyTorch eager and the exported kernels that are faster alone first, as report() expects them."""
    ours = {**operators.PLAIN, **{name: exported[name] for name in workload.faster if name in exported}}

    def add(name, call, **more):
        workload.variants.append(timing.Variant(name, call, **more))

    add(EAGER, lambda: workload.run(operators.PLAIN))
    add(OURS, lambda: workload.run(ours), is_ours=True)
    for name in workload.uses:
        if name in exported:
            alone = {**operators.PLAIN, name: exported[name]}
            add(f"only {operators.NAMES[name]}", lambda alone=alone: workload.run(alone), is_ours=True, alone=name)
    for name, mode in MODES.items():
        add(name, compiled(workload, operators.PLAIN, mode))
        add(f"{OURS}, {name}", compiled(workload, ours, mode), is_ours=True)
    if workload.flex:
        add("torch.compile, FlexAttention", FlexCall(workload))


class FlexCall:
    """Made when it is first called, so that what fails is this variant's problem."""

    def __init__(self, workload):
        self._workload, self._call = workload, None

    def __call__(self):
        if self._call is None:
            self._call = compiled(self._workload, self._workload.flex(), "default")
        return self._call()


def importance(variant):
    """The order in which variants get their time: all that the verdict needs, torch.compile, at last autotuning."""
    steps = ("autotune" in variant.name, "Flex" in variant.name, "compile" in variant.name)
    return 3 - steps.index(True) if any(steps) else 0


def prepare_all(workloads, ends, capturer):
    waiting = [(workload, variant) for workload in workloads for variant in workload.variants]
    waiting.sort(key=lambda one: importance(one[1]))
    autotuned = sum("autotune" in variant.name for _, variant in waiting)
    for workload, variant in waiting:
        began = time.monotonic()
        share = ends - TIMING_SECONDS - began
        if "autotune" in variant.name:
            share /= autotuned
            autotuned -= 1
        try:
            if importance(variant) == 0:
                capturer.prepare(variant)
            elif share < 5:
                variant.problem = "no time was left for it (--minutes)"
            else:
                with timing.deadline(share):
                    capturer.prepare(variant)
        except timing.TooLong as late:
            variant.problem = str(late)
        except Exception as error:
            variant.problem = timing.first_line(error)
        took = time.monotonic() - began
        if variant.problem or took > 5:
            print(f"{workload.title}, {variant.name}: {variant.problem or f'ready in {took:.0f} s'}", flush=True)


def level_graphs(workload):
    """Where one side of the verdict has no CUDA graph, none of them counts."""
    lacking = [one.name for one in workload.variants[:2] if not one.replay]
    if not lacking:
        return
    print(f"{workload.title}: all variants are timed as calls, since there is no CUDA graph of {' and '.join(lacking)}")
    for one in workload.variants:
        one.replay = None


def ran(variant):
    return bool(variant.graph_us)


def time_text(us):
    return "" if not us else f"{timing.median(us) / 1000:.3f} ms"


def ratio_text(slow, fast):
    return "{:.2f}x [{:.2f}, {:.2f}]".format(*timing.ratio(slow.graph_us, fast.graph_us))


def differences(workload, variant, own, eager):
    """Sentences about outputs that differ by more than they may."""
    found = []
    if not (own.rms <= 1.5 * eager.rms and own.largest <= 1.5 * eager.largest):
        found.append(f"its error is more than 1.5 times eager's ({eager.rms:.3g}, largest {eager.largest:.3g}): "
                     f"{own.rms:.3g}, largest {own.largest:.3g}")
    if len(variant.outputs) == 3:
        wrong = operators.wrong_places(*variant.outputs)
        found += [f"the 64 largest logits: {wrong}"] if wrong else []
    return found


def report(workload):
    """Prints the table and what follows from it; gives failures."""
    eager, ours = workload.variants[:2]
    failures = [f"{one.name} did not run: {one.problem}" for one in (eager, ours) if not ran(one)]
    if failures:
        return failures
    base = operators.errors_of(eager.outputs[0], workload.exact)
    if not base.rms < float("inf"):
        return ["PyTorch eager's outputs are not finite"]
    print(f"\n{workload.title}: {workload.shapes}\n\n"
          "| variant | as a CUDA graph | over eager | as calls | error, rms | largest |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: |")
    for one in workload.variants:
        if not ran(one):
            print(f"| {one.name} | did not run |  |  |  |  |")
            continue
        own = operators.errors_of(one.outputs[0], workload.exact)
        cells = [one.name, time_text(one.graph_us) + ("" if one.replay else " (calls)"), ratio_text(eager, one),
                 time_text(one.call_us), f"{own.rms:.2e}", f"{own.largest:.2e}"]
        print(f"| {' | '.join(cells)} |")
        if one.is_ours:
            failures += [f"{one.name}: {sentence}" for sentence in differences(workload, one, own, base)]
    print()
    if timing.ratio(eager.graph_us, ours.graph_us)[1] <= 1:
        failures.append(f"{OURS} are not faster than eager: {ratio_text(eager, ours)}")
    weak = [one for one in workload.variants if one.alone and ran(one)]
    weak = [one for one in weak if timing.ratio(eager.graph_us, one.graph_us)[1] <= 1]
    if weak:
        print("Not faster than eager: " + ", ".join(f"{one.name} {ratio_text(eager, one)}" for one in weak) + ".")
    compare_with_compile(workload)
    return failures


def compare_with_compile(workload):
    """The fastest of ours beside each way of torch.compile."""
    mine = min((one for one in workload.variants if ran(one) and one.is_ours and not one.alone),
               key=lambda one: timing.median(one.graph_us))
    for one in workload.variants:
        if one.is_ours or one.name == EAGER or not ran(one):
            continue
        _, low, high = timing.ratio(one.graph_us, mine.graph_us)
        words = "faster than" if low > 1 else "SLOWER than" if high < 1 else "NOT faster than"
        print(f"{mine.name}: {words} {one.name}, {ratio_text(one, mine)}")


def check_operators(workloads, exported):
    """Sentences about operators that differ. One that raises is taken out of `exported`: the others go on."""
    failures, all_cases, differ, clock = [], 0, 0, timing.Clock()
    for workload in workloads:
        kept = {}
        workload.run(operators.recording(operators.PLAIN, kept))
        complaints, cases = operators.check_each(kept, exported)
        all_cases, differ = all_cases + cases, differ + len(complaints)
        for name, sentence, raised in complaints:
            failures.append(sentence)
            if raised:
                exported.pop(name, None)
        alone = operators.times_alone(kept, exported, clock)
        workload.faster = tuple(name for name, (ours, plain) in alone.items() if ours < plain)
        for name, (ours, plain) in alone.items():
            used = "used" if name in workload.faster else "PyTorch's stays"
            print(f"{workload.title}: {operators.NAMES[name]} alone, all calls: {ours:.1f} us, PyTorch {plain:.1f} us: "
                  f"{used}")
    print(f"Operators alone, at the model's shapes: {all_cases} cases, {differ} of which differ", flush=True)
    return failures


def run(size, device, places, seconds, rounds=ROUNDS):
    """Failures, as sentences."""
    ends = time.monotonic() + seconds
    torch.manual_seed(16)
    exported, complaints = operators.of_packages(places)
    failures = [f"{problem}: {text}" for problem, text in complaints.items()]
    workloads = make_workloads(size, device)
    failures += check_operators(workloads, exported)
    if not exported:
        return failures + ["no exported kernel could be used"]
    exact = operators.exact_operators(torch.float32)
    for workload in workloads:
        workload.exact = workload.run(exact, torch.float32)[0]
        add_variants(workload, exported)
    torch.cuda.empty_cache()
    prepare_all(workloads, ends, timing.Capturer())
    print(ABOUT.format(rounds=rounds))
    for workload in workloads:
        level_graphs(workload)
        timing.time_all([one for one in workload.variants if one.outputs], rounds, timing.Clock())
        failures += [f"{workload.title}: {sentence}" for sentence in report(workload)]
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("packages", nargs="*", metavar="PROBLEM=FOLDER")
    chosen = parser.parse_args()
    # Variants share the code of the model's methods, so that they count as recompilations of it.
    torch._dynamo.config.recompile_limit = 64
    torch._inductor.config.autotune_num_choices_displayed = 0  # its tables
    with torch.no_grad():
        failures = run(Size(), "cuda", dict(one.split("=", 1) for one in chosen.packages), chosen.seconds)
    for sentence in failures:
        print(f"FAILED: {sentence}")
    sys.stdout.flush()
    os._exit(1 if failures else 0)  # an interrupted autotuning leaves threads, for which Python would wait


if __name__ == "__main__":
    main()
