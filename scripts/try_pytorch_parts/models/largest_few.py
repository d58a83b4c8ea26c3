"""The largest four of each row, with their places."""

import torch

rows, width = 128, 96


def largest_few(x):
    return torch.topk(x, 4, dim=1)


def get_inputs():
    return [torch.randn(rows, width)]
