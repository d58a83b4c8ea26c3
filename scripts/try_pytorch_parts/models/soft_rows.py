"""A function alone, with example inputs whose sizes have no names."""

import torch


def soft_rows(x, scale=1.0):
    return torch.softmax(x * scale, dim=-1)


def get_inputs():
    return [torch.randn(256, 1000), 0.5]


QUOTES = '\'\'\' \\n """'  # reference.py must hold them, and this file's last character'