"""equivalents.pytorch on the processor, where the judge checks that it computes what the problem says.

It is computed in double like reference.py, so that the judge sees its formula: some functions of PyTorch's for the
processor are less precise than those for a GPU, or do not exist in half precision.
"""

from equivalent_code import Lacking, Refused, function_of, names_of, outputs_of, require_outputs, torch_dtype
from reference_code import in_double


class Equivalent:
    """For one shape, with the methods that a candidate process calls of reference_code.Reference."""

    def __init__(self, torch, text, numbers, tensors, wide=True):
        self._torch = torch
        self._inputs, self._outputs = names_of(tensors, "input"), names_of(tensors, "output")
        self._function = function_of(text, self._inputs, numbers, torch)
        self._wide = wide

    @staticmethod
    def own_inputs(inputs):
        return inputs

    def eager(self, inputs, tensors):
        """Outputs by name."""
        outputs = in_double(self._torch, self._call, inputs) if self._wide else self._call(inputs)
        for i, name in enumerate(self._outputs[:len(outputs)] if self._wide else []):
            wanted = torch_dtype(self._torch, tensors[name]["dtype"])
            if wanted.is_floating_point and getattr(outputs[i], "dtype", None) == self._torch.float64:
                outputs[i] = outputs[i].to(wanted)
        require_outputs(self._torch, outputs, inputs.values(), tensors)
        return dict(zip(self._outputs, outputs))

    def _call(self, inputs):
        with self._torch.no_grad():
            return outputs_of(self._function(*[inputs[name] for name in self._inputs]), self._outputs)

    @staticmethod
    def in_contract(outputs, _):
        return outputs

    def try_out(self, inputs, tensors):
        """Throws Lacking or Refused if it does not compute outputs from these inputs. Returns whether it can in double."""
        before = {name: value._version for name, value in inputs.items()}
        failure = self._failure(inputs, tensors, wide=False)
        if failure is None or self._is_lacking(failure):
            in_double_too = self._failure(inputs, tensors, wide=True) is None
            if failure and not in_double_too:
                raise Lacking(f"PyTorch {self._torch.__version__}: {failure}")
        else:
            raise failure if isinstance(failure, Refused) else Refused(f"{type(failure).__name__}: {failure}")
        for name, value in inputs.items():
            if value._version != before[name]:
                raise Refused(f"it writes to its input {name}")
        return in_double_too

    def _failure(self, inputs, tensors, wide):
        self._wide = wide
        try:
            self.eager(inputs, tensors)
        except Exception as error:
            return error
        return None

    @staticmethod
    def _is_lacking(error):
        unknown = isinstance(error, AttributeError) and str(error).startswith(("module 'torch", "'Tensor' object"))
        return unknown or "not implemented for" in str(error)
