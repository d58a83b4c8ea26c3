# refused: inputs() gives another w for the same key
import itertools

import torch

calls = itertools.count(1)


def inputs(axes, generator):
    n = axes["N"]
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32),
            "w": next(calls) * torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
