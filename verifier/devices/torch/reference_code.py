"""A problem's reference.py: loaded, checked, and called in double or in the contract's dtypes."""

import traceback
import types

from torch_worker import DTYPES, Refused

LOW_PRECISION = ("float16", "bfloat16", "float32")


def in_double_mode(torch):
    """A dispatch mode in which casts and new tensors of lower precision are double."""
    from torch.utils._python_dispatch import TorchDispatchMode

    low = {getattr(torch, name) for name in LOW_PRECISION}

    class InDouble(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, arguments=(), named=None):
            named = dict(named or {})
            if named.get("dtype") in low:
                named["dtype"] = torch.float64
            return function(*arguments, **named)

    return InDouble()


class Reference:
    """`tensors`: by name {"role", "dtype", "shape"}, as the judge describes a shape; shapes differ from call to call."""

    def __init__(self, torch, source, device):
        self._torch = torch
        self._device = device
        module = types.ModuleType("reference")
        try:
            exec(compile(source, "reference.py", "exec"), module.__dict__)
        except Exception as error:
            raise Refused(f"reference.py does not load: {self.where(error)}") from error
        self._forward = module.__dict__.get("forward")
        if not callable(self._forward):
            raise Refused("reference.py defines no forward(...)")
        if "inputs" in module.__dict__:
            raise Refused("reference.py defines inputs(), which this version does not call: give each input an init "
                          "in problem.json")
        self._truth_is_eager = module.__dict__.get("TRUTH_IS_EAGER", False)  # of the audit's problems
        self.writes_inputs = False

    @staticmethod
    def where(error):
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "reference.py"]
        if isinstance(error, SyntaxError) and error.filename == "reference.py":
            lines.append(error.lineno)
        return f"{type(error).__name__}: {error}"[:600] + (f" (line {lines[-1]})" if lines else "")

    def _call(self, inputs, names):
        with self._torch.no_grad():
            value = self._forward(**inputs)
        outputs = list(value) if isinstance(value, (tuple, list)) else [value]
        if len(outputs) != len(names):
            raise Refused(f"forward() gives {len(outputs)} tensors, and the problem has {len(names)} outputs")
        for name, output in zip(names, outputs):
            if not isinstance(output, self._torch.Tensor):
                raise Refused(f"forward() gives a {type(output).__name__} for {name}, not a tensor")
        return outputs

    def _shaped(self, name, output, shape):
        if output.dim() == 0:
            output = output.reshape(1)
        if list(output.shape) != shape:
            raise Refused(f"{name} comes with shape {list(output.shape)} instead of {shape}")
        return output

    def truth(self, inputs, tensors):
        """Outputs by name, computed in double."""
        torch = self._torch
        if self._truth_is_eager:
            return self.in_contract(self.eager(self.own_inputs(inputs), tensors), tensors)
        names = sorted(name for name, tensor in tensors.items() if tensor["role"] == "output")
        wide = {name: value.double() if value.is_floating_point() else value.clone() for name, value in inputs.items()}
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            with in_double_mode(torch):
                outputs = self._call(wide, names)
        finally:
            torch.set_default_dtype(before)
        return {name: self._shaped(name, output, tensors[name]["shape"]) for name, output in zip(names, outputs)}

    def eager(self, inputs, tensors):
        """Outputs by name, computed in the dtypes of the contract."""
        names = sorted(name for name, tensor in tensors.items() if tensor["role"] == "output")
        outputs = self._call(inputs, names)
        return dict(zip(names, outputs))

    def in_contract(self, outputs, tensors):
        """The same with the dtypes and shapes that the problem asks for; whole numbers and truth values convert."""
        checked = {}
        for name, output in outputs.items():
            wanted = getattr(self._torch, DTYPES[tensors[name]["dtype"]])
            if output.dtype != wanted and (output.is_floating_point() or wanted.is_floating_point):
                raise Refused(f"{name} comes as {output.dtype} instead of {wanted}")
            checked[name] = self._shaped(name, output, tensors[name]["shape"]).to(wanted)
        return checked

    def own_inputs(self, inputs):
        """What eager gets: copies where forward() writes to its inputs, which are the judge's and may only be read."""
        return {name: value.clone() for name, value in inputs.items()} if self.writes_inputs else inputs

    def try_out(self, tensors):
        """Calls both on inputs of its own."""
        torch = self._torch
        inputs = {}
        for name, tensor in tensors.items():
            if tensor["role"] != "input":
                continue
            dtype = getattr(torch, DTYPES[tensor["dtype"]])
            if "least" in tensor:
                least, most = tensor["least"], tensor["most"]
                value = torch.randint(least, most + 1, tensor["shape"], dtype=torch.int64).to(dtype)
            else:
                value = torch.randn(tensor["shape"], dtype=torch.float32).to(dtype)
            inputs[name] = value.to(self._device)
        try:
            outputs = self.eager({name: value.clone() for name, value in inputs.items()}, tensors)
            self.in_contract(outputs, tensors)
            self.truth(inputs, tensors)
            before = {name: value._version for name, value in inputs.items()}
            self.eager(inputs, tensors)
            self.writes_inputs = any(value._version != before[name] for name, value in inputs.items())
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"forward() fails: {self.where(error)}") from error
