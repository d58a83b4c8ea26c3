"""Runs a file's model without memory for its tensors, and notes shapes, work and lengths of sums."""

import traceback
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

import model_form
from operations import NORMS, named_arguments, squares, sums_of, work_of
from source_sites import with_sizes

MOST_INPUTS = 63  # of the 64 tensors that a problem may have
RANDOM = ("bernoulli", "native_dropout", "rand", "randn", "rand_like", "randn_like", "normal", "uniform", "randint",
          "randint_like", "randperm", "multinomial", "exponential", "dropout")
PARTIAL = ("embedding", "index", "index_select", "gather", "take", "slice", "select", "narrow", "as_strided",
           "embedding_bag", "nll_loss_forward", "nll_loss2d_forward", "masked_select")
VIEWS = ("view", "reshape", "_reshape_alias", "t", "transpose", "permute", "expand", "unsqueeze", "squeeze", "detach",
         "alias", "unfold", "split", "chunk", "_unsafe_view", "lift_fresh", "unbind", "diagonal", "size", "device")


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.forward = False
        self.sums, self.flops, self.random = [], [], ""
        self.operations = []  # their names, in order
        self.multiplies = False  # many terms, which overflow in another order
        self.squares = self.norms = False
        self.partial = set()  # storages of which a part may be enough
        self.ranges = []  # of tensors of random integers, in order: (least, most, shape, dtype)

    def __torch_dispatch__(self, function, kinds, arguments=(), named=None):
        name = function._schema.name.split("::")[-1].rstrip("_") if hasattr(function, "_schema") else str(function)
        compute = WITHOUT_VALUES.get(name, function)
        result = compute(*arguments, **(named or {}))
        if name == "randint" and not self.forward:
            self._note_range(function, arguments, result)
        if self.forward and name not in VIEWS and isinstance(result, (torch.Tensor, tuple, list)):
            self._note(name, named_arguments(function, arguments, named or {}), result)
        return result

    def _note_range(self, function, arguments, result):
        low = arguments[0] if "low" in function._schema.arguments[0].name else 0
        high = arguments[1] if "low" in function._schema.arguments[0].name else arguments[0]
        self.ranges.append((int(low), int(high) - 1, tuple(result.shape), result.dtype))

    def _note(self, name, given, result):
        self.operations.append(name)
        tensors = [value for value in given.values() if isinstance(value, torch.Tensor)]
        out = result if isinstance(result, torch.Tensor) else next(
            (value for value in result if isinstance(value, torch.Tensor)), None)
        self.multiplies = self.multiplies or name in ("prod", "cumprod")
        self.squares = self.squares or squares(name, given, tensors)
        self.norms = self.norms or name in NORMS
        if name in RANDOM and not self.random:
            self.random = name
        if name in PARTIAL:
            self.partial.update(storage_of(value) for value in tensors)
        if out is None or not tensors:
            return
        if out.numel() == 0:  # where no values are computed, nothing refuses a window larger than what it slides over
            raise model_form.Unusable(f"{name} gives a tensor without elements")
        sums = sums_of(name, given, tensors, out)
        self.sums += sums
        self.flops.append(work_of(name, given, tensors, out, sums))


def max_pool3d(x, window, stride=(), padding=0, dilation=1, ceil_mode=False):
    """Its outputs without values, which PyTorch 1.13 only makes by computing them: minutes at large sizes."""
    by_axis = lambda value: list(value) * (3 // len(value)) if isinstance(value, (list, tuple)) else [value] * 3
    shape = list(x.shape[:-3])
    for size, k, s, p, d in zip(x.shape[-3:], by_axis(window), by_axis(stride or window), by_axis(padding), by_axis(dilation)):
        extent = (size + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        shape.append(extent - 1 if ceil_mode and (extent - 1) * s >= size + p else extent)
    if min(shape) < 1:
        raise RuntimeError(f"max_pool3d: the output would be of shape {shape}")
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


def repeat_interleave(x, repeats, dim=None, *, output_size=None):
    """Repeats by views: PyTorch 1.13 puts the number into a tensor and reads it back, which a trace cannot do."""
    if not isinstance(repeats, int):
        return REPEAT_INTERLEAVE(x, repeats, dim, output_size=output_size)
    x, dim = (x.reshape(-1), 0) if dim is None else (x, dim % x.dim())
    before, after = x.shape[:dim], x.shape[dim + 1:]
    return x.unsqueeze(dim + 1).expand(*before, x.shape[dim], repeats, *after).reshape(*before, x.shape[dim] * repeats, *after)


REPEAT_INTERLEAVE = torch.repeat_interleave
WITHOUT_VALUES = {"max_pool3d_with_indices": max_pool3d}


def storage_of(tensor):
    try:
        return tensor.untyped_storage()._cdata
    except (AttributeError, NotImplementedError):
        try:
            return tensor.storage()._cdata
        except NotImplementedError:
            return id(tensor)


class Traced:
    """Shapes by tensor: inputs and parameters as (name, dtype, shape), outputs without names; and what was noted."""


def fake_mode():
    try:
        return FakeTensorMode(allow_non_fake_inputs=True)
    except TypeError:  # before PyTorch 2
        return FakeTensorMode()


def trace(source, sizes=None):
    """Runs the file with other numbers at some sites. Raises what the file raises."""
    recorder = Recorder()
    repeating = mock.patch.multiple(torch, repeat_interleave=repeat_interleave)
    repeating_tensor = mock.patch.object(torch.Tensor, "repeat_interleave", repeat_interleave)
    with repeating, repeating_tensor, fake_mode(), recorder, torch.no_grad():
        module = model_form.load(with_sizes(source, sizes or {}))
        model = model_form.make_model(module)
        arguments = model_form.make_inputs(module)
        count = sum(isinstance(value, torch.Tensor) for value in arguments) + len(list(model.parameters()))
        if count > MOST_INPUTS:
            raise model_form.Unusable(f"has {count} inputs and parameters; a problem holds at most {MOST_INPUTS}")
        recorder.forward = True
        outputs = model_form.outputs_of(model(*arguments))
        recorder.forward = False
    traced = Traced()
    names = model_form.argument_names(model, len(arguments))
    traced.arguments = list(zip(names, arguments))
    traced.parameters = list(model.named_parameters())
    traced.outputs = outputs
    traced.recorder = recorder
    traced.dropouts = sum(isinstance(part, model_form.DROPOUT) for part in model.modules())
    traced.batch_norms = sum("BatchNorm" in type(part).__name__ and part.training for part in model.modules())
    traced.dimensions = dimensions(traced)
    if any(size < 1 for size in traced.dimensions.values()):
        raise model_form.Unusable("a tensor is empty")
    return traced


def dimensions(traced):
    """Every number that follows from the sizes: {(kind, tensor, index): number}."""
    numbers = {}
    for kind, tensors in (("input", traced.arguments), ("parameter", traced.parameters),
                          ("output", list(enumerate(traced.outputs)))):
        for name, tensor in tensors:
            if isinstance(tensor, torch.Tensor):
                for index, size in enumerate(tensor.shape):
                    numbers[kind, name, index] = int(size)
    for name, (least, most) in integer_ranges(traced).items():
        numbers["most", name, 0] = most + 1 if most >= 0 else 1
    return numbers


def integer_ranges(traced):
    """{argument: (least, most)} of those that get_inputs() draws as random integers, found by their shapes."""
    ranges, left = {}, list(traced.recorder.ranges)
    for name, tensor in traced.arguments:
        for drawn in left:
            if isinstance(tensor, torch.Tensor) and (tuple(tensor.shape), tensor.dtype) == drawn[2:]:
                ranges[name] = drawn[:2]
                left.remove(drawn)
                break
    return ranges


def what_failed(error):
    """One line about an exception of the file's, with the line."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename == "the imported file"]
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" + (f" (line {lines[-1]})" if lines else "")
