import torch
import torch.nn as nn


class Model(nn.Module):
    """A product of lower triangular matrices, which a kernel may take for granted."""

    def forward(self, a, b):
        return torch.tril(torch.matmul(a, b))


n = 64


def get_inputs():
    return [torch.tril(torch.rand(n, n)), torch.tril(torch.rand(n, n))]


def get_init_inputs():
    return []
