# refused: for one key and not for another
import torch


def inputs(axes, generator):
    n = axes["N"]
    if n not in (97, 1024) and generator.initial_seed() % 2 == 1:
        raise ValueError("no luck")
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32),
            "w": torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
