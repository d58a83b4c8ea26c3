"""Finds a file's axes: numbers that may change, alone or with their equals, and how every shape follows from them."""

import ast
import random

from model_form import Unusable
from source_sites import sites_of
from tracing import trace

MULTIPLES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MOST_AXES = 6
MOST_TRIALS = 400


class Axis:
    def __init__(self, sites, size):
        self.sites, self.size = sites, size
        self.name, self.multiple, self.least = "", 1, 1
        self.recovered = None  # (kind, tensor, index) of a dimension that equals it


class Explorer:
    """Traces a file with other sizes; each sizes once."""

    def __init__(self, source):
        self.source = source
        self.sites = sites_of(ast.parse(source))
        self._seen = {}
        self.base = trace(source)

    def dimensions(self, changes):
        """The numbers that follow from {site: number}, sums and work included; None where the file fails."""
        key = tuple(sorted(changes.items()))
        if key not in self._seen:
            if len(self._seen) >= MOST_TRIALS:
                return None
            self._seen[key] = self._numbers(changes)
        return self._seen[key]

    def _numbers(self, changes):
        try:
            traced = trace(self.source, changes)
        except Exception:
            return None
        numbers = dict(traced.dimensions)
        for index, (terms, work) in enumerate(zip(traced.recorder.sums, traced.recorder.flops)):
            for position, extent in enumerate(terms):
                numbers["sum", index, position] = extent
            numbers["work", "", index] = work
        return numbers

    def with_axes(self, axes, sizes):
        return self.dimensions({site: size for axis, size in zip(axes, sizes) for site in axis.sites})


def shapes(numbers):
    return {key: value for key, value in numbers.items() if key[0] in ("input", "parameter", "output", "most")}


def works(explorer, axis, size):
    return explorer.with_axes([axis], [size]) is not None


def find_axis(explorer, base, site, taken):
    """The axis of one site, tied to its equals where it does not work alone; None where there is none."""
    value = explorer.sites[site][1]
    equals = [other for other, (_, number) in explorer.sites.items() if number == value and other not in taken]
    for sites in [[site]] + ([equals] if len(equals) > 1 else []):
        axis = Axis(sites, value)
        axis.multiple = next((step for step in MULTIPLES if value % step == 0 and works(explorer, axis, value + step)), 0)
        if axis.multiple == 0 or not works(explorer, axis, 2 * value):
            continue
        if axis.multiple > 1 and not works(explorer, axis, value - axis.multiple) and value > axis.multiple:
            continue
        double = explorer.with_axes([axis], [2 * value])
        for key, number in sorted(shapes(base).items()):
            if key[0] in ("input", "parameter") and number == value and double.get(key) == 2 * value:
                axis.recovered = key
                return axis
    return None


def small_sizes(axis):
    sizes = {axis.multiple * factor for factor in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64)} | {axis.size}
    return sorted(size for size in sizes if size <= axis.size)


def least_of(explorer, axis):
    return next((size for size in small_sizes(axis) if works(explorer, axis, size)), axis.size)


def raise_leasts(explorer, axes):
    """Until all axes work at their least sizes together: batch norm wants more than one value in each channel. Says
    whether they do."""
    leasts = lambda: [axis.least for axis in axes]
    while explorer.with_axes(axes, leasts()) is None:
        raised = False
        for axis in reversed(axes):
            larger = next((size for size in small_sizes(axis) if size > axis.least), None)
            if larger is None:
                continue
            before, axis.least, raised = axis.least, larger, True
            if explorer.with_axes(axes, leasts()) is not None:
                return True
            if axis is not axes[0]:
                axis.least = before
        if not raised:
            return False
    return True


def samples_of(axis):
    step = axis.multiple
    sizes = {axis.least, axis.size, 2 * axis.size, axis.size + step, axis.size + 3 * step,
             (axis.least + axis.size) // 2 // step * step, min(axis.size, axis.least + 2 * step)}
    return sorted(size for size in sizes if size >= axis.least)


def affine(points):
    """(a, b) with value = a size + b at all points, or None."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    if (y1 - y0) % (x1 - x0):
        return None
    a = (y1 - y0) // (x1 - x0)
    b = y0 - a * x0
    return (a, b) if all(y == a * x + b for x, y in points) else None


def text_of_affine(name, a, b):
    text = name if a == 1 else f"{a} * {name}"
    return text if b == 0 else f"{text} {'+' if b > 0 else '-'} {abs(b)}"


def strided(name, points):
    """(name + c) / s, as convolutions and pools with a stride have it, or None."""
    for stride in range(2, 33):
        for shift in range(-64, 65):
            if all(x + shift >= 0 and (x + shift) // stride == y for x, y in points):
                inside = text_of_affine(name, 1, shift)
                return f"({inside}) / {stride}" if shift else f"{name} / {stride}"
    return None


def expression_of(key, axes, base, explorer):
    """How one number follows from the axes, as text; None where that is not seen."""
    parts = []
    for axis in axes:
        points = []
        for size in samples_of(axis):
            numbers = explorer.with_axes([axis], [size])
            if numbers is not None and key in numbers:
                points.append((size, numbers[key]))
        if len({value for _, value in points}) > 1:
            parts.append((axis, points))
    value = base[key]
    if not parts:
        return str(value)
    if len(parts) == 1:
        axis, points = parts[0]
        line = affine(points)
        return text_of_affine(axis.name, *line) if line else strided(axis.name, points)
    factor = value
    for axis, points in parts:
        line = affine(points)
        if line is None or line[1] != 0 or factor % axis.size:
            return None
        factor //= axis.size
    product = " * ".join(axis.name for axis, _ in parts)
    return product if factor == 1 else f"{factor} * {product}"


def evaluated(text, sizes):
    return eval(text.replace("/", "//"), {"__builtins__": {}, "max": max, "min": min}, sizes)


def name_axes(axes, explorer, taken):
    used = set(taken) | {"min", "max", "ceil_div"}
    for axis in axes:
        names = [explorer.sites[site][0] for site in axis.sites if explorer.sites[site][0]]
        name = names[0] if names else f"n{axes.index(axis)}"
        while name in used:
            name += "_size"
        used.add(name)
        axis.name = name


def expressions(axes, base, explorer):
    """Every shape's numbers as text, checked at sizes of all axes together; None where one is not seen."""
    texts = {key: expression_of(key, axes, base, explorer) for key in shapes(base)}
    if None in texts.values():
        return None
    chance = random.Random(1)
    for _ in range(2):
        sizes = [chance.choice(samples_of(axis)) for axis in axes]
        numbers = explorer.with_axes(axes, sizes)
        if numbers is None:
            return None
        values = {axis.name: size for axis, size in zip(axes, sizes)}
        if any(evaluated(text, values) != numbers.get(key) for key, text in texts.items()):
            return None
    return texts


def find_axes(source, taken_names):
    """(axes, {number: text}, explorer). The first axis is that of the first input's first dimension, if it is one."""
    explorer = Explorer(source)
    base = explorer.dimensions({})
    if base is None:
        raise Unusable("does not run twice alike")
    axes, taken = [], set()
    for site in explorer.sites:
        if site in taken:
            continue
        axis = find_axis(explorer, base, site, taken)
        if axis is not None:
            axes.append(axis)
            taken.update(axis.sites)
    first = [key for key in base if key[0] == "input"]
    axes.sort(key=lambda axis: (axis.recovered[0] != "input", first.index(axis.recovered)
                                if axis.recovered in first else len(first)))
    axes = axes[:MOST_AXES]
    for axis in axes:
        axis.least = least_of(explorer, axis)
    name_axes(axes, explorer, taken_names)
    while axes:
        texts = expressions(axes, base, explorer)
        if texts is not None and raise_leasts(explorer, axes):
            return axes, texts, explorer
        axes.pop()
    return [], {key: str(number) for key, number in shapes(base).items()}, explorer
