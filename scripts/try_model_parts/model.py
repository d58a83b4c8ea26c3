"""A small transformer with the layers of Llama 3 8B and Mistral 7B (which have the same), random weights, and operators
that it takes from a dictionary of functions."""

import dataclasses

import torch
import torch.nn.functional as F

EPSILON = 1e-5  # fixed by the problem add_rmsnorm_bf16
HEAD = 128      # fixed by the problem decode_bf16
BEST = 64       # fixed by the problem topk_f32
LARGEST_F8 = 448
ACTIVATION_SCALE = 2**-4  # one for all: activations here are at most some 20, and a power of two does not round


@dataclasses.dataclass(frozen=True)
class Size:
    layers: int = 4
    hidden: int = 4096
    heads: int = 32
    kv_heads: int = 8
    ffn: int = 14336
    decode_vocabulary: int = 128256  # of Llama 3
    loss_vocabulary: int = 32000     # of Mistral 7B
    sequences: int = 64
    positions: int = 8192
    loss_batch: int = 2
    loss_tokens: int = 2048


class Linear(torch.nn.Module):
    """x W^T with both in fp8 e4m3 and one scale for each of them. `ops` computes the product."""

    def __init__(self, rows, columns, device):
        super().__init__()
        weight = torch.randn(rows, columns, device=device) / columns**0.5
        scale = weight.abs().max() / LARGEST_F8
        self.register_buffer("weight", (weight / scale).to(torch.float8_e4m3fn))
        self.register_buffer("scale", scale.reshape(1).clone())
        self.register_buffer("activation_scale", torch.full((1,), ACTIVATION_SCALE, device=device))

    def forward(self, quantised, ops):
        return ops["linear"](quantised, self.weight, self.activation_scale, self.scale)


def quantise(x):
    return (x * (1 / ACTIVATION_SCALE)).clamp(-LARGEST_F8, LARGEST_F8).to(torch.float8_e4m3fn)


def rotate(x, cos, sin):
    """Rotary positions. x: [..., heads, 128]; cos, sin: [..., 1, 64] in fp32."""
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


class Layer(torch.nn.Module):
    def __init__(self, size, device):
        super().__init__()
        self.qkv = Linear((size.heads + 2 * size.kv_heads) * HEAD, size.hidden, device)
        self.out = Linear(size.hidden, size.heads * HEAD, device)
        self.gate = Linear(size.ffn, size.hidden, device)  # apart from `up`: the problem's N is 16384 at most
        self.up = Linear(size.ffn, size.hidden, device)
        self.down = Linear(size.hidden, size.ffn, device)
        self.register_buffer("attention_norm", norm_weight(size, device))
        self.register_buffer("ffn_norm", norm_weight(size, device))


def norm_weight(size, device):
    return (1 + 0.1 * torch.randn(size.hidden, device=device)).bfloat16()


class Model(torch.nn.Module):
    """`ops` of its methods: {"add_norm", "linear", "decode", "top_k", "cross_entropy"}, as operators.py has them.
    With dtype=torch.float32 activations stay in fp32, for operators that compute in it."""

    def __init__(self, size, device):
        super().__init__()
        self.size = size
        self.layers = torch.nn.ModuleList(Layer(size, device) for _ in range(size.layers))
        self.register_buffer("last_norm", norm_weight(size, device))
        most = max(size.positions, size.loss_tokens)
        angles = torch.arange(most, device=device)[:, None] / 500000 ** (torch.arange(0, HEAD, 2, device=device) / HEAD)
        self.register_buffer("cos", angles.cos()[:, None])
        self.register_buffer("sin", angles.sin()[:, None])
        for name, vocabulary in (("decode", size.decode_vocabulary), ("loss", size.loss_vocabulary)):
            embedding = torch.randn(vocabulary, size.hidden, device=device, dtype=torch.bfloat16)
            head = torch.randn(vocabulary, size.hidden, device=device, dtype=torch.bfloat16) / size.hidden**0.5
            self.register_buffer(name + "_embedding", embedding)
            self.register_buffer(name + "_head", head)

    def _heads(self, layer, y, cos, sin, ops):
        """Queries and keys with their positions, and values; each [rows, its heads, 128]."""
        size = self.size
        qkv = layer.qkv(quantise(y), ops).view(y.shape[0], -1, HEAD)
        q, k, v = qkv.split([size.heads, size.kv_heads, size.kv_heads], 1)
        return rotate(q, cos, sin), rotate(k, cos, sin), v

    def _run(self, x, attend, ops):
        """The layers; x: [rows, hidden]. Gives the last norm's output."""
        residual = x
        y = F.rms_norm(x, (self.size.hidden,), self.layers[0].attention_norm.to(x.dtype), EPSILON)
        for i, layer in enumerate(self.layers):
            attended = attend(i, layer, y)
            residual, y = ops["add_norm"](layer.out(quantise(attended), ops), residual, layer.ffn_norm)
            quantised = quantise(y)
            wide = F.silu(layer.gate(quantised, ops)) * layer.up(quantised, ops)
            following = self.layers[i + 1].attention_norm if i + 1 < len(self.layers) else self.last_norm
            residual, y = ops["add_norm"](layer.down(quantise(wide), ops), residual, following)
        return y

    def decode_step(self, ops, tokens, lengths, caches, dtype=torch.bfloat16):
        """One token for each sequence. tokens, lengths: [B]; caches: keys and values of each layer, [B, HK, S, 128],
        where those of the new token are written. Gives logits in fp32, and places and values of the 64 largest."""
        positions = lengths.long() - 1
        cos, sin = self.cos[positions], self.sin[positions]
        rows = torch.arange(tokens.shape[0], device=tokens.device)

        def attend(i, layer, y):
            q, k, v = self._heads(layer, y, cos, sin, ops)
            keys, values = caches[i]
            keys[rows, :, positions] = k.to(keys.dtype)
            values[rows, :, positions] = v.to(values.dtype)
            return ops["decode"](q, keys, values, lengths).reshape(tokens.shape[0], -1)

        y = self._run(self.decode_embedding[tokens].to(dtype), attend, ops)
        logits = (y @ self.decode_head.to(dtype).t()).float()
        places, values = ops["top_k"](logits)
        return logits, places, values

    def loss(self, ops, tokens, targets, dtype=torch.bfloat16):
        """Cross entropy of each token. tokens: [batch, length]; targets: [batch * length]."""
        batch, length = tokens.shape
        cos, sin = (part[:length].repeat(batch, 1, 1) for part in (self.cos, self.sin))

        def attend(i, layer, y):
            heads = self._heads(layer, y, cos, sin, ops)
            q, k, v = (part.view(batch, length, -1, HEAD).transpose(1, 2) for part in heads)
            attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            return attended.transpose(1, 2).reshape(batch * length, -1)

        y = self._run(self.loss_embedding[tokens.reshape(-1)].to(dtype), attend, ops)
        logits = (y @ self.loss_head.to(dtype).t()).float()
        return (ops["cross_entropy"](logits, targets),)
