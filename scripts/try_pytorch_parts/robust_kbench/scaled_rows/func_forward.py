import torch
import torch.nn as nn


def forward_fn(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x * scale, dim=-1)


class Model(nn.Module):
    def __init__(self, width: int, init_method: str = "ones"):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width) if init_method == "ones" else torch.randn(width))

    def forward(self, x: torch.Tensor, fn=forward_fn) -> torch.Tensor:
        return fn(x, self.scale)


def get_inputs(rows: int = 16, width: int = 32):
    return [torch.randn(rows, width)]


input_names = ["x"]
