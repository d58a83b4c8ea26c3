"""Makes a problem of one file of PyTorch, which it runs. It writes no files."""

import math
import re

import axes as axis_finding
import index_outputs
import model_form
import problem_writer
import tracing
from check_values import Values
from model_form import Unusable
from operations import kind_of
from problem_writer import BYTES, DTYPES, identifier, product
from sum_lengths import longest_sum

import torch

MOST_REFERENCE = 1 << 20
MOST_OPERATIONS = 20000
LARGEST_TO_SQUARE = 1e16


class Importer:
    def __init__(self, request):
        self._source, self._file = request["source"], request["file"]
        self._name, self._fit = request["name"], request["fit_bytes"]
        self._add_dtype = request["add_dtype"]
        self._remarks = []

    def run(self):
        self._base = tracing.trace(self._source)
        self._look_at_base()
        self._name_tensors()
        self._axes, texts, self._explorer = axis_finding.find_axes(self._source, [t["name"] for t in self._tensors])
        self._take_texts(texts)
        self._look_at_values()
        self._recover_axes()
        self._sums = self._sums_text()
        self._keep_norms_wide()
        return self._answer()

    def _look_at_base(self):
        base = self._base
        if base.recorder.random:
            raise Unusable(f"forward() draws random numbers ({base.recorder.random})")
        if len(base.recorder.operations) > MOST_OPERATIONS:
            raise Unusable(f"forward() takes {len(base.recorder.operations)} operations, more than {MOST_OPERATIONS}")
        for name, value in base.arguments:
            if isinstance(value, (list, tuple, dict)):
                raise Unusable(f"the argument {name} is a {type(value).__name__}; arguments are tensors and numbers")
            if not isinstance(value, torch.Tensor):
                if not isinstance(value, (int, float, bool, str, type(None))):
                    raise Unusable(f"the argument {name} is a {type(value).__name__}")
                self._remarks.append(f"the argument {name} is always {value!r}")
        if not any(isinstance(value, torch.Tensor) for _, value in base.arguments):
            raise Unusable("forward() takes no tensor")
        for what, tensor in [*base.arguments, *base.parameters, *enumerate(base.outputs)]:
            if isinstance(tensor, torch.Tensor) and str(tensor.dtype) not in DTYPES:
                raise Unusable(f"{what} is of {tensor.dtype}, which no problem holds")
        if base.dropouts:
            self._remarks.append("dropout is in eval mode")
        if base.batch_norms:
            self._remarks.append("batch norm is in train mode, as in the source: it takes the batch's own statistics")
        for index, output in enumerate(base.outputs):
            if output.dim() == 0:
                self._remarks.append("an output without dimensions is a tensor of one element")
            elif not output.is_contiguous():
                self._remarks.append("an output that is not contiguous is one here: row-major, as every tensor")

    def _name_tensors(self):
        taken, self._tensors = set(), []
        for kind, tensors in (("input", self._base.arguments), ("parameter", self._base.parameters)):
            for name, value in tensors:
                if isinstance(value, torch.Tensor):
                    self._tensors.append({"kind": kind, "theirs": name, "name": identifier(name, taken), "value": value})
        count = len(self._base.outputs)
        if self._add_dtype:
            self._name += "_" + DTYPES[str(self._base.outputs[0].dtype)]
        for index, value in enumerate(self._base.outputs):
            name = "out" if count == 1 else f"out{index:0{len(str(count - 1))}d}"
            self._tensors.append({"kind": "output", "theirs": index, "name": identifier(name, taken), "value": value})
        for tensor in self._tensors:
            tensor["dtype"] = DTYPES[str(tensor["value"].dtype)]

    def _take_texts(self, texts):
        self._texts = texts
        for tensor in self._tensors:
            shape = [texts[tensor["kind"], tensor["theirs"], i] for i in range(tensor["value"].dim())]
            tensor["shape"] = shape or ["1"]

    def _sizes_of(self, sizes):
        return {site: sizes[axis.name] for axis in self._axes for site in axis.sites}

    def _evaluated(self, text, sizes):
        return axis_finding.evaluated(text, sizes)

    def _alive(self):
        return [tensor for tensor in self._tensors if not tensor.get("dead")]

    def _look_at_values(self):
        self._work = self._work_text()
        sizes_of = problem_writer.Sizes(self._axes, self._alive(), self._work, self._evaluated)
        middle = {axis.name: sizes_of.snapped(axis, 33) for axis in self._axes}
        small = sizes_of.halved(middle, lambda sizes: sizes_of.elements(sizes) <= problem_writer.CPU_ELEMENTS
                                and sizes_of.work(sizes) <= problem_writer.CPU_WORK)
        if (sizes_of.elements(small) > problem_writer.MOST_CPU_ELEMENTS
                or sizes_of.work(small) > problem_writer.MOST_CPU_WORK):
            raise Unusable(f"at its smallest it has {sizes_of.elements(small)} elements and takes {sizes_of.work(small)} "
                           "operations, too much for the cpu device")
        values = Values(self._source, self._sizes_of(small))
        names = [name for name, _ in self._base.arguments]
        fits = {("input", name): fit for name, fit in values.input_fits(names).items()}
        weights = sum(value.numel() * value.element_size() for _, value in self._base.parameters)
        fits.update({("parameter", name): fit for name, fit in values.parameter_fits(weights).items()})
        for tensor in self._tensors:
            if tensor["kind"] != "output":
                tensor["init"], remark = fits[tensor["kind"], tensor["theirs"]]
                if remark:
                    self._remarks.append(f"{tensor['name']} {remark}")
                self._bounds_of_integers(tensor)
        self._let_inputs_be_negative(values, names)
        self._bound_what_is_squared()
        self._drop_dead(values, names)
        self._find_index_outputs(values)

    def _let_inputs_be_negative(self, values, names):
        """torch.rand draws no negative number, so it never shows a kernel that is wrong for them."""
        for tensor in self._tensors:
            init = tensor.get("init", {})
            if (tensor["kind"] != "input" or init["kind"] != "uniform" or init["low"] != 0
                    or self._base.recorder.multiplies):
                continue
            if tensor["value"].is_floating_point() and values.is_finite_beyond(names.index(tensor["theirs"]), init["high"]):
                tensor["init"] = {"kind": "normal", "scale": init["high"]}
                self._remarks.append(f"{tensor['name']} is drawn from N(0, {init['high']}) instead of between 0 and "
                                     f"{init['high']}, so that negative numbers matter, too")

    def _bound_what_is_squared(self):
        """Squares beyond float would be up to the order of a kernel's operations."""
        bounded = [tensor for tensor in self._tensors if self._base.recorder.squares
                   and tensor.get("init", {}).get("kind") == "normal" and DTYPES[str(tensor["value"].dtype)] in ("f32", "bf16")]
        for tensor in bounded:
            tensor["init"] = {**tensor["init"], "largest": LARGEST_TO_SQUARE}
        if bounded:
            self._remarks.append(f"it squares numbers, so that no element beyond {LARGEST_TO_SQUARE:g} is drawn for "
                                 f"{', '.join(tensor['name'] for tensor in bounded)}")

    def _find_index_outputs(self, values):
        arguments, model = values.inputs(1), values.model(1)
        by_name = {tensor["theirs"]: tensor for tensor in self._tensors if tensor["kind"] == "input"}
        outputs = [tensor for tensor in self._tensors if tensor["kind"] == "output"]
        found = index_outputs.find(lambda given: values.run(model, {}, given), arguments,
                                   [by_name.get(name) for name, _ in self._base.arguments], outputs)
        for tensor in outputs:
            if tensor["name"] in found:
                tensor["compare"] = found[tensor["name"]]
                self._remarks.append(f"{tensor['name']} holds places in {tensor['compare']['indices_into']}: ties may be "
                                     "broken either way")

    def _bounds_of_integers(self, tensor):
        beyond = self._texts.get(("most", tensor["theirs"], 0)) if tensor["kind"] == "input" else None
        if tensor["init"]["kind"] == "integers" and beyond is not None:
            least = tracing.integer_ranges(self._base)[tensor["theirs"]][0]
            tensor["init"] = {"kind": "integers", "low": least,
                              "high": int(beyond) - 1 if beyond.isdigit() else f"{beyond} - 1"}

    def _drop_dead(self, values, names):
        inits = {tensor["theirs"]: tensor["init"] for tensor in self._tensors if tensor["kind"] == "parameter"}

        def draw(name, tensor):
            init = inits[name]
            drawn = torch.empty(tensor.shape, dtype=torch.float64)
            if init["kind"] == "uniform":
                return drawn.uniform_(init["low"], init["high"])
            return drawn.normal_(0, init["scale"])

        dead, may_be_zero, ignored, random = values.without_effect(draw)
        self._zeros = sorted(dead) if may_be_zero else []
        if random:
            raise Unusable("its output depends on random tensors that are neither inputs nor parameters")
        for index in ignored:
            raise Unusable(f"its output does not depend on the input {names[index]}")
        for tensor in self._tensors:
            if tensor["kind"] == "parameter" and tensor["theirs"] in dead:
                tensor["dead"] = True
                self._remarks.append(f"the parameter {tensor['theirs']} changes no output and is left out")

    def _recover_axes(self):
        for axis in self._axes:
            for tensor in self._alive():
                if tensor["kind"] != "output" and axis.name in tensor["shape"]:
                    axis.tensor, axis.recovered = tensor["name"], ("", "", tensor["shape"].index(axis.name))
                    break
            else:
                raise Unusable(f"the size {axis.name} shows in no input that matters")

    def _sums_text(self):
        text, right = longest_sum(self._explorer, self._axes)
        if not right:
            self._remarks.append(f"its longest sum has {text} terms at the file's sizes, but not at all others: see "
                                 "contract.sums")
        return text

    def _keep_norms_wide(self):
        """PyTorch 2 takes |x| for the norm of a single element, to which no sum of squares comes near the ends of float."""
        summed = re.findall(r"[A-Za-z_]\w*", self._sums) if self._base.recorder.norms else []
        for axis in self._axes:
            if axis.name in summed and axis.least == 1 < axis.size:
                axis.least = 2

    def _work_text(self):
        """Floating-point operations as products of axes, about."""
        base = self._explorer.dimensions({})
        totals = {}
        for key, value in ((key, value) for key, value in base.items() if key[0] == "work"):
            powers = []
            for axis in self._axes:
                doubled = (self._explorer.with_axes([axis], [2 * axis.size]) or {}).get(key)
                grown = doubled / value if doubled and value else 1
                powers.append(max(0, min(3, round(math.log2(grown)))))
            totals[tuple(powers)] = totals.get(tuple(powers), 0) + value
        parts = []
        for powers, total in sorted(totals.items()):
            names = [axis.name for axis, power in zip(self._axes, powers) for _ in range(power)]
            sizes = math.prod(axis.size ** power for axis, power in zip(self._axes, powers))
            factor = max(1, round(total / sizes))
            parts.append(" * ".join(([str(factor)] if factor > 1 or not names else []) + names))
        return " + ".join(parts) or "1"

    def _bytes_text(self, tensors):
        return " + ".join(f"{BYTES[tensor['dtype']]} * {product(tensor['shape'])}" for tensor in tensors) or "1"

    def _axes_json(self):
        described = {axis.name: {"description": f"dimension {axis.recovered[2]} of {axis.tensor}", "min": axis.least, "max": axis.size,
                                 **({"multiple_of": axis.multiple} if axis.multiple > 1 else {})}
                     for axis in self._axes}
        if not described:
            self._remarks.append("no size of it is free")
            described = {"fixed": {"description": "no size is free", "min": 1, "max": 1}}
        return described

    def _answer(self):
        alive = self._alive()
        inputs = [tensor for tensor in alive if tensor["kind"] != "output"]
        outputs = [tensor for tensor in alive if tensor["kind"] == "output"]
        sizes_of = problem_writer.Sizes(self._axes, alive, self._work, self._evaluated)
        listed, original, cpu, gpu = problem_writer.workloads(sizes_of, self._axes, self._fit)
        if gpu != original:
            self._remarks.append(f"timed at {gpu}: at {original} its tensors take {sizes_of.bytes(original)} bytes")
        axes_json = self._axes_json()
        if not self._axes:
            for workload in listed:
                workload["axes"] = {"fixed": 1}
        partial = self._base.recorder.partial
        read = [tensor for tensor in inputs if tracing.storage_of(tensor["value"]) not in partial]
        tensor_json = lambda tensor: {"dtype": tensor["dtype"], "shape": [int(e) if e.isdigit() else e for e in tensor["shape"]]}
        kind = kind_of(self._base.recorder.operations)
        problem = {
            "name": self._name,
            "title": self._name.replace("_", " "),
            "description": f"What reference.py computes, imported from {self._file}: outputs of forward() as tensors "
                           "in row-major order; parameters of the module are inputs.",
            **({"kind": kind} if kind else {}),
            "axes": axes_json,
            "inputs": {tensor["name"]: {**tensor_json(tensor), "init": tensor["init"]} for tensor in inputs},
            "outputs": {tensor["name"]: {**tensor_json(tensor), **({"compare": tensor["compare"]} if "compare" in tensor else {})}
                        for tensor in outputs},
            "contract": {"accumulate": problem_writer.accumulate([tensor["dtype"] for tensor in alive]),
                         **({"sums": self._sums} if self._sums != "1" else {})},
            "cost": {"flops": self._work, "bytes_read": self._bytes_text(read),
                     "bytes_written": self._bytes_text(outputs)},
            "workloads": listed,
        }
        arguments = []
        for name, value in self._base.arguments:
            ours = next((t["name"] for t in inputs if t["kind"] == "input" and t["theirs"] == name), None)
            arguments.append((ours, None if ours else value))
        parameters = {tensor["name"]: tensor["theirs"] for tensor in inputs if tensor["kind"] == "parameter"}
        reference = problem_writer.reference_text(self._source, self._file, self._axes, arguments, parameters,
                                                  self._zeros, model_form)
        if len(reference) > MOST_REFERENCE:
            raise Unusable(f"reference.py would have {len(reference)} bytes")
        facts = {"torch": torch.__version__, "operations": len(self._base.recorder.operations), "original_sizes": original,
                 "original_bytes": sizes_of.bytes(original), "parameters": len(self._base.parameters),
                 "parameters_left_out": sum(bool(tensor.get("dead")) for tensor in self._tensors)}
        return {"problem": problem, "reference": reference, "remarks": self._remarks, "facts": facts}


def answer_to(request):
    try:
        return Importer(request).run()
    except Unusable as unusable:
        return {"refused": str(unusable)}
    except SyntaxError as error:
        return {"refused": f"is no Python: {error.msg} (line {error.lineno})"}
    except MemoryError:
        return {"refused": "takes more memory than import may use"}
    except BaseException as error:  # whatever the file raises, SystemExit too
        if isinstance(error, AttributeError) and getattr(error, "obj", None) is torch:
            return {"refused": f"needs a newer PyTorch: {torch.__version__} has no {error.name}"}
        return {"refused": "does not run: " + tracing.what_failed(error)}
