"""A product of matrices of 8-bit numbers."""

import torch

M, N, K = 64, 96, 160


def f8_product(a, b):
    return torch.matmul(a.to(torch.float32), b.to(torch.float32)).to(torch.bfloat16)


def get_inputs():
    return [torch.randn(M, K).to(torch.float8_e4m3fn), torch.randn(K, N).to(torch.float8_e4m3fn)]
