# refused: candidates would hardly be tried beyond the listed shapes
import torch


def inputs(axes, generator):
    n = axes["N"]
    if n not in (97, 1024):
        raise ValueError("not listed")
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32),
            "w": torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
