# refused: inputs() gives y, which problem.json does not call given
import torch


def inputs(axes, generator):
    n = axes["N"]
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32),
            "w": torch.randn(n, generator=generator), "y": torch.zeros(n)}


def forward(i, w):
    return w[i.long()]
