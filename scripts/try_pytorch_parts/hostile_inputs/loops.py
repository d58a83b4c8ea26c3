# refused: inputs() ran for more than
import torch


def inputs(axes, generator):
    n = axes["N"]
    while True:
        n += 1


def forward(i, w):
    return w[i.long()]
