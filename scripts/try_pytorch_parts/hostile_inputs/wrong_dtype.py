# refused: inputs() gives i as torch.int64 [97] instead of torch.int32 [97]: return what problem.json says
import torch


def inputs(axes, generator):
    n = axes["N"]
    return {"i": torch.randint(0, n, (n,), generator=generator), "w": torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
