"""Tries an exported package on the processor, before it is built: its own test, and then what decides for a kernel.

Usage: export_check.py FOLDER, with PyTorch 1.13 or newer. In place of the CUDA operator stands one in Python: first
forward(), with which the package's test must pass, then one that is 1 % off, with which it must fail. Stand-ins for
tensors on a GPU show what the package gives to its kernels."""

import importlib.util
import pathlib
import re
import sys
import unittest
import warnings
from unittest import mock

import torch


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failures_of(test, names=()):
    """How many of its tests and their shapes fail, and how many tests ran."""
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names, test) if names else loader.loadTestsFromModule(test)
    result = unittest.TestResult()
    suite.run(result)
    return len(result.failures) + len(result.errors), result.testsRun - len(result.skipped)


class Operator:
    """Takes the place of the operator that csrc/ defines."""

    def __init__(self, folder, name):
        self.compute, self.calls = None, 0
        schema, = re.findall(r'def\("(%s\(.*?)"' % name, (folder / "csrc" / "binding.cpp").read_text())
        self._library = torch.library.Library(name, "DEF")
        self._library.define(schema)
        self._library.impl(name, self._run, "CPU")

    def _run(self, *arguments):
        self.calls += 1
        return self.compute(*arguments)


def scaled(tensor, factor):
    """A number of 8 bits would not show 1 %."""
    if tensor.element_size() > 1:
        return factor * tensor
    return (factor**20 * tensor.float()).to(tensor.dtype)


def times_forward(package, factor):
    """forward() times a factor, also where the test allows no call of it."""
    reference = package._reference

    def compute(*arguments):
        with mock.patch.object(package, "_reference", reference):
            outputs = package._forward(*arguments)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        outputs = tuple(scaled(one, factor) if one.is_floating_point() else one.clone() for one in outputs)
        return outputs if len(outputs) > 1 else outputs[0]

    return compute


class OnGpu:
    """Has the fields of a tensor that why_eager() asks for."""

    def __init__(self, tensor, **other):
        self.is_cuda, self.device, self.requires_grad = True, torch.device("cuda:0"), False
        self.dtype, self.shape, self.contiguous = tensor.dtype, tensor.shape, True
        self.__dict__.update(other)

    def dim(self):
        return len(self.shape)

    def is_contiguous(self):
        return self.contiguous


def check_reasons(package, inputs):
    """Each input in turn is one that no kernel takes."""
    assert "is not built" in package.why_eager(*inputs)
    package._library = "stands here as if it were built"
    assert "is on cpu" in package.why_eager(*inputs)
    on_gpu = [OnGpu(x) if isinstance(x, torch.Tensor) else x for x in inputs]
    assert package.why_eager(*on_gpu) is None, package.why_eager(*on_gpu)
    torch.set_grad_enabled(True)
    for i, x in enumerate(inputs):
        if not isinstance(x, torch.Tensor):
            continue
        for other, words in (({"dtype": torch.complex64}, "is torch.complex64, not"), ({"contiguous": False}, "contiguous"),
                             ({"shape": (*x.shape, 1)}, "dimensions"), ({"shape": (1 << 40,) * x.dim()}, ", and must"),
                             ({"shape": (0,) * x.dim()}, ", and must"), ({"requires_grad": True}, "wants a gradient"),
                             ({"is_cuda": False, "device": torch.device("cpu")}, "is on cpu")):
            why = package.why_eager(*on_gpu[:i], OnGpu(x, **other), *on_gpu[i + 1:])
            assert why and words in why, (i, other, why)
    torch.set_grad_enabled(False)


def main(folder):
    warnings.simplefilter("ignore")
    test_file, = (folder / "tests").glob("test_*.py")
    test = load(test_file)
    package = test.package
    assert package.__file__.startswith(str(folder)), "the exported package is imported"
    failed, ran = failures_of(test)
    assert failed == 0 and ran >= 2, (failed, ran)
    inputs = test.make_inputs(next(iter(test.CASES.values())), 1)
    check_reasons(package, inputs)
    package.why_eager = lambda *inputs: None
    operator = Operator(folder, package.__name__)
    test.only_kernels = lambda: mock.patch.object(package, "_reference", side_effect=AssertionError("forward() ran"))
    names = ["Function.test_against_forward"]
    if hasattr(package, "parameters_of"):
        names.append("Function.test_in_place_of_the_original")
    operator.compute = times_forward(package, 1)
    assert failures_of(test, names) == (0, len(names)) and operator.calls >= len(test.CASES), operator.calls
    operator.compute = times_forward(package, 1.01)
    failed, _ = failures_of(test, names[:1])
    assert failed > len(test.CASES) // 2, "a kernel that is 1 %% off fails at %d of %d shapes" % (failed, len(test.CASES))
    print("%s: %d shapes" % (package.__name__, len(test.CASES)))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
