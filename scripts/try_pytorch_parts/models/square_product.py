"""Of four equal numbers, the two that only work together are one axis."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(384, 384), torch.randn(384, 384)]


def get_init_inputs():
    return []
