# refused: inputs() gives i as torch.int32 [98] instead of torch.int32 [97]: return what problem.json says
import torch


def inputs(axes, generator):
    n = axes["N"]
    return {"i": torch.zeros(n + 1, dtype=torch.int32),
            "w": torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
