"""Inputs that a worker draws: what inputs() of a reference.py gives, checked; and random ones for a first try."""

import random
import signal

from equivalent_code import Refused, torch_dtype

MOST_SECONDS = 10  # for one call of inputs()


class OutsideDomain(Exception):
    """inputs() raises ValueError: there is no such data at this shape."""


class TooSlow(BaseException):  # so that "except Exception" in inputs() does not catch it
    pass


def on_alarm(_, __):
    raise TooSlow


class InputsFunction:
    """inputs(axes, generator) of a reference.py. `where(error)`: an error in words, with its line."""

    def __init__(self, torch, function, where):
        self._torch, self._function, self._where = torch, function, where
        if not callable(function):
            raise Refused("inputs in reference.py is no function: write def inputs(axes, generator)")

    def draw(self, axes, key, tensors, nan):
        """The given inputs by name. `tensors`: as the judge describes them. Raises OutsideDomain or Refused."""
        values = self._call(axes, key)
        if not isinstance(values, dict):
            raise Refused(f"inputs() gives a {type(values).__name__}: return a dict of tensors by the names of inputs")
        wanted = {name: tensor for name, tensor in tensors.items() if tensor.get("given")}
        for name in values:
            if name not in wanted:
                raise Refused(f'inputs() gives {name}, which problem.json does not call given: set its init to '
                              f'{{"kind": "given"}}, or leave it out here')
        return {name: self._checked(name, values, tensor, nan) for name, tensor in wanted.items()}

    def _call(self, axes, key):
        generator = self._torch.Generator().manual_seed(key)
        self._torch.manual_seed(key)  # for whoever forgets the generator
        random.seed(key)
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
        try:
            return self._function(dict(axes), generator)
        except TooSlow:
            raise Refused(f"inputs() ran for more than {MOST_SECONDS} s: draw less, or without loops over elements") from None
        except ValueError as error:
            raise OutsideDomain(f"inputs() refuses this shape: {self._where(error)}") from error
        except Exception as error:
            raise Refused(f"inputs() fails: {self._where(error)}") from error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _checked(self, name, values, tensor, nan):
        torch, wanted, shape = self._torch, torch_dtype(self._torch, tensor["dtype"]), tensor["shape"]
        if name not in values:
            raise Refused(f"inputs() gives no {name}, which problem.json calls given: return it, or give it another init")
        value = values[name]
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            raise Refused(f"inputs() gives a {type(value).__name__} for {name}: return a dense tensor")
        if value.dtype != wanted or list(value.shape) != shape:
            raise Refused(f"inputs() gives {name} as {value.dtype} {list(value.shape)} instead of {wanted} {shape}: "
                          f"return what problem.json says, e.g. with .to({wanted})")
        value = value.detach().cpu()
        wide = value.float() if value.element_size() == 1 else value  # for which PyTorch knows what is finite
        if value.is_floating_point() and not nan and not bool(torch.isfinite(wide).all()):
            raise Refused(f'inputs() gives NaN or infinity in {name}: return finite numbers, or set "nan": true in the '
                          f'contract')
        if "least" in tensor:
            least, most = int(value.min()), int(value.max())
            if least < tensor["least"] or most > tensor["most"]:
                raise Refused(f"inputs() gives {name} from {least} to {most}, and its init promises {tensor['least']} to "
                              f"{tensor['most']}: keep to it, or correct low and high in problem.json")
        return value


def drawn_inputs(torch, request, function, data):
    """Inputs by name for a first try: those of `data`, what inputs() gives, and others within the problem's bounds.
    `function`: an InputsFunction, or None."""
    tensors = request["tensors"]
    given = function.draw(request["axes"], 1, tensors, request["nan"]) if function else {}
    inputs = {}
    for name, tensor in tensors.items():
        if tensor["role"] != "input":
            continue
        dtype = torch_dtype(torch, tensor["dtype"])
        if name in data:
            inputs[name] = data[name].clone()
        elif name in given:
            inputs[name] = given[name]
        elif tensor.get("given"):
            raise Refused(f'nothing gives {name}, which problem.json calls given: write inputs(axes, generator), or name a '
                          f'file in "inputs" of each workload')
        elif "least" in tensor:
            drawn = torch.randint(tensor["least"], tensor["most"] + 1, tensor["shape"], dtype=torch.int64)
            inputs[name] = drawn.to(dtype)
        else:
            inputs[name] = torch.randn(tensor["shape"], dtype=torch.float32).to(dtype)
    return inputs
