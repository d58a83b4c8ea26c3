"""The model's operators: PyTorch's own, exact ones, and those of exported packages, with checks at the model's shapes.

    add_norm(x, residual, w) -> (x + residual, its RMSNorm)     x, residual: [rows, hidden]
    linear(a, b, scale_a, scale_b) -> a b^T scale_a scale_b     a: [M, K], b: [N, K] in fp8 e4m3
    decode(q, k, v, lengths) -> [B, heads, 128]                 q: the same; k, v: [B, HK, S, 128]
    top_k(logits) -> places and values, [rows, 64]
    cross_entropy(logits, targets) -> [rows]                    targets: int64
"""

import dataclasses
import importlib
import sys

import torch
import torch.nn.functional as F

from model import BEST, EPSILON
from timing import first_line, graph_of, median

NAMES = {"add_norm": "add_rmsnorm_bf16", "linear": "scaled_gemm_bf16", "decode": "decode_bf16", "top_k": "topk_f32",
         "cross_entropy": "cross_entropy_f32"}


def plain_add_norm(x, residual, w):
    r = x + residual
    return r, F.rms_norm(r, (r.shape[1],), w, EPSILON)


def plain_linear(a, b, scale_a, scale_b):
    """Without use_fast_accum, which keeps fewer bits of the sums than the problem scaled_gemm_bf16 allows."""
    return torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.bfloat16)


def plain_decode(q, k, v, lengths):
    """The equivalent that the problem names: queries that share a head of the cache are rows of one product, so that
    the cache is read once, not once for each of them."""
    B, heads, head = q.shape
    mask = torch.arange(k.shape[2], device=q.device) < lengths[:, None]
    shared = q.view(B, k.shape[1], heads // k.shape[1], head)
    return F.scaled_dot_product_attention(shared, k, v, attn_mask=mask[:, None, None, :]).reshape(B, heads, head)


def plain_top_k(logits):
    values, places = torch.topk(logits, BEST, dim=1)
    return places, values


def plain_cross_entropy(logits, targets):
    return F.cross_entropy(logits, targets, reduction="none")


PLAIN = {"add_norm": plain_add_norm, "linear": plain_linear, "decode": plain_decode, "top_k": plain_top_k,
         "cross_entropy": plain_cross_entropy}


def of_packages(places):
    """The operators of the packages {problem: folder} that load, and complaints, {problem: text}."""
    loaded, complaints = {}, {}
    for problem, place in places.items():
        sys.path.insert(0, place)
        try:
            loaded[problem] = getattr(importlib.import_module(problem), problem)
        except Exception as error:
            complaints[problem] = f"the package does not load: {error}"
    wrapped = {}
    if add_rmsnorm := loaded.get("add_rmsnorm_bf16"):
        wrapped["add_norm"] = lambda x, residual, w: add_rmsnorm(x=x, residual=residual, w=w)
    if scaled_gemm := loaded.get("scaled_gemm_bf16"):
        wrapped["linear"] = lambda a, b, scale_a, scale_b: scaled_gemm(a=a, b=b, scale_a=scale_a, scale_b=scale_b)
    if decode := loaded.get("decode_bf16"):
        wrapped["decode"] = lambda q, k, v, lengths: decode(q=q, k=k, v=v, lengths=lengths, G=q.shape[1] // k.shape[1])
    if topk := loaded.get("topk_f32"):
        wrapped["top_k"] = lambda logits: topk(x=logits)
    if cross_entropy := loaded.get("cross_entropy_f32"):
        wrapped["cross_entropy"] = lambda logits, targets: cross_entropy(logits=logits, targets=targets.int())
    return wrapped, complaints


def with_flex_attention(lengths, cache):
    """PyTorch's operators, but FlexAttention in place of SDPA, which skips what lies beyond a sequence's length. For
    torch.compile only. The mask of blocks is made here, outside of the step."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    batch, positions = cache.shape[0], cache.shape[2]
    mask = create_block_mask(lambda b, h, i, j: j < lengths[b], batch, None, 1, positions, device=str(cache.device))

    def decode(q, k, v, lengths):
        return flex_attention(q[:, :, None], k, v, block_mask=mask, enable_gqa=True)[:, :, 0]

    return dict(PLAIN, decode=decode)


def exact_operators(dtype):
    """In fp32 or fp64, nothing rounded in between."""

    def add_norm(x, residual, w):
        r = x.to(dtype) + residual.to(dtype)
        return r, r * (r.square().mean(1, keepdim=True) + EPSILON).rsqrt() * w.to(dtype)

    def linear(a, b, scale_a, scale_b):
        return (a.float().to(dtype) @ b.float().to(dtype).t()) * (scale_a.to(dtype) * scale_b.to(dtype))

    def decode(q, k, v, lengths):
        rows = []
        for b, length in enumerate(lengths.tolist()):
            keys, values = k[b, :, :length].to(dtype), v[b, :, :length].to(dtype)
            shared = q[b].to(dtype).view(k.shape[1], -1, q.shape[2])
            weights = torch.softmax(shared @ keys.transpose(1, 2) / q.shape[2]**0.5, -1)
            rows.append((weights @ values).reshape(q.shape[1:]))
        return torch.stack(rows)

    def cross_entropy(logits, targets):
        return F.cross_entropy(logits.double(), targets, reduction="none")

    return {"add_norm": add_norm, "linear": linear, "decode": decode, "top_k": plain_top_k,
            "cross_entropy": cross_entropy}


@dataclasses.dataclass
class Errors:
    """Of a result against an exact one, absolute; `size` and `most` are the exact one's own RMS and largest."""
    rms: float
    largest: float
    size: float
    most: float


def errors_of(got, exact):
    exact = exact.double()
    difference = got.double() - exact
    if not bool(torch.isfinite(got).all()):
        return Errors(float("inf"), float("inf"), 1, 1)
    return Errors(*(value.item() for value in (difference.square().mean().sqrt(), difference.abs().max(),
                                               exact.square().mean().sqrt(), exact.abs().max())))


def wrong_places(logits, places, values):
    """Why these are not the 64 largest of each row, largest first; None: they are."""
    places = places.long()
    if not bool(((places >= 0) & (places < logits.shape[1])).all()):
        return "a place lies outside of its row"
    in_order = places.sort(dim=1).values
    if bool((in_order[:, 1:] == in_order[:, :-1]).any()):
        return "a place occurs twice"
    if not torch.equal(logits.gather(1, places), values):
        return "a value is not the one at its place"
    if not torch.equal(torch.topk(logits, BEST, dim=1).values, values):
        return "they are not the largest"
    return None


@dataclasses.dataclass
class Case:
    """The calls of an operator at one shape: the arguments of the first, and how many there are."""
    arguments: tuple
    calls: int = 0


def recording(ops, kept):
    """The same operators, which keep their calls: {(name, shapes): Case}."""

    def recorder(name, operator):
        def call(*arguments):
            kept.setdefault((name, tuple(tuple(one.shape) for one in arguments[:2])), Case(arguments)).calls += 1
            return operator(*arguments)
        return call

    return {name: recorder(name, operator) for name, operator in ops.items()}


def allowed(eager, dtype):
    """RMS and largest error: 1.5 times PyTorch's own, and a few units in the last place, since it may have none."""
    eps = torch.finfo(dtype).eps
    places = 4 if dtype == torch.float32 else 0.05
    return 1.5 * eager.rms + places * eps * eager.size, 1.5 * eager.largest + max(1, places) * eps * eager.most


def differences(name, arguments, exported):
    """Sentences on what the exported operator gives beside PyTorch's and an exact one in double."""
    ours = exported(*arguments)
    if name == "top_k":
        wrong = wrong_places(arguments[0], *ours)
        return [wrong] if wrong else []
    others = PLAIN[name](*arguments), exact_operators(torch.float64)[name](*arguments)
    found = []
    for mine, eager, right in zip(*(one if isinstance(one, tuple) else (one,) for one in (ours, *others))):
        if mine.shape != right.shape or mine.dtype != eager.dtype:
            found.append(f"{mine.dtype} {tuple(mine.shape)} in place of {eager.dtype} {tuple(right.shape)}")
            continue
        own, (most_rms, most) = errors_of(mine, right), allowed(errors_of(eager, right), eager.dtype)
        if not (own.rms <= most_rms and own.largest <= most):
            found.append(f"error rms {own.rms:.3g} (allowed {most_rms:.3g}), "
                         f"largest {own.largest:.3g} (allowed {most:.3g})")
    return found


def check_each(kept, exported):
    """Each exported operator alone, at the shapes and with the data that the model gives it. Gives (name of the
    operator, sentence, whether it raised) of each difference, and the number of cases."""
    complaints, cases = [], 0
    for (name, shapes), case in kept.items():
        if name not in exported:
            continue
        cases += 1
        where = f"{NAMES[name]} at " + " ".join("x".join(map(str, shape)) for shape in shapes)
        try:
            found = differences(name, case.arguments, exported[name])
            complaints += [(name, f"{where}: {sentence}", False) for sentence in found]
        except Exception as error:
            complaints.append((name, f"{where}: {first_line(error)}", True))
    return complaints, cases


def times_alone(kept, exported, clock):
    """{name: (microseconds of all calls of the exported operator, of PyTorch's)}, each timed alone as a CUDA graph."""
    totals = {}
    for (name, _), case in kept.items():
        if name in exported:
            pair = [graph_of(lambda run=run: run(*case.arguments)) for run in (exported[name], PLAIN[name])]
            samples = [[clock.sample(graph.replay) for graph in pair] for _ in range(17)][2:]
            ours, plain = (case.calls * median(side) for side in zip(*samples))
            before = totals.get(name, (0, 0))
            totals[name] = (before[0] + ours, before[1] + plain)
    return totals
