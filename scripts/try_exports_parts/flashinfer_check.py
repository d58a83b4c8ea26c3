"""Reads an exported dataset with FlashInfer-Bench's own models. Without PyTorch, which these need not: a stand-in takes its place.

Usage: flashinfer_check.py DATASET, with flashinfer_bench and pydantic to be imported from where PYTHONPATH says."""

import importlib.machinery
import json
import pathlib
import struct
import sys
import types


def stand_in(name):
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.__path__ = []

    def attribute(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})

    module.__getattr__ = attribute
    sys.modules[name] = module


def check_blob(root, entry):
    with open(root / entry["path"], "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        tensor = json.loads(file.read(length))[entry["tensor_key"]]
        begin, end = tensor["data_offsets"]
        assert begin == 0 and len(file.read()) == end, entry


def main(root):
    for name in ("torch", "safetensors", "safetensors.torch"):
        stand_in(name)
    package = types.ModuleType("flashinfer_bench")  # its own __init__ wants all of PyTorch
    package.__path__ = [str(pathlib.Path(folder) / "flashinfer_bench") for folder in sys.path
                        if (pathlib.Path(folder) / "flashinfer_bench").is_dir()]
    sys.modules["flashinfer_bench"] = package
    from flashinfer_bench.data.definition import Definition
    from flashinfer_bench.data.solution import Solution
    from flashinfer_bench.data.trace import Trace

    definition, = [Definition.model_validate_json(file.read_text()) for file in root.glob("definitions/**/*.json")]
    solution, = [Solution.model_validate_json(file.read_text()) for file in root.glob("solutions/**/*.json")]
    assert solution.definition == definition.name
    count = 0
    for file in root.glob("workloads/**/*.jsonl"):
        for line in file.read_text().splitlines():
            trace = Trace.model_validate_json(line)
            assert trace.is_workload_trace() and trace.definition == definition.name
            assert set(trace.workload.inputs) == set(definition.inputs)
            shapes = definition.get_input_shapes(trace.workload.axes)
            assert definition.get_axes_values(shapes) == trace.workload.axes
            for entry in json.loads(line)["workload"]["inputs"].values():
                if entry["type"] == "safetensors":
                    check_blob(root, entry)
            count += 1
    assert count > 0
    print("%s: %d workloads, %d sources" % (definition.name, count, len(solution.sources)))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
