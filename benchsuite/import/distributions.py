"""The distribution of a tensor's values, as an "init" of problem.json."""

import math

import torch

ENOUGH = 2000
MOST_WHOLE = 10000  # of a range of whole numbers


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
    if torch.equal(values, values.round()) and high - low <= MOST_WHOLE:
        return {"kind": "integers", "low": int(low), "high": int(high)}, ""
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


def widened(values):
    """Floats of 8 bits as wider ones: PyTorch has hardly more than conversions for them."""
    return values.float() if values.is_floating_point() and values.element_size() == 1 else values


def sample(make, most_tries=24):
    """Values of one tensor from as many calls of make(seed) as it takes."""
    parts, count = [], 0
    for seed in range(most_tries):
        part = widened(make(seed).detach().reshape(-1))
        parts.append(part[torch.randperm(part.numel())[:1 << 16]] if part.numel() > 1 << 16 else part)
        count += part.numel()
        if count >= ENOUGH:
            break
    return torch.cat(parts)


def are_probabilities(samples):
    """Whether the rows of all samples hold numbers of 0 and more that add up to 1."""
    return all(value.dim() > 0 and value.shape[-1] > 1 and bool((value.double() >= 0).all())
               and (value.double().sum(dim=-1) - 1).abs().max().item() < 0.01 for value in samples)


def fit_matrix(samples, values):
    """fit(values), where `samples` of the whole tensor are no triangular or symmetric matrices."""

    samples = [widened(value) for value in samples]

    def all_are(form):
        return all(torch.equal(value, form(value)) for value in samples)

    if any(value.dim() < 2 or value.shape[-1] != value.shape[-2] or value.shape[-1] < 2 for value in samples) or all_are(torch.zeros_like):
        return fit(values)
    for kind, form, other in (("triangular", torch.tril, torch.triu), ("upper_triangular", torch.triu, torch.tril)):
        if all_are(form) and not all_are(other):
            return {"kind": kind, "scale": 1}, "is triangular: the rest is drawn from N(0, 1)"
    init, remark = fit(values)
    if all_are(lambda value: value.mT):
        remark = "is symmetric in the file: drawn without that, so a kernel that relies on it is refused"
    return init, remark
