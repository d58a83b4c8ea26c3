"""A convolution in two groups, with a bias."""

import torch.nn as nn
import torch

batch, channels, filters, side = 8, 16, 16, 32


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, groups=2)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return [channels, filters]
