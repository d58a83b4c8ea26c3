# refused: inputs() fails: PermissionError: [Errno 1] Operation not permitted (line 9)
import os

import torch


def inputs(axes, generator):
    n = axes["N"]
    os.fork()
    return {"i": torch.randint(0, n, (n,), generator=generator, dtype=torch.int32),
            "w": torch.randn(n, generator=generator)}


def forward(i, w):
    return w[i.long()]
