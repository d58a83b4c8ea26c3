"""Whose truth in double, exp(x) - 1, holds nothing of a tiny x: a kernel may be nearer to it."""

import torch

rows, width = 64, 200


def exponential_units(x):
    return torch.nn.functional.elu(x)


def get_inputs():
    return [torch.rand(rows, width)]
