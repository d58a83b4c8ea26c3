# refused: inputs() refuses this shape: ValueError: too large (line 8)
import torch


def inputs(axes, generator):
    n = axes["N"]
    if n >= 1000:
        raise ValueError("too large")
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32),
            "w": torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
