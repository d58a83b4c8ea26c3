"""Attention with two heads of queries for one of keys: sums over a head's elements and over keys, its softmax over keys."""

import torch

HEADS, QUERIES, KEYS, HEAD = 4, 48, 320, 64


def attend(q, k, v):
    k, v = k.repeat_interleave(2, dim=0), torch.repeat_interleave(v, 2, 0)
    return torch.softmax(q @ k.transpose(-1, -2) / 8.0, -1) @ v


def get_inputs():
    return [torch.randn(HEADS, QUERIES, HEAD), torch.randn(HEADS // 2, KEYS, HEAD), torch.randn(HEADS // 2, KEYS, HEAD)]
