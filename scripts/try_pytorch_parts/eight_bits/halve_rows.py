"""Halves numbers and keeps them in 8 bits."""

import torch

ROWS, WIDTH = 64, 1024


def halve_rows(x):
    return (0.5 * x).to(torch.float8_e4m3fn)


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]
