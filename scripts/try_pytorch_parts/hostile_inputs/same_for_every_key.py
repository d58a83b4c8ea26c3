# refused: inputs() gives the same i for every key
import torch


def inputs(axes, generator):
    n = axes["N"]
    return {"i": torch.arange(n, dtype=torch.int32).flip(0), "w": torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
