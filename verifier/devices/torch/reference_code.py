"""A problem's reference.py: loaded, checked, and called in double or in the contract's dtypes."""

import traceback
import types

from drawn_inputs import InputsFunction
from equivalent_code import DTYPES, Refused, torch_dtype

LOW_PRECISION = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float32")
HALVES = ("f16", "bf16")


def widening_mode(torch, narrow, wide):
    """A dispatch mode in which casts and new tensors of the narrow dtypes, by name, are of the wide one."""
    from torch.utils._python_dispatch import TorchDispatchMode

    narrow = {getattr(torch, name) for name in narrow if hasattr(torch, name)}  # 8 bits: from PyTorch 2.1 on

    class Widening(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, arguments=(), named=None):
            named = dict(named or {})
            if named.get("dtype") in narrow:
                named["dtype"] = wide
            return function(*arguments, **named)

    return Widening()


def in_double(torch, call, inputs):
    """Returns call(inputs), where floating inputs, casts and new tensors of narrower types are double."""
    wide = {name: value.double() if value.is_floating_point() else value.clone() for name, value in inputs.items()}
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with widening_mode(torch, LOW_PRECISION, torch.float64):
            return call(wide)
    finally:
        torch.set_default_dtype(before)


class Reference:
    """`tensors`: by name {"role", "dtype", "shape"}, as the judge describes a shape; shapes differ from call to call.
    `scalars`: the problem's, numbers by name."""

    def __init__(self, torch, source, device, scalars):
        self.scalars = scalars
        self._torch = torch
        self._device = device
        self.module = module = types.ModuleType("reference")
        try:
            exec(compile(source, "reference.py", "exec"), module.__dict__)
        except Exception as error:
            raise Refused(f"reference.py does not load: {self.where(error)}") from error
        self.forward = module.__dict__.get("forward")
        if not callable(self.forward):
            raise Refused("reference.py defines no forward(...)")
        given = module.__dict__.get("inputs")
        self.inputs = None if given is None else InputsFunction(torch, given, self.where)
        self._halves_as_floats = False
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
            value = self.forward(**inputs, **self.scalars)
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
        outputs = in_double(torch, lambda wide: self._call(wide, names), inputs)
        return {name: self._shaped(name, output, tensors[name]["shape"]) for name, output in zip(names, outputs)}

    def eager(self, inputs, tensors):
        """Outputs by name, computed in the dtypes of the contract."""
        names = sorted(name for name, tensor in tensors.items() if tensor["role"] == "output")
        outputs = dict(zip(names, (self._call_in_floats if self._halves_as_floats else self._call)(inputs, names)))
        if self._halves_as_floats:
            for name, output in outputs.items():
                if tensors[name]["dtype"] in HALVES and output.dtype == self._torch.float32:
                    outputs[name] = output.to(torch_dtype(self._torch, tensors[name]["dtype"]))
        return outputs

    def _call_in_floats(self, inputs, names):
        torch = self._torch
        halves = [DTYPES[dtype] for dtype in HALVES]
        wide = {name: value.float() if str(value.dtype).removeprefix("torch.") in halves else value
                for name, value in inputs.items()}
        with widening_mode(torch, halves, torch.float32):
            return self._call(wide, names)

    def in_contract(self, outputs, tensors):
        """The same with the dtypes and shapes that the problem asks for; whole numbers and truth values convert."""
        checked = {}
        for name, output in outputs.items():
            wanted = torch_dtype(self._torch, tensors[name]["dtype"])
            if output.dtype != wanted and (output.is_floating_point() or wanted.is_floating_point):
                raise Refused(f"{name} comes as {output.dtype} instead of {wanted}")
            checked[name] = self._shaped(name, output, tensors[name]["shape"]).to(wanted)
        return checked

    def own_inputs(self, inputs):
        """What eager gets: copies where forward() writes to its inputs, which are the judge's and may only be read."""
        return {name: value.clone() for name, value in inputs.items()} if self.writes_inputs else inputs

    def try_out(self, tensors, inputs):
        """Calls both on these inputs, by name."""
        inputs = {name: value.to(self._device) for name, value in inputs.items()}
        try:
            self.in_contract(self._first_eager(inputs, tensors), tensors)
            self.truth(inputs, tensors)
            before = {name: value._version for name, value in inputs.items()}
            self.eager(inputs, tensors)
            self.writes_inputs = any(value._version != before[name] for name, value in inputs.items())
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"forward() fails: {self.where(error)}") from error

    def _first_eager(self, inputs, tensors):
        """PyTorch on a processor lacks some operations in 16 bits: there they are computed in float32 and rounded once."""
        try:
            return self.eager({name: value.clone() for name, value in inputs.items()}, tensors)
        except RuntimeError as error:
            lacking = any(f"not implemented for '{kind}'" in str(error) for kind in ("Half", "BFloat16"))
            if self._device != "cpu" or not lacking:
                raise
            self._halves_as_floats = True
            return self.eager({name: value.clone() for name, value in inputs.items()}, tensors)
