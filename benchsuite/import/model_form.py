"""One form for what a file may hold: class Model(nn.Module), or a function; with inputs, made by get_inputs()."""

import inspect
import types

import torch

DROPOUT = torch.nn.modules.dropout._DropoutNd


class Unusable(Exception):
    """The file cannot be imported; says why."""


def load(code):
    module = types.ModuleType("imported")
    exec(code, module.__dict__)
    return module


def functions_of(module):
    return {name: value for name, value in vars(module).items()
            if isinstance(value, types.FunctionType) and value.__module__ == "imported" and not name.startswith("_")}


def the_function(module):
    functions = {name: value for name, value in functions_of(module).items()
                 if name not in ("get_inputs", "get_init_inputs")}
    if "forward" in functions:
        return functions["forward"]
    if len(functions) != 1:
        raise Unusable("holds neither class Model nor one function (called forward, or the only one): "
                       f"found {', '.join(sorted(functions)) or 'none'}")
    return next(iter(functions.values()))


class Called(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self._function = function
        self.called = inspect.signature(function)

    def forward(self, *arguments):
        return self._function(*arguments)


def make_model(module):
    kind = getattr(module, "Model", None)
    if not (inspect.isclass(kind) and issubclass(kind, torch.nn.Module)):
        return Called(the_function(module))
    arguments = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    if isinstance(arguments, dict):
        model = kind(**arguments)
    elif len(arguments) == 2 and isinstance(arguments[0], list) and isinstance(arguments[1], dict):
        model = kind(*arguments[0], **arguments[1])
    else:
        model = kind(*arguments)
    model.called = inspect.signature(model.forward)
    for part in model.modules():
        if isinstance(part, DROPOUT):
            part.eval()
    return model


def make_inputs(module):
    if hasattr(module, "get_inputs"):
        return list(module.get_inputs())
    if hasattr(module, "example_inputs"):
        inputs = module.example_inputs
        return list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    raise Unusable("has no get_inputs() and no example_inputs: give forward's arguments, as a list")


def argument_names(model, count):
    """Names for `count` positional arguments of forward()."""
    names = []
    for parameter in model.called.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    names += [f"arg{i}" for i in range(len(names), count)]
    return names[:count]


def outputs_of(value):
    outputs = list(value) if isinstance(value, (tuple, list)) else [value]
    for output in outputs:
        if not isinstance(output, torch.Tensor):
            raise Unusable(f"forward() gives a {type(output).__name__}; outputs must be tensors")
    return outputs


def functional_call(model, parameters, arguments):
    try:
        from torch.func import functional_call as call
    except ImportError:  # before PyTorch 2
        from torch.nn.utils.stateless import functional_call as call
    return call(model, parameters, tuple(arguments))
