"""Finds a file's axes: numbers that may change, alone or with their equals, and how every shape follows from them."""

import ast
import math
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
        for index, extents in enumerate(traced.recorder.sums):
            for position, extent in enumerate(extents):
                numbers["sum", index, position] = extent
        for index, work in enumerate(traced.recorder.flops):
            numbers["work", "", index] = work
        return numbers

    def with_axes(self, axes, sizes):
        return self.dimensions({site: size for axis, size in zip(axes, sizes) for site in axis.sites})


def shapes(numbers):
    return {key: value for key, value in numbers.items() if key[0] in ("input", "parameter", "output", "most")}


def works(explorer, axis, size):
    return explorer.with_axes([axis], [size]) is not None


def axis_of(explorer, base, sites):
    """The axis of sites that change together; None where they are none."""
    value = explorer.sites[sites[0]][1]
    axis = Axis(sites, value)
    axis.multiple = next((step for step in MULTIPLES if value % step == 0 and works(explorer, axis, value + step)), 0)
    if axis.multiple == 0 or not works(explorer, axis, 2 * value):
        return None
    if axis.multiple > 1 and not works(explorer, axis, value - axis.multiple) and value > axis.multiple:
        return None
    double = explorer.with_axes([axis], [2 * value])
    for key, number in sorted(shapes(base).items()):
        if key[0] in ("input", "parameter") and number == value and double.get(key) == 2 * value:
            axis.recovered = key
            return axis
    return None


def axes_of_sites(explorer, base):
    """Those of sites that work alone and at smaller sizes, then those of equal sites that only do so together."""
    axes, taken = [], set()
    for together in (False, True):
        for site, (_, value) in explorer.sites.items():
            sites = [other for other, (_, number) in explorer.sites.items() if number == value and other not in taken]
            if site in taken or (together and len(sites) == 1):
                continue
            axis = axis_of(explorer, base, sites if together else [site])
            is_fixed = axis is not None and axis.multiple == value and len(sites) > 1 and not together
            if axis is not None and not is_fixed:
                axes.append(axis)
                taken.update(axis.sites)
    return axes


def small_sizes(axis):
    sizes = {axis.multiple * factor for factor in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64)} | {axis.size}
    return sorted(size for size in sizes if size <= axis.size)


def least_of(explorer, axis):
    """Bisects between a size that works and the one tried before it."""
    fails, size = 0, axis.size
    for size in small_sizes(axis):
        if works(explorer, axis, size):
            break
        fails = size
    while size - fails > axis.multiple:
        middle = fails + (size - fails) // axis.multiple // 2 * axis.multiple
        fails, size = (fails, middle) if works(explorer, axis, middle) else (middle, size)
    return size


def raise_leasts(explorer, axes):
    """Until all axes work at their least sizes together: batch norm wants more than one value in each channel, and a
    window more than its size. Raises the axis that stays smallest for its size in the source, or else all of them. Says
    whether they do."""
    leasts = lambda: [axis.least for axis in axes]
    while explorer.with_axes(axes, leasts()) is None:
        found = []
        for axis in reversed(axes):
            before = axis.least
            for axis.least in (size for size in small_sizes(axis) if size > before):
                if explorer.with_axes(axes, leasts()) is not None:
                    found.append((axis.least / axis.size, len(found), axis, axis.least))
                    break
            axis.least = before
        if found:
            _, _, axis, axis.least = min(found)
            return True
        before = leasts()
        for axis in axes:
            axis.least = next((size for size in small_sizes(axis) if size > axis.least), axis.least)
        if leasts() == before:
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


def strided(axis, points, number_at):
    """(name + c) / s, as convolutions and pools with a stride have it, or None. Where several fit, `number_at` (the
    number at a size, or None) decides at sizes at which they differ."""
    fits = [(stride, shift) for stride in range(2, 33) for shift in range(-64, 65)
            if axis.least + shift >= 0 and all((x + shift) // stride == y for x, y in points)]
    for size in range(axis.least, axis.size + 1, axis.multiple):
        if len({(size + shift) // stride for stride, shift in fits}) < 2:
            continue
        number = number_at(size)
        if number is not None:
            fits = [(stride, shift) for stride, shift in fits if (size + shift) // stride == number]
    if not fits:
        return None
    stride, shift = fits[0]
    inside = text_of_affine(axis.name, 1, shift)
    return f"({inside}) / {stride}" if shift else f"{axis.name} / {stride}"


def power_of(axis, points):
    """d with value proportional to size^d at all points, 1 to 3, or None. The size is the file's."""
    value = dict(points)[axis.size]
    return next((d for d in (1, 2, 3) if all(y * axis.size ** d == value * x ** d for x, y in points)), None)


def root_of(number):
    """The whole square root, or None."""
    root = None if number is None else math.isqrt(number)
    return root if root is not None and root * root == number else None


def of_one_axis(axis, points, number_at):
    """A number that follows from one axis as text: affine, strided, c size^d, or the square of an affine or strided one."""
    line = affine(points)
    if line:
        return text_of_affine(axis.name, *line)
    power = power_of(axis, points)
    factor = dict(points)[axis.size] // axis.size ** power if power else 0
    if factor:
        return " * ".join([str(factor)] * (factor > 1) + [axis.name] * power)
    roots = [(x, root_of(y)) for x, y in points]
    if all(root is not None for _, root in roots):
        line = affine(roots)
        root = text_of_affine(axis.name, *line) if line else strided(axis, roots, lambda size: root_of(number_at(size)))
        return f"({root}) * ({root})" if root else None
    return strided(axis, points, number_at)


def expression_of(key, axes, base, explorer):
    """How one number follows from the axes, as text; None where that is not seen."""
    def number_at(axis, size):
        return (explorer.with_axes([axis], [size]) or {}).get(key)

    parts = []
    for axis in axes:
        numbers = [(size, number_at(axis, size)) for size in samples_of(axis)]
        points = [(size, number) for size, number in numbers if number is not None]
        if len({value for _, value in points}) > 1:
            parts.append((axis, points))
    value = base[key]
    if not parts:
        return str(value)
    if len(parts) == 1:
        axis, points = parts[0]
        return of_one_axis(axis, points, lambda size: number_at(axis, size))
    factor, names = value, []
    for axis, points in parts:
        power = power_of(axis, points)
        if power is None or factor % axis.size ** power:
            return None
        factor //= axis.size ** power
        names += [axis.name] * power
    return " * ".join([str(factor)] * (factor > 1) + names)


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
    axes = axes_of_sites(explorer, base)
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
