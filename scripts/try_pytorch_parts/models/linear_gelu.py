import torch
import torch.nn as nn


class Model(nn.Module):
    """A linear layer, GELU, and a residual sum."""

    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.dropout(nn.functional.gelu(self.linear(x)))


batch_size = 128
features = 1024


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
