"""Runs a file's model for real at small sizes: which distributions its tensors have, and which of them matter."""

import torch

import distributions
import model_form
from source_sites import with_sizes

MOST_PARAMETER_BYTES = 1 << 30
SAME = 1e-9  # of the largest output


class Values:
    """`sizes`: {site: number}, small."""

    def __init__(self, source, sizes):
        self._code = with_sizes(source, sizes)
        self._original = with_sizes(source, {})

    def model(self, seed, original=False):
        torch.manual_seed(seed)
        return model_form.make_model(model_form.load(self._original if original else self._code))

    def inputs(self, seed):
        torch.manual_seed(seed)
        return model_form.make_inputs(model_form.load(self._code))

    def input_fits(self, names):
        """{name: (init, remark)} of every tensor argument."""
        fits = {}
        for index, name in enumerate(names):
            if not isinstance(self.inputs(0)[index], torch.Tensor):
                continue
            values = distributions.sample(lambda seed: self.inputs(seed)[index])
            if values.is_floating_point():
                samples = [self.inputs(seed)[index] for seed in range(3)]
                fits[name] = distributions.fit_matrix(samples, values)
                if distributions.are_probabilities(samples) and self._takes_certainty(index):
                    fits[name] = {"kind": "probabilities"}, "has rows that add up to 1: drawn so, with zeros among them"
            else:
                fits[name] = (distributions.fit_integers(values.long()), "")
        return fits

    def _takes_certainty(self, index):
        """Whether outputs stay finite where an element of each row is 1 and the others are 0."""
        arguments = self.inputs(1)
        certain = torch.zeros_like(arguments[index], dtype=torch.float64)
        certain[..., 0] = 1
        arguments[index] = certain
        return all(torch.isfinite(output).all() for output in self.run(self.model(1), {}, arguments))

    def parameter_fits(self, bytes_at_original):
        original = bytes_at_original <= MOST_PARAMETER_BYTES
        names = [name for name, _ in self.model(0).named_parameters()]
        models = {}

        def parameter(seed, name):
            if seed not in models:
                models[seed] = dict(self.model(seed, original).named_parameters())
            return models[seed][name]

        return {name: distributions.fit(distributions.sample(lambda seed: parameter(seed, name), 4)) for name in names}

    def _double(self, value):
        return value.detach().double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    def run(self, model, parameters, arguments):
        with torch.no_grad():
            given = {name: self._double(value) for name, value in parameters.items()}
            copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in map(self._double, arguments)]
            return [output.double() for output in
                    model_form.outputs_of(model_form.functional_call(model.double(), given, copies))]

    def differ(self, one, other):
        for a, b in zip(one, other):
            scale = max(a.abs().max().item(), 1e-30)
            if not torch.equal(torch.isfinite(a), torch.isfinite(b)) or (a - b).abs().nan_to_num(0, 0, 0).max().item() > SAME * scale:
                return True
        return False

    def is_finite_beyond(self, index, scale, seeds=4):
        """Whether outputs stay finite where an argument is N(0, scale) instead of what the file draws."""
        model = self.model(1)
        for seed in range(seeds):
            arguments = self.inputs(seed)
            shape = arguments[index].shape
            arguments[index] = scale * torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
            if not all(torch.isfinite(output).all() for output in self.run(model, {}, arguments)):
                return False
        return True

    def without_effect(self, draw):
        """(names of parameters, positions of inputs) that may change without changing an output, whether those parameters
        may all be zero, and whether tensors that are neither make the outputs random. `draw(name, tensor)`: other values for a parameter."""
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            model, arguments = self.model(1), self.inputs(1)
            others = self.inputs(2)
            parameters = {name: draw(name, value) for name, value in model.named_parameters()}
            right = self.run(model, parameters, arguments)
            dead = [name for name, value in parameters.items()
                    if not self.differ(right, self.run(model, {**parameters, name: draw(name, value)}, arguments))]
            zeros = {**parameters, **{name: torch.zeros_like(parameters[name]) for name in dead}}
            may_be_zero = not self.differ(right, self.run(model, zeros, arguments))
            ignored = []
            for index, value in enumerate(arguments):
                if isinstance(value, torch.Tensor):
                    changed = [others[i] if i == index else one for i, one in enumerate(arguments)]
                    if not self.differ(right, self.run(model, parameters, changed)):
                        ignored.append(index)
            return dead, may_be_zero, ignored, self.differ(right, self.run(self.model(3), parameters, arguments))
        finally:
            torch.set_default_dtype(before)
