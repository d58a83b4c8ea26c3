"""The places of a Python file that name sizes: whole numbers at module level, and in the functions that make inputs.

This text is also part of the reference.py that import writes, which sets the same places to the sizes of its inputs.
"""

import ast

MAKERS = ("get_inputs", "get_init_inputs")


def _whole(node):
    """The value of an expression of whole numbers, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Pow)):
        left, right = _whole(node.left), _whole(node.right)
        if left is None or right is None or isinstance(node.op, ast.Pow) and not 0 <= right <= 40:
            return None
        if isinstance(node.op, ast.FloorDiv) and right == 0:
            return None
        return {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__, ast.FloorDiv: int.__floordiv__,
                ast.Pow: int.__pow__}[type(node.op)](left, right)
    return None


def _assigned(statement):
    """[(name or "", expression)] of an assignment: n = 8, shape = (8, 4), or n, m = 8, 4."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, parts = statement.targets[0], getattr(statement.value, "elts", [])
    if isinstance(target, ast.Name):
        return [(target.id, statement.value), *(("", part) for part in parts)]
    names = [part.id for part in getattr(target, "elts", []) if isinstance(part, ast.Name)]
    return list(zip(names, parts)) if len(names) == len(parts) else []


def sites_of(tree):
    """{(line, column): (name or "", value)} in order of the file."""
    sites = {}
    for statement in tree.body:
        for name, node in _assigned(statement):
            value = _whole(node)
            if value is not None and value > 1:
                sites[node.lineno, node.col_offset] = (name, value)
        if isinstance(statement, ast.FunctionDef) and statement.name in MAKERS:
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
                    sites[node.lineno, node.col_offset] = ("", node.value)
    return sites


def with_sizes(source, sizes):
    """The code of the file with other numbers at some sites: {(line, column): number}."""

    class Setter(ast.NodeTransformer):
        def visit(self, node):
            place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
            if place in sizes and _whole(node) is not None:
                return ast.copy_location(ast.Constant(sizes[place]), node)
            return self.generic_visit(node)

    tree = ast.fix_missing_locations(Setter().visit(ast.parse(source)))
    return compile(tree, "the imported file", "exec")
