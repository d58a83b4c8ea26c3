# refused: random
import torch


def forward(x):
    return x + torch.randn_like(x)


def get_inputs():
    return [torch.randn(8)]
