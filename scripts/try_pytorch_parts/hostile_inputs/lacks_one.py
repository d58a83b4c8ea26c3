# refused: inputs() gives no w, which problem.json calls given
import torch


def inputs(axes, generator):
    n = axes["N"]
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32)}


def forward(i, w):
    return w[i.long()]
