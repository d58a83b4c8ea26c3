"""The sum of each row, in a file without a class and without names for its sizes."""

import torch


def row_sums(x):
    return x.sum(dim=1)


def get_inputs():
    return [torch.rand(256, 2000)]
