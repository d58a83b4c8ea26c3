# refused: inputs() gives a Tensor: return a dict
import torch


def inputs(axes, generator):
    n = axes["N"]
    return torch.randn(n, generator=generator)


def forward(i, w):
    return w[i.long()]
