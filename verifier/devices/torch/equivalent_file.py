"""A user's own equivalent: a Python file with one function "equivalent", whose parameters are inputs, axes
and scalars by name."""

import importlib.util
import inspect
import os
import sys

from equivalent_code import Refused


def function_of_file(file, inputs, numbers):
    """A function of the inputs, in order of name. The file may import what its Python has, and its neighbours."""
    folder = os.path.dirname(file)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(f"kernelwright_library_{len(sys.modules)}", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Refused(f"{file} does not load: {type(error).__name__}: {error}") from error
    function = getattr(module, "equivalent", None)
    if not callable(function):
        raise Refused(f"{file} defines no function equivalent(...)")
    given = [*inputs, *numbers]
    unknown = [name for name in inspect.signature(function).parameters if name not in given]
    if unknown:
        raise Refused(f"equivalent() has the parameter {unknown[0]}: its parameters are inputs, axes and scalars by name: "
                      f"{', '.join(given)}")
    wanted = list(inspect.signature(function).parameters)

    def of_inputs(*values):
        known = {**numbers, **dict(zip(inputs, values))}
        return function(**{name: known[name] for name in wanted})

    return of_inputs
