"""A product in half precision, which PyTorch 1.13 lacks on a processor."""

import torch

M, N, K = 64, 48, 80


def half_product(a, b):
    return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(M, K, dtype=torch.float16), torch.randn(K, N, dtype=torch.float16)]
