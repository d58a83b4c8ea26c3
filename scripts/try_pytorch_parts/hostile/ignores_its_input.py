# refused: does not depend on the input
import torch


def forward(x, y):
    return y - (x - x.mean()).mean()


def get_inputs():
    return [torch.randn(64), torch.randn(64)]
