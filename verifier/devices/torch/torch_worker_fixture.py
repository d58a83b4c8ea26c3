"""torch_worker.py without PyTorch and without a GPU, for its test: tensors of f32 over memory files that the test lends.
With the argument "reference", reference_worker.py.

Takes the place of torch and of the driver only; the channel, the process and what it answers are the worker's own.
"""

import contextlib
import itertools
import math
import mmap
import os
import socket
import sys
import types

import reference_worker
import torch_memory
import torch_worker
from device_memory import DeviceMemory

mapped = {}  # address: memory of f32
numbers = itertools.count(1)


class Tensor:
    def __init__(self, values, shape, dtype="float32", address=0, owner=None):
        self.values, self.shape, self.dtype, self.address = values, shape, dtype, address
        self.owner = owner or self
        self._version = 0

    def __add__(self, other):
        return Tensor([x + y for x, y in zip(self.values, other.values)], self.shape, self.dtype)

    def alias(self):
        return Tensor(self.values, self.shape, self.dtype, self.address, self.owner)

    def clone(self):
        return Tensor(list(self.values), self.shape, self.dtype)

    def to(self, dtype):
        return Tensor(list(self.values), self.shape, dtype)

    def fill_(self, value):
        assert 0 <= value < 2**31

    def copy_(self, other):
        self.values[:] = memoryview(bytearray(4 * len(other.values))).cast("f")
        for i, value in enumerate(other.values):
            self.values[i] = value

    def data_ptr(self):
        return self.address

    def untyped_storage(self):
        return types.SimpleNamespace(data_ptr=lambda: id(self.owner))

    def is_contiguous(self):
        return True

    def contiguous(self):
        return self

    def is_floating_point(self):
        return True

    def dim(self):
        return len(self.shape)

    def add_(self, other):
        assert not self.address, "the judge's memory is written to"
        self.values = [x + y for x, y in zip(self.values, other.values)]
        self._version += 1
        return self


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        pass

    def query(self):
        return False  # the device is still busy with the flush

    def synchronize(self):
        pass

    def elapsed_time(self, _):
        return 0.001


class Memory:
    def __init__(self, descriptor, mapped_bytes, writable):
        self._map = mmap.mmap(descriptor, mapped_bytes, prot=mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0))
        self.begin = next(numbers) << 32
        mapped[self.begin] = self._map

    def release(self):
        del mapped[self.begin]


def tensor_at(_, address, dtype, shape):
    described = torch_memory.DlTensor(address, torch_memory.Driver.DLPACK_DEVICE, 0, dtype, shape)
    assert (described.code, described.bits, described.lanes, described.dimensions) == (2, 32, 1, len(shape))
    assert described.strides[len(shape) - 1] == 1 and described.shape[0] == shape[0]
    begin, offset = described.data >> 32 << 32, described.data & 0xFFFFFFFF
    count = math.prod(shape)
    return Tensor(memoryview(mapped[begin])[offset:offset + 4 * count].cast("f"), list(shape), address=address)


def fail(_):
    raise RuntimeError("out of memory")


def valid(tensor):
    if tensor.values[0] != 10:
        raise RuntimeError("not an index of anything")
    return tensor


def ones(shape, **_):
    return Tensor([1.0] * math.prod(shape), list(shape))


replayed = {}  # by function: what a graph's replays write to


def compiled(function, dynamic, mode):
    """As torch.compile does; a replay overwrites the outputs of the last one."""
    if mode == "max-autotune-no-cudagraphs":
        os.write(2, b"cc: no such header\n")
        raise RuntimeError("no valid choices")

    def replay(*inputs):
        assert torch.compiler.marked == 1, "a step was not marked"
        torch.compiler.marked = 0
        result = function(*inputs)
        output = replayed.setdefault(function, result)
        for kept, new in zip(*[value if isinstance(value, list) else [value] for value in (output, result)]):
            kept.values = new.values
        return output

    return replay if mode == "reduce-overhead" else function


def mark_step():
    torch.compiler.marked = 1


torch = types.SimpleNamespace(
    Tensor=Tensor,
    float32="float32", float64="float64", int32="int32", inference_mode=contextlib.nullcontext,
    no_grad=contextlib.nullcontext,
    backends=types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace()),
                                   cudnn=types.SimpleNamespace()),
    randn=ones, empty=lambda count, **_: Tensor([], [count]), compile=compiled,
    compiler=types.SimpleNamespace(reset=lambda: None, marked=0, cudagraph_mark_step_begin=mark_step), fail=fail, valid=valid,
    nn=types.SimpleNamespace(functional=types.SimpleNamespace(double=lambda x: x + x)),
    cuda=types.SimpleNamespace(Event=Event, synchronize=lambda: None, empty_cache=lambda: None))
driver = types.SimpleNamespace(lend=Memory, forget_persisting_lines=lambda: None, tensor_at=tensor_at,
                               l2_bytes=1 << 20)

assert "SECRET" not in os.environ
owner = torch_worker.Channel(socket.socket(fileno=3))
try:
    if sys.argv[1:] == ["reference"]:
        reference_worker.Worker(owner, 0, {}, lambda _: (torch, DeviceMemory(torch, driver), driver)).serve()
    torch_worker.Worker(owner, 0, lambda _: (torch, driver)).serve()
except torch_worker.Closed:
    pass
