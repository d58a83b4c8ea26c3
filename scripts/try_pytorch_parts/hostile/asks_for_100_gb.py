# refused: memory
import torch

content = bytearray(100 << 30)


def forward(x):
    return x


def get_inputs():
    return [torch.randn(8)]
