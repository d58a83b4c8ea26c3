"""Runs a file's model without memory for its tensors, and notes shapes, work and lengths of sums."""

import math
import traceback

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

import model_form
from source_sites import with_sizes

MOST_INPUTS = 32  # of a problem
RANDOM = ("bernoulli", "native_dropout", "rand", "randn", "rand_like", "randn_like", "normal", "uniform", "randint",
          "randint_like", "randperm", "multinomial", "exponential", "dropout")
PARTIAL = ("embedding", "index", "index_select", "gather", "take", "slice", "select", "narrow", "as_strided",
           "embedding_bag", "nll_loss_forward", "nll_loss2d_forward", "masked_select")
VIEWS = ("view", "reshape", "_reshape_alias", "t", "transpose", "permute", "expand", "unsqueeze", "squeeze", "detach",
         "alias", "unfold", "split", "chunk", "_unsafe_view", "lift_fresh", "unbind", "diagonal", "size", "device")
REDUCTIONS = ("sum", "mean", "var", "var_mean", "std", "std_mean", "norm", "linalg_vector_norm", "logsumexp", "prod",
              "avg_pool1d", "avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "mse_loss",
              "smooth_l1_loss", "huber_loss", "nll_loss_forward", "binary_cross_entropy", "kl_div", "nansum", "frobenius_norm")
ALONG = ("_softmax", "_log_softmax", "softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp")
PRODUCTS = ("mm", "bmm", "mv", "dot", "addmm", "addmv", "baddbmm", "addbmm", "linear", "matmul")


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.forward = False
        self.sums, self.flops, self.random, self.operations = [], [], "", 0
        self.partial = set()  # storages of which a part may be enough
        self.ranges = []  # of tensors of random integers, in order: (least, most, shape, dtype)

    def __torch_dispatch__(self, function, kinds, arguments=(), named=None):
        result = function(*arguments, **(named or {}))
        name = function._schema.name.split("::")[-1].rstrip("_") if hasattr(function, "_schema") else str(function)
        if name == "randint" and not self.forward:
            self._note_range(function, arguments, result)
        if self.forward and name not in VIEWS and isinstance(result, (torch.Tensor, tuple, list)):
            self._note(name, arguments, result)
        return result

    def _note_range(self, function, arguments, result):
        low = arguments[0] if "low" in function._schema.arguments[0].name else 0
        high = arguments[1] if "low" in function._schema.arguments[0].name else arguments[0]
        self.ranges.append((int(low), int(high) - 1, tuple(result.shape), result.dtype))

    def _note(self, name, arguments, result):
        self.operations += 1
        tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
        out = result if isinstance(result, torch.Tensor) else next(
            (value for value in result if isinstance(value, torch.Tensor)), None)
        if name in RANDOM and not self.random:
            self.random = name
        if name in PARTIAL:
            self.partial.update(storage_of(value) for value in tensors)
        if out is None or not tensors:
            return
        terms, work = terms_and_work(name, arguments, tensors, out)
        self.sums.append(terms)
        self.flops.append(work)


def storage_of(tensor):
    try:
        return tensor.untyped_storage()._cdata
    except (AttributeError, NotImplementedError):
        try:
            return tensor.storage()._cdata
        except NotImplementedError:
            return id(tensor)


def terms_and_work(name, arguments, tensors, out):
    """(extents whose product is the terms of its sums, floating-point operations) of one operation."""
    numel = out.numel()
    if name in PRODUCTS:
        right = tensors[-1] if name.startswith(("addm", "baddb", "addb")) else tensors[1]
        left = tensors[-2] if name.startswith(("addm", "baddb", "addb")) else tensors[0]
        terms = left.shape[-1] if left.dim() else 1
        return [terms], 2 * numel * terms
    if name == "convolution":
        weight, transposed = tensors[1], arguments[6]
        extents = [size for at, size in enumerate(weight.shape) if at != (1 if transposed else 0)]
        per_element = math.prod(weight.shape[1:])
        return extents, 2 * per_element * (tensors[0].numel() if transposed else numel)
    if "attention" in name:
        return [max(tensors[0].shape[-1], tensors[1].shape[-2])], 4 * tensors[0].numel() * tensors[1].shape[-2]
    if name in REDUCTIONS:
        return reduced_extents(arguments, tensors[0], out), tensors[0].numel()
    if name in ALONG:
        dimension = next((value for value in arguments[1:] if type(value) is int), -1)
        return [tensors[0].shape[dimension]] if tensors[0].dim() else [], 5 * numel
    if name == "native_layer_norm":
        return list(arguments[1]), 8 * numel
    if name in ("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm"):
        return [out.shape[0], *out.shape[2:]], 8 * numel
    if name == "native_group_norm":
        return [out.shape[1] // arguments[6], *out.shape[2:]], 8 * numel
    return [], numel


def reduced_extents(arguments, tensor, out):
    named = next((value for value in arguments[1:] if isinstance(value, (list, tuple))
                  and all(type(one) is int and -tensor.dim() <= one < tensor.dim() for one in value)), None)
    extents = list(tensor.shape) if out.numel() == 1 else [tensor.shape[at] for at in named or []]
    if math.prod(extents) == tensor.numel() // max(1, out.numel()):
        return extents
    return [max(1, tensor.numel() // max(1, out.numel()))]


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
    with fake_mode(), recorder, torch.no_grad():
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
