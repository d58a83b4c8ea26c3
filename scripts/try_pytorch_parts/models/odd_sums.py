"""A sum whose length is no expression over the sizes: import says so."""

import torch


def odd_sums(x):
    return x[:, : x.shape[1] - x.shape[1] % 7].sum(dim=1) + x[:, -1]


def get_inputs():
    return [torch.rand(64, 1000)]
