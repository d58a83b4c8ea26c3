# refused: too much for the cpu device
import torch


def forward(x):
    return x + torch.ones([25] + [10] * 9).sum()


def get_inputs():
    return [torch.randn(8)]
