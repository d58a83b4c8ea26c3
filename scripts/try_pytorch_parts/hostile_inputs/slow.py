# refused: ms, and a draw may take 500
import time

import torch


def inputs(axes, generator):
    n = axes["N"]
    time.sleep(0.6)
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32),
            "w": torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
