"""The distribution of a tensor's values, as an "init" of problem.json."""

import math

import torch

ENOUGH = 2000


def rounded(value, digits=3):
    return float(f"{value:.{digits}g}")


def outward(low, high):
    """Bounds with few digits; 0 and 1 where the values come near."""
    width = high - low
    low = round(low) if abs(low - round(low)) < 0.02 * width else rounded(low - 0.001 * width)
    high = round(high) if abs(high - round(high)) < 0.02 * width else rounded(high + 0.001 * width)
    return {"kind": "uniform", "low": low, "high": high}


def fit(values):
    """(init, remark) of floating-point values, a flat tensor."""
    values = values.double()
    values = values[torch.isfinite(values)]
    if values.numel() == 0:
        return {"kind": "normal", "scale": 1}, "holds no finite values: drawn from N(0, 1)"
    low, high, mean = values.min().item(), values.max().item(), values.mean().item()
    deviation = values.std(unbiased=False).item()
    if high - low <= 1e-12 * max(1.0, abs(mean)):
        return ({"kind": "uniform", "low": rounded(mean - 0.5), "high": rounded(mean + 0.5)},
                f"is {rounded(mean)} everywhere: drawn from half below to half above, so that it matters")
    flat = ((values - mean) / deviation).pow(4).mean().item() < 2.2 and (high - low) / deviation < 3.7
    if flat:
        return outward(low, high), ""
    if low >= 0:
        return outward(0.0 if low < 0.1 * high else low, high), "is never negative: drawn from between its bounds"
    if abs(mean) <= 0.15 * deviation:
        scale = rounded(deviation, 2)
        return {"kind": "normal", "scale": 1 if 0.95 < scale < 1.05 else scale}, ""
    half = math.sqrt(3) * deviation
    return outward(mean - half, mean + half), "has a mean: drawn uniformly around it"


def fit_integers(values):
    return {"kind": "integers", "low": int(values.min().item()), "high": int(values.max().item())}


def sample(make, most_tries=24):
    """Values of one tensor from as many calls of make(seed) as it takes."""
    parts, count = [], 0
    for seed in range(most_tries):
        part = make(seed).detach().reshape(-1)
        parts.append(part[torch.randperm(part.numel())[:1 << 16]] if part.numel() > 1 << 16 else part)
        count += part.numel()
        if count >= ENOUGH:
            break
    return torch.cat(parts)
