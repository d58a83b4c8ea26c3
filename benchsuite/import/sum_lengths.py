"""The terms of the longest sum behind an output, as an expression over the axes."""

import math
import random
import re

from axes import evaluated, expression_of, samples_of

MOST_SUMS, MOST_TEXTS, TRIALS = 200, 6, 6


def extents_of_sums(numbers):
    """The extents of each sum of one trace: {sum: {position: extent}}."""
    sums = {}
    for (kind, index, position), value in numbers.items():
        if kind == "sum":
            sums.setdefault(index, {})[position] = value
    return sums


def longest(numbers):
    return max([1, *(math.prod(extents.values()) for extents in extents_of_sums(numbers).values())])


def factors_of(extent):
    """The factors of a product of names, numbers and parentheses without others inside, else the extent itself."""
    factor = r"(?:\w+|\([^()]*\))"
    if not re.fullmatch(rf"{factor}(?: \* {factor})*", extent):
        return [extent]
    return [part.strip("()") for part in re.findall(factor, extent)]


class Product:
    """A number times expressions."""

    def __init__(self, extents):
        extents = [factor for extent in extents for factor in factors_of(extent)]
        self.number = math.prod(int(extent) for extent in extents if extent.isdigit())
        self.factors = sorted((extent for extent in extents if not extent.isdigit()), key=extents.index)

    def at_most(self, other):
        """Whether it is, at all sizes: each factor is at least 1."""
        left = list(other.factors)
        for factor in self.factors:
            if factor not in left:
                return False
            left.remove(factor)
        return self.number <= other.number

    def text(self):
        factors = [f"({factor})" if " " in factor else factor for factor in self.factors]
        return " * ".join([str(self.number)] * (self.number > 1 or not factors) + factors)


def products(explorer, axes):
    """Those of the longest sums that no other one covers, the longest at the file's sizes first."""
    base = explorer.dimensions({})
    sums = sorted(extents_of_sums(base).items(), key=lambda item: math.prod(item[1].values()), reverse=True)
    kept = []
    for index, extents in sums[:MOST_SUMS]:
        product = Product([expression_of(("sum", index, position), axes, base, explorer) or str(value)
                           for position, value in extents.items()])
        if not any(product.at_most(one) for one in kept):
            kept = [one for one in kept if not one.at_most(product)] + [product]
    return kept[:MOST_TEXTS]


def longest_sum(explorer, axes):
    """(expression, whether it is right at other sizes too, as far as was tried); "1" where nothing is summed."""
    texts = [product.text() for product in products(explorer, axes)]
    text = f"max({', '.join(texts)})" if len(texts) > 1 else texts[0] if texts else "1"
    if evaluated(text, {axis.name: axis.least for axis in axes}) < 1:
        text = f"max(1, {text})"
    chance = random.Random(2)
    for trial in range(TRIALS if axes else 0):
        sizes = [chance.choice(samples_of(axis)) for axis in axes] if trial else [axis.least for axis in axes]
        numbers = explorer.with_axes(axes, sizes)
        values = {axis.name: size for axis, size in zip(axes, sizes)}
        if numbers is not None and evaluated(text, values) != longest(numbers):
            return text, False
    return text, True
