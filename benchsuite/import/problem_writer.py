"""Writes what import found as a problem: problem.json, and the text of reference.py."""

import inspect
import math
import re

import source_sites

DTYPES = {"torch.float16": "f16", "torch.bfloat16": "bf16", "torch.float32": "f32", "torch.float64": "f64",
          "torch.float8_e4m3fn": "f8e4m3", "torch.float8_e5m2": "f8e5m2", "torch.int8": "i8", "torch.uint8": "u8",
          "torch.int32": "i32", "torch.int64": "i64", "torch.bool": "bool"}
BYTES = {"f16": 2, "bf16": 2, "f8e4m3": 1, "f8e5m2": 1, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i32": 4, "i64": 8,
         "bool": 1}
PRIMES = (7, 13, 5, 11, 3, 17)
MOST_TEST_ELEMENTS, MOST_TEST_WORK = 16384, 1 << 30
LEAST_SIZES = 8  # that an axis has where the smallest shape is large already
CPU_ELEMENTS, CPU_WORK = 1 << 18, 4_000_000
MOST_CPU_ELEMENTS, MOST_CPU_WORK = 1 << 26, 2_000_000_000

HEAD = '''"""Made by kernelwright import from {file}; what it imported is SOURCE."""

SOURCE = \'\'\'\\
{source}\'\'\'
AXES = {axes}  # axis: (input, dimension), and the places of the source that it sets
ARGUMENTS = {arguments}  # forward's, in order: the name of an input, or None and a constant
PARAMETERS = {parameters}  # of the module, by the name of their input
ZEROS = {zeros}  # parameters that change no output: left out, and zero

# ---- Below: how kernelwright calls it with the tensors that the judge draws.
'''
TAIL = '''

import torch

MOST_MODELS = 16
_bare_models = {}  # the latest, by sizes, device and width; without the parameters that each call gives


def _sizes(inputs):
    return {name: inputs[tensor].shape[dimension] for name, (tensor, dimension, _) in AXES.items()}


def _made(inputs):
    sizes = _sizes(inputs)
    places = {place: sizes[name] for name, (_, _, all_places) in AXES.items() for place in all_places}
    module = load(with_sizes(SOURCE, places))
    # The caller's random numbers stay as they are. Who computes in inference mode now, need not later.
    with torch.random.fork_rng(devices=[]), torch.inference_mode(False):
        torch.default_generator.manual_seed(0)
        model = make_model(module)
    own = dict(model.named_parameters())
    for name in ZEROS:
        own[name].data.zero_()
    return model


def _placed(model, inputs):
    with torch.inference_mode(False):
        model = model.to(next(iter(inputs.values())).device)
        return model.double() if _is_wide(inputs) else model


def _is_wide(inputs):
    return any(value.dtype == torch.float64 for value in inputs.values())


def _model(inputs):
    """The file's model for inputs of these shapes."""
    return _placed(_made(inputs), inputs)


def _bare_model(inputs):
    key = (tuple(sorted(_sizes(inputs).items())), str(next(iter(inputs.values())).device), _is_wide(inputs))
    if key not in _bare_models:
        if len(_bare_models) == MOST_MODELS:
            del _bare_models[next(iter(_bare_models))]
        model = _made(inputs)
        own = dict(model.named_parameters())
        for theirs in PARAMETERS.values():
            own[theirs].data = own[theirs].data.new_empty(0)
        _bare_models[key] = _placed(model, inputs)
    return _bare_models[key]


def forward(**inputs):
    model = _bare_model(inputs)
    parameters = {theirs: inputs[name] for name, theirs in PARAMETERS.items()}
    arguments = [inputs[name] if name else constant for name, constant in ARGUMENTS]
    outputs = outputs_of(functional_call(model, parameters, arguments))
    return tuple(outputs) if len(outputs) > 1 else outputs[0]
'''


def identifier(name, taken):
    name = re.sub(r"\W", "_", name) or "tensor"
    name = "t" + name if not name[0].isalpha() else name
    while name in taken or name in ("min", "max", "ceil_div"):
        name += "_"
    taken.add(name)
    return name


def module_text(*modules):
    """Sources of import's own modules, as one text without their imports of each other."""
    text = "\n\n".join(inspect.getsource(module) for module in modules)
    return "\n".join(line for line in text.split("\n") if not re.match(r"from (source_sites|model_form) import", line))


def literal(source):
    """What stands between three quotes for it."""
    text = source.replace("\\", "\\\\").replace("'''", r"\'\'\'").replace("\r", r"\r")
    return text[:-1] + r"\'" if text.endswith("'") else text


def reference_text(source, file, axes, arguments, parameters, zeros, model_form):
    places = {axis.name: (axis.tensor, axis.recovered[2], axis.sites) for axis in axes}
    head = HEAD.format(file=file, source=literal(source), axes=repr(places), arguments=repr(arguments),
                       parameters=repr(parameters), zeros=repr(zeros))
    return head + module_text(source_sites, model_form) + TAIL


def product(extents):
    return " * ".join(f"({extent})" if re.search(r"[ ]", extent) else extent for extent in extents) or "1"


class Sizes:
    """Elements and work of a problem at given sizes of its axes."""

    def __init__(self, axes, tensors, work, evaluated):
        self._axes, self._tensors, self._work, self._evaluated = axes, tensors, work, evaluated

    def elements(self, sizes):
        return sum(math.prod(self._evaluated(extent, sizes) for extent in tensor["shape"]) for tensor in self._tensors)

    def bytes(self, sizes):
        return sum(BYTES[tensor["dtype"]] * math.prod(self._evaluated(extent, sizes) for extent in tensor["shape"])
                   for tensor in self._tensors)

    def work(self, sizes):
        return self._evaluated(self._work, sizes)

    def snapped(self, axis, size):
        size = max(axis.least, min(axis.size, size))
        return max(axis.least, size - (size - axis.least) % axis.multiple)

    def halved(self, sizes, fits):
        """The sizes after halving the largest axis until `fits(sizes)`; as small as they get otherwise."""
        sizes = dict(sizes)
        while not fits(sizes):
            for axis in sorted(self._axes, key=lambda one: -sizes[one.name]):
                smaller = self.snapped(axis, sizes[axis.name] // 2)
                if smaller < sizes[axis.name]:
                    sizes[axis.name] = smaller
                    break
            else:
                return sizes
        return sizes


def workloads(sizes_of, axes, fit_bytes):
    """(workloads of problem.json, sizes of the file, sizes for the cpu device)."""
    original = {axis.name: axis.size for axis in axes}
    least = {axis.name: axis.least for axis in axes}
    elements, work = sizes_of.elements(least), sizes_of.work(least)  # a fixed weight may be most of them
    small = lambda sizes: (sizes_of.elements(sizes) <= elements + MOST_TEST_ELEMENTS
                           and sizes_of.work(sizes) <= max(MOST_TEST_WORK, LEAST_SIZES * work))
    shapes = [least,
              {axis.name: sizes_of.snapped(axis, PRIMES[i % 6] * (1 + i // 6) * axis.multiple)
               for i, axis in enumerate(axes)},
              {axis.name: sizes_of.snapped(axis, 33 + 16 * i) for i, axis in enumerate(axes)}]
    tests = []
    for shape in shapes:
        shape = sizes_of.halved(shape, small)
        if shape not in tests:
            tests.append(shape)
    cpu = sizes_of.halved(original, lambda sizes: sizes_of.elements(sizes) <= elements + CPU_ELEMENTS
                          and sizes_of.work(sizes) <= max(CPU_WORK, LEAST_SIZES * work))
    gpu = sizes_of.halved(original, lambda sizes: sizes_of.bytes(sizes) <= fit_bytes)
    named = lambda prefix, shape: prefix + "".join(f"_{size}" for size in shape.values())[:48]
    listed = [{"name": f"test{i}" + named("", shape), "role": "test", "axes": shape} for i, shape in enumerate(tests)]
    listed.append({"name": named("bench_cpu", cpu), "role": "bench", "axes": cpu, "devices": ["cpu"]})
    listed.append({"name": named("bench", gpu), "role": "bench", "axes": gpu, "devices": ["cuda", "hip"]})
    return listed, original, cpu, gpu


def accumulate(dtypes):
    floating = [dtype for dtype in dtypes if dtype.startswith(("f", "bf"))]
    if not floating:
        return "i64" if "i64" in dtypes else "i32"
    return "f64" if "f64" in floating else "f32"
