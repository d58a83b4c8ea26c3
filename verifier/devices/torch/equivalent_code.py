"""A problem's equivalents.pytorch: held to a grammar, made a function of the inputs, and its outputs checked.

It is one expression, or a function "def equivalent(x, N):" of inputs, axes and scalars.
"""

import ast
import sys
import types

DTYPES = {"f16": "float16", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f32": "float32",
          "f64": "float64", "i8": "int8", "u8": "uint8", "i32": "int32", "u32": "uint32", "i64": "int64", "bool": "bool"}
SINCE = {"f8e4m3": "2.1", "f8e5m2": "2.1", "u32": "2.3"}

EXPRESSIONS = (ast.Call, ast.keyword, ast.Attribute, ast.Name, ast.Load, ast.Constant, ast.Tuple, ast.List, ast.BinOp,
               ast.UnaryOp, ast.operator, ast.unaryop, ast.Compare, ast.cmpop, ast.Subscript, ast.Slice)
STATEMENTS = (ast.Assign, ast.AugAssign, ast.Return, ast.If, ast.For, ast.Store, ast.IfExp, ast.BoolOp, ast.boolop,
              ast.Dict)
FUNCTIONS = {"range": range, "len": len, "float": float, "int": int}


class Refused(Exception):
    """The library cannot compute this problem: a finding, not a failure of ours."""


class Lacking(Refused):
    """This PyTorch lacks what the equivalent needs: says nothing about the problem."""


def torch_dtype(torch, dtype):
    """PyTorch's of this name of ours. Lacking where this PyTorch is too old for it."""
    found = getattr(torch, DTYPES[dtype], None)
    if found is None:
        raise Lacking(f"PyTorch {torch.__version__} has no {DTYPES[dtype]}: this problem needs PyTorch {SINCE[dtype]} or "
                      "newer")
    return found


def require_grammar(nodes, grammar, known):
    for node in nodes:
        if not isinstance(node, grammar):
            raise Refused(f"the equivalent holds a {type(node).__name__}")
        if isinstance(node, ast.Name) and node.id not in known:
            raise Refused(f"the equivalent names {node.id}, which is neither an input, an axis nor a scalar")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise Refused(f"the equivalent asks for {node.attr}")
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            raise Refused("the equivalent assigns to a part of something: assign to names")


def parsed(text, mode):
    try:
        return ast.parse(text, mode=mode)
    except SyntaxError as error:
        line = f" (line {error.lineno})" if mode == "exec" else ""
        raise Refused(f"the equivalent is no Python: {error.msg}{line}") from error


def call_of(text, inputs, numbers):
    """The definitions of an equivalent, "" for one line, and the expression that calls it. Refuses all but plain code."""
    given = {*inputs, *numbers}
    if not text.startswith("def "):
        nodes = ast.walk(parsed(text, "eval").body)
        require_grammar(nodes, EXPRESSIONS, {"torch", "F", *given})
        return "", text
    tree = parsed(text, "exec")
    function = tree.body[0]
    arguments = function.args
    parameters = [argument.arg for argument in arguments.args]
    plain = ast.dump(ast.parse(f"def equivalent({', '.join(parameters)}): pass").body[0].args) == ast.dump(arguments)
    plain = plain and function.returns is None and not getattr(function, "type_params", None)
    if len(tree.body) != 1 or function.name != "equivalent" or not plain or not given.issuperset(parameters):
        raise Refused('the equivalent is not one function "def equivalent(...):" of inputs, axes and scalars')
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    require_grammar(nodes, EXPRESSIONS + STATEMENTS, {"torch", "F", *parameters, *assigned, *FUNCTIONS})
    return text, f"equivalent({', '.join(parameters)})"


def numbers_of(request):
    """Axes and scalars by name."""
    return {**request["axes"], **request.get("scalars", {})}


def function_of(text, inputs, numbers, torch):
    """A new function of the inputs, in order of name, that gives the value of an equivalent."""
    definitions, call = call_of(text, inputs, numbers)
    # A module of its own, which can be found by its name: torch.compile leaves functions without one as they are.
    module = types.ModuleType(f"kernelwright_equivalent_{len(sys.modules)}")
    module.__dict__.update({"torch": torch, "F": torch.nn.functional, **FUNCTIONS, **numbers})
    sys.modules[module.__name__] = module
    source = f"{definitions}\ndef of_inputs({', '.join(inputs)}):\n    return {call}\n"
    exec(compile(source, f"{module.__name__}.py", "exec"), module.__dict__)  # held to the grammar above
    return module.of_inputs


def names_of(tensors, role):
    return sorted(name for name, tensor in tensors.items() if tensor["role"] == role)


def outputs_of(value, names):
    """The outputs in order of name, from one, a tuple in this order, or a dict."""
    if isinstance(value, dict):
        if sorted(value) != names:
            raise Refused(f"the equivalent gives {', '.join(map(str, value))}, and the outputs are {', '.join(names)}")
        return [value[name] for name in names]
    return list(value) if isinstance(value, (tuple, list)) else [value]


def storage_of(tensor):
    before_2_0 = not hasattr(tensor, "untyped_storage")
    return (tensor.storage() if before_2_0 else tensor.untyped_storage()).data_ptr()


def require_outputs(torch, outputs, inputs, tensors):
    """Refuses what is not a new tensor for each output. `tensors`: the judge's descriptions by name."""
    names = names_of(tensors, "output")
    if len(outputs) != len(names):
        raise Refused(f"the equivalent gives {len(outputs)} tensors, and the problem has {len(names)} outputs")
    owned = {storage_of(tensor) for tensor in inputs}
    for name, output in zip(names, outputs):
        wanted, shape = torch_dtype(torch, tensors[name]["dtype"]), tensors[name]["shape"]
        if not isinstance(output, torch.Tensor):
            raise Refused(f"{name} comes as a {type(output).__name__} instead of a tensor")
        if output.dtype != wanted or list(output.shape) != shape:
            raise Refused(f"{name} comes as {output.dtype} {list(output.shape)} instead of {wanted} {shape}")
        if not output.is_contiguous() or storage_of(output) in owned:
            raise Refused(f"{name} is a view: its elements are not computed and put in order")
