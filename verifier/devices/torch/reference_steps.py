"""Launch plans that PyTorch carries out: a call of forward(), between copies that damage tensors in the problem audit.

The copies are those of verifier/audit/damage.h, whose numbers and arguments these are.
"""

import math

FORWARD = "pytorch_forward"
COPY = "audit_copy_"
OF_8_BITS = {5: "float8_e4m3fn", 6: "float8_e5m2"}  # formats for which PyTorch has hardly more than conversions
WORDS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


def is_forward(steps):
    return len(steps) == 1 and steps[0]["kernel"] == FORWARD


def workspace_tensor(torch, memory, tensors, steps, name):
    """(dtype, shape) of a workspace: that of the tensor which the copies put into it."""
    original = name.removeprefix("audit_")
    return tensors[original]["dtype"], tensors[original]["shape"]


def carry_out(torch, steps, tensors, memory, forward):
    """`tensors`: the judge's descriptions by name; `memory`: tensors by name; `forward(inputs)`: outputs by name."""
    inputs = sorted(name for name, tensor in tensors.items() if tensor["role"] == "input")
    outputs = sorted(name for name, tensor in tensors.items() if tensor["role"] == "output")
    for step in steps:
        if step["kernel"] == FORWARD:
            given = dict(zip(inputs, step["args"]))
            results = forward({name: memory[at] for name, at in given.items()})
            for name, at in zip(outputs, step["args"][len(inputs):]):
                memory[at].copy_(results[name])
        elif step["kernel"].startswith(COPY):
            copy(torch, memory, *step["args"])
        else:
            raise RuntimeError(f"a plan of PyTorch's names the kernel {step['kernel']}")


def bits_of(torch, tensor):
    return tensor.reshape(-1).view(getattr(torch, WORDS[tensor.element_size()]))


def flat(torch, tensor):
    """Its elements in a row; bools and floats of 8 bits as bytes, which a copy may turn into any."""
    row = tensor.reshape(-1)
    return row.view(torch.uint8) if row.dtype == torch.bool or is_float_of_8_bits(row) else row


def is_float_of_8_bits(tensor):
    return tensor.is_floating_point() and tensor.element_size() == 1


def numbers(torch, values, format):
    """Returns flat() with floats of 8 bits as wider ones."""
    return values.view(getattr(torch, OF_8_BITS[format])).float() if format in OF_8_BITS else values


def rounded(bits, dropped, format, least, torch):
    if format == 0:
        even = bits & ~1
        return torch.where(bits == least, bits, even)
    half, odd = 1 << (dropped - 1), (bits >> dropped) & 1
    return ((bits + (half - 1) + odd) >> dropped) << dropped


def typical(torch, values, format):
    few = values[:15]
    return few[numbers(torch, few, format).sort().indices[few.numel() // 2]]


def doubled(torch, one, format):
    """An element of a flat tensor, as a tensor of its own."""
    if format in OF_8_BITS:
        return doubled(torch, numbers(torch, one, format), 3).to(getattr(torch, OF_8_BITS[format])).view(torch.uint8)
    return one + 1 if format == 0 or one == 0 else (one * 2 if math.isfinite(one) else torch.zeros_like(one))


def copy(torch, memory, source, other, to, rows, columns, others, damage, amount, format, least):
    """Copies `source` to `to` with one damage (verifier/audit/damage.h)."""
    values = flat(torch, memory[source]).clone()
    target = flat(torch, memory[to])
    count = rows * columns
    end = count // 16 + 1
    zero = least if format == 0 else 0
    if damage == 1:
        return
    if damage == 2:
        target[:count - end] = values[:count - end]
        return
    if damage == 3:
        values.fill_(zero)
    elif damage == 4:
        values.fill_(typical(torch, values, format))
    elif damage == 5:
        repeated = flat(torch, memory[other])[:others]
        values = repeated.repeat(math.ceil(count / repeated.numel()))[:count]
    elif damage == 6:
        values[count // 2] = 0x7F if format in OF_8_BITS else math.nan
    elif damage == 7:
        values[count - end:] = zero
    elif damage == 8 and end <= count - end:
        values[count - end:] = values[count - 2 * end:count - end].clone()
    elif damage == 9:
        values = values.roll(-1)
    elif damage == 10:
        partner = torch.arange(rows, device=values.device) ^ 1
        partner = torch.where(partner < rows, partner, torch.arange(rows, device=values.device))
        values = values.reshape(rows, columns)[partner].reshape(-1)
    elif damage == 11:
        values = values.reshape(rows, columns).t().reshape(-1) if rows > 1 and columns > 1 else values
    elif damage == 12:
        values = values[:columns].repeat(rows)
    elif damage == 13:
        bits = bits_of(torch, values)
        finite = torch.ones_like(bits, dtype=torch.bool) if format == 0 else torch.isfinite(numbers(torch, values, format))
        bits.copy_(torch.where(finite, rounded(bits, amount, format, least, torch), bits))
    elif damage == 14:
        middle = values[count // 2:count // 2 + 1]
        middle.copy_(doubled(torch, middle, format))
    elif damage == 15:
        bits = bits_of(torch, values)[count % 97 // 2::97]
        bits.copy_(bits + 1 if format == 0 else bits ^ (1 << amount))
    elif damage == 16:
        values.reshape(rows, columns)[:, columns - (columns + 99) // 100:] = zero
    elif damage == 17:
        values.reshape(rows, columns)[rows - 1] = zero
    elif damage == 18:
        values = torch.where(torch.isfinite(numbers(torch, values, format)), values, torch.zeros_like(values))
    target.copy_(values)
