"""torch.compile of a problem's forward() on a GPU: a candidate process that the judge times as a library.

It runs in a jail of its own, in which compilers may start (sandbox/python/python_role.h).
"""

import gc
import os
import sys
import tempfile
import types

from equivalent_code import torch_dtype
from reference_code import Reference
from torch_worker import LoadedEquivalent, fault

MOST_OF_ERROR, MOST_OF_OUTPUT = 800, 600  # characters in a finding


class Scopes:
    """Modules for code that reference.py executes in modules of its own making: torch.compile finds the globals of a
    function that it inlines by the name of their module."""

    def __init__(self):
        self._names = []

    def find(self):
        for function in [one for one in gc.get_objects() if type(one) is types.FunctionType]:
            scope = function.__globals__
            name = scope.get("__name__")
            if isinstance(name, str) and name not in sys.modules and not name.startswith("namedtuple_"):
                self._register(scope)

    def _register(self, scope):
        name = f"kernelwright_scope_{len(sys.modules)}_{len(self._names)}"
        scope["__name__"] = name  # another shape may come with another module of the same name
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(scope)
        self._names.append(name)

    def forget(self):
        while self._names:
            del sys.modules[self._names.pop()]


class CompilerOutput:
    """What this process and the compilers that it starts print, which otherwise nobody reads."""

    def __init__(self):
        self._file = tempfile.TemporaryFile()
        for stream in (1, 2):
            os.dup2(self._file.fileno(), stream)

    def forget(self):
        os.ftruncate(self._file.fileno(), 0)
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)

    def end(self):
        sys.stdout.flush()
        sys.stderr.flush()
        size = os.fstat(self._file.fileno()).st_size
        return os.pread(self._file.fileno(), MOST_OF_OUTPUT, max(0, size - MOST_OF_OUTPUT)).decode(errors="replace").strip()


class CompiledReference(LoadedEquivalent):
    """`request`: "source" of reference.py, "tf32", "scalars", and "mode" of torch.compile."""

    greeting = {"loaded": True}

    def __init__(self, worker, request):
        super().__init__(worker.torch, worker.driver, worker.device, {"equivalent": "", "compile": request["mode"]})
        self._source, self._scalars = request["source"], request["scalars"]
        self._output, self._scopes = CompilerOutput(), Scopes()
        self.lost = False  # a fault has left PyTorch's context unusable
        self._torch.backends.cuda.matmul.allow_tf32 = request["tf32"]
        self._torch.backends.cudnn.allow_tf32 = request["tf32"]

    def answer(self, request, descriptors):
        return super().answer(request, [os.dup(descriptor) for descriptor in descriptors])  # which it closes

    def _make_function(self):
        self._output.forget()
        self._forget_compiled()
        reference = Reference(self._torch, self._source, "cuda", self._scalars)
        writes_inputs = self._first_call(reference)
        self._scopes.find()
        return self._torch.compile(self._function_of(reference, writes_inputs), dynamic=False, mode=self._compile)

    def _first_call(self, reference):
        """Calls forward() as it is, which lets it build its module. Returns whether it writes to its inputs."""
        with self._torch.inference_mode(False), self._torch.no_grad():  # versions of tensors are counted
            inputs = {name: self._own_input(name, self._tensors[name]) for name in self._names("input")}
            before = {name: value._version for name, value in inputs.items()}
            reference.eager(inputs, self._tensors)
            return any(value._version != before[name] for name, value in inputs.items())

    def _function_of(self, reference, writes_inputs):
        """A function of the inputs in order of name. All of it is compiled; what it gives is checked elsewhere."""
        forward, scalars, names = reference.forward, reference.scalars, self._names("input")
        outputs = [(torch_dtype(self._torch, self._tensors[name]["dtype"]), self._tensors[name]["shape"])
                   for name in self._names("output")]

        def of_inputs(*values):
            if writes_inputs:
                values = [value.clone() for value in values]
            results = forward(**dict(zip(names, values)), **scalars)
            if not isinstance(results, (tuple, list)):
                results = (results,)
            return [contract(result, *wanted) for result, wanted in zip(results, outputs)]

        contract = in_contract
        # With the globals of reference.py, so that both are of one module.
        return types.FunctionType(of_inputs.__code__, vars(reference.module), "forward", None, of_inputs.__closure__)

    def failure(self, error):
        written = self._output.end()
        answer = fault("unsupported", error)
        answer["fault"]["message"] = answer["fault"]["message"][:MOST_OF_ERROR]
        if written:
            answer["fault"]["message"] += "; written meanwhile: " + written
        try:
            self._torch.cuda.synchronize()
        except Exception:
            self.lost = True
        return answer

    def close(self):
        self.release()
        self._forget_compiled()
        self._torch.cuda.empty_cache()

    def _forget_compiled(self):
        self._functions, self._function = {}, None
        self._torch.compiler.reset()
        self._scopes.forget()
        gc.collect()


def in_contract(result, dtype, shape):
    """As Reference.in_contract: whole numbers and truth values convert."""
    if result.dim() == 0:
        result = result.reshape(shape)
    if result.dtype != dtype and not result.is_floating_point() and not dtype.is_floating_point:
        result = result.to(dtype)
    return result.contiguous()
