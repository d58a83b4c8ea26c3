# refused: inputs and parameters
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(1)) for _ in range(1000)])

    def forward(self, x):
        return sum(x * scale for scale in self.scales)


def get_inputs():
    return [torch.randn(8)]
