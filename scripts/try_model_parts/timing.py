"""CUDA graphs, interleaved timing by events, and intervals of medians."""

import contextlib
import dataclasses
import math
import random
import signal
import typing

import torch


class TooLong(BaseException):
    """Not an Exception, which torch.compile would take for a choice that does not compile."""


@contextlib.contextmanager
def deadline(seconds):
    """Raises TooLong in the main thread, again every few seconds, should the first be lost in a callback."""

    def late(signum, frame):
        raise TooLong(f"took longer than {seconds:.0f} s")

    previous = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@dataclasses.dataclass
class Variant:
    """One way to run a workload."""
    name: str
    call: typing.Callable
    alone: str = ""      # the only operator that is exported
    is_ours: bool = False
    replay: typing.Callable = None  # of its CUDA graph; None: it has none, and `call` is timed
    outputs: tuple = ()
    problem: str = ""    # why it did not run
    graph_us: list = dataclasses.field(default_factory=list)
    call_us: list = dataclasses.field(default_factory=list)


class Capturer:
    """Warms variants up and captures their CUDA graphs, which share memory: they are replayed one after another."""

    def __init__(self):
        self._stream, self._pool = torch.cuda.Stream(), torch.cuda.graph_pool_handle()

    def prepare(self, variant):
        """Compiles it, too. Outputs are copies of a replay's, into memory that was zeroed: graphs share their memory,
        and the replay of another may write there."""
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            for _ in range(3):
                variant.outputs = variant.call()
        torch.cuda.synchronize()
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self._pool):
                outputs = variant.call()
        except Exception as error:
            torch.cuda.synchronize()
            variant.problem = f"has no CUDA graph, timed as calls: {first_line(error)}"
            return
        for output in outputs:
            output.zero_()
        graph.replay()
        torch.cuda.synchronize()
        variant.replay, variant.outputs = graph.replay, tuple(output.clone() for output in outputs)


def first_line(error):
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def graph_of(run):
    """A CUDA graph of it, with memory of its own."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph


class Clock:
    """Times a run by events, with cold caches. During the flush before it the host enqueues the run's first kernels."""

    def __init__(self):
        self._flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")

    def sample(self, run):
        """Microseconds."""
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        self._flush.zero_()
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        return 1e3 * begin.elapsed_time(end)


def time_all(variants, rounds, clock):
    """Each variant once in each round, in an order that changes; its graph, and in every third round its calls, too."""
    order = list(variants)
    chance = random.Random(1)
    for i in range(rounds + 2):
        chance.shuffle(order)
        for variant in order:
            us = clock.sample(variant.replay or variant.call)
            if i >= 2:  # the first ones warm the GPU
                variant.graph_us.append(us)
            if not variant.alone and i % 3 == 0:
                variant.call_us.append(clock.sample(variant.call))


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def ratio(slow, fast):
    """How many times faster, from pairs of the same round: the median and its 99 % interval by order statistics."""
    ratios = sorted(a / b for a, b in zip(slow, fast))
    n, below, rank = len(ratios), 0.0, 0
    while below + math.comb(n, rank) * 0.5**n <= 0.005:
        below += math.comb(n, rank) * 0.5**n
        rank += 1
    rank = max(rank - 1, 0)
    return median(ratios), ratios[rank], ratios[n - 1 - rank]
