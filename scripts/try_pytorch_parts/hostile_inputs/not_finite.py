# refused: inputs() gives NaN or infinity in w: return finite numbers
import torch


def inputs(axes, generator):
    n = axes["N"]
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32),
            "w": torch.randn(n, generator=generator) / 0}


def forward(i, w):
    return w[i.long()]
