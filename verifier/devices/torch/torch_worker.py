"""A candidate process that runs PyTorch: the judge times a problem's equivalent in it like a candidate.

A worker process of kernelwright's, started by it and never by hand, with the channel to its owner on descriptor 3
(frames: sandbox/channel.h). Its owner asks:
  {"op":"about"}                                         {"torch": "2.11.0", "python": "3.12.3"} or {"missing": why}
  {"op":"open","equivalent":...,"compile":mode}          {"process": n} + the judge's end of the process's channel
  {"op":"open","equivalent":"","file":...}   the same for a user's own file (equivalent_file.py)
  {"op":"close","process":n}                                {"killed": true}
and the judge asks of the process what sandbox/cuda/run/roles.h describes. A launch plan is ignored: what "go" launches
is the equivalent, compiled by torch.compile in "compile"'s mode where there is one. Results are copied into the lent
outputs outside the timed part; there the judge audits them.
"""

import argparse
import array
import gc
import importlib.metadata
import json
import math
import os
import platform
import socket
import struct
import time

import torch_memory
from equivalent_code import Refused, function_of, names_of, numbers_of, outputs_of, require_outputs, torch_dtype
from equivalent_file import function_of_file

CHANNEL_FD = 3
MAX_DESCRIPTORS = 128
FLUSH_FACTOR = 3  # times the L2 cache
MOST_FLUSHES = 400
WARM_UPS = 3
SLEEP_CYCLES_PER_US = 2000  # of the gate where nothing is flushed: no clock of a GPU is higher


class Closed(Exception):
    """The other side has hung up."""


class Channel:
    """Frames: 4 bytes length, 4 bytes number of descriptors (little-endian), JSON."""

    def __init__(self, end):
        self.end = end

    def send(self, message, descriptors=()):
        text = json.dumps(message).encode()
        frame = struct.pack("<II", len(text), len(descriptors)) + text
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            sent = self.end.sendmsg([frame], rights)
            self.end.sendall(frame[sent:])
        except (BrokenPipeError, ConnectionResetError) as gone:
            raise Closed from gone

    def receive(self):
        """The message, and the descriptors that came with it: the caller's to close."""
        descriptors = []
        length, count = struct.unpack("<II", self._read(8, descriptors))
        text = self._read(length, descriptors)
        if len(descriptors) != count:
            raise Closed("a frame came without its descriptors")
        return json.loads(text), descriptors

    def _read(self, size, descriptors):
        data = b""
        while len(data) < size:
            try:
                part, received, _, _ = socket.recv_fds(self.end, size - len(data), MAX_DESCRIPTORS,
                                                         socket.MSG_CMSG_CLOEXEC)
            except ConnectionResetError as gone:
                raise Closed from gone
            descriptors.extend(received)
            if not part:
                raise Closed
            data += part
        return data


class LoadedEquivalent:
    def __init__(self, torch, driver, device, request):
        self._torch = torch
        self._driver = driver
        self._device = f"cuda:{device}"
        self._text, self._file = request["equivalent"], request.get("file")
        self._compile = request.get("compile")  # a mode of torch.compile; none: eager
        self._replays = self._compile == "reduce-overhead"  # a CUDA graph, whose outputs the next replay overwrites
        self._tensors = {}
        self._axes, self._numbers = {}, {}
        self._memory = {}  # by the judge's number for it
        self._slots = []  # of each: tensors by name
        self._functions = {}  # by shape
        self._function = None
        self._call_us = 0.0
        self._patience = 1.5  # times the time that the launches take here, given by flushes
        self._flush = torch.empty(FLUSH_FACTOR * driver.l2_bytes // 4, dtype=torch.int32, device=self._device)
        self._pattern = 0
        self._flush_us = min(self._time_of(self._enqueue_flush) for _ in range(5))

    def answer(self, request, descriptors):
        try:
            with self._torch.inference_mode():
                if request["op"] == "map":
                    return self._map(request, descriptors)
                if request["op"] == "plan":
                    return self._plan()
                if request["op"] == "go":
                    return self._go(request["slots"], request["hot"])
                return self._go(0, False)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def release(self, kept=()):
        self._function = None
        self._slots = []
        gc.collect()
        self._torch.cuda.synchronize()
        for number in [n for n in self._memory if n not in kept]:
            self._memory.pop(number).release()

    def _map(self, request, descriptors):
        self.release({buffer["memory"] for buffer in request["buffers"] if buffer["kept"]})
        self._axes, self._numbers = request["axes"], numbers_of(request)
        self._tensors = request["tensors"]
        lent = iter(descriptors)
        for buffer in request["buffers"]:
            number = buffer["memory"]
            if not buffer["kept"]:
                self._memory[number] = self._driver.lend(next(lent), buffer["mapped_bytes"], buffer["writable"])
            memory = self._memory[number]
            tensor = self._tensors.get(buffer["name"])
            if tensor is None:
                continue  # a workspace of the plan, whose memory may be lent as an output next time
            while len(self._slots) <= buffer["slot"]:
                self._slots.append({})
            self._slots[buffer["slot"]][buffer["name"]] = self._at(memory.begin + buffer["offset"], tensor)
        return {"ok": True}

    def _at(self, address, tensor):
        made = self._driver.tensor_at(self._torch, address, tensor["dtype"], tensor["shape"])
        if made.data_ptr() != address:
            raise RuntimeError("PyTorch copied lent memory instead of taking it over")
        return made

    def _names(self, role):
        return names_of(self._tensors, role)

    def _plan(self):
        """Compiles and warms up on inputs of our own: of the lent ones only the given ones hold something yet."""
        torch = self._torch
        shape = json.dumps(self._axes, sort_keys=True)
        if shape not in self._functions:
            self._functions = {shape: self._make_function()}
        self._function = self._functions[shape]
        own = [self._own_input(name, self._tensors[name]) for name in self._names("input")]
        for _ in range(WARM_UPS):  # as many results at once as there are slots: the allocator keeps their memory
            results = [outputs_of(self._call(own), self._names("output")) for _ in self._slots]
        require_outputs(torch, results[-1], own, self._tensors)
        results = None
        torch.cuda.synchronize()
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            self._call(own)
            times.append((time.perf_counter() - begin) * 1e6)
            torch.cuda.synchronize()
        self._call_us = min(times)
        return {"ok": True}

    def _make_function(self):
        inputs = self._names("input")
        if self._file:
            return function_of_file(self._file, inputs, self._numbers)
        function = function_of(self._text, inputs, self._numbers, self._torch)
        if not self._compile:
            return function
        # Dynamo counts the functions that it has compiled, across shapes and problems, and leaves the ninth as it is.
        self._torch.compiler.reset()
        return self._torch.compile(function, dynamic=False, mode=self._compile)

    def _call(self, arguments):
        if self._replays:
            self._torch.compiler.cudagraph_mark_step_begin()
        return self._function(*arguments)

    def _own_input(self, name, tensor):
        if tensor.get("given"):  # no other content is known to be valid
            return self._slots[0][name].clone()
        dtype = torch_dtype(self._torch, tensor["dtype"])
        if "least" in tensor:  # integers promise a range
            return self._torch.full(tensor["shape"], tensor["least"], dtype=dtype, device=self._device)
        return self._torch.randn(tensor["shape"], dtype=self._torch.float32, device=self._device).to(dtype)

    def _enqueue_flush(self):
        self._pattern = (self._pattern + 0x3E3779B9) & 0x7FFFFFFF
        self._flush.fill_(self._pattern)

    def _time_of(self, enqueue):
        begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        enqueue()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3

    def _gate(self, slots, hot):
        """Keeps the device busy until everything behind it is queued, without a trace in the cache where it is hot."""
        wait_us = self._patience * slots * self._call_us
        if hot:
            self._torch.cuda._sleep(int((wait_us + 20) * SLEEP_CYCLES_PER_US))
            return
        for _ in range(min(1 + math.ceil(wait_us / self._flush_us), MOST_FLUSHES)):
            self._enqueue_flush()

    def _go(self, slots, hot):
        torch = self._torch
        names = self._names("input")
        arguments = [[slot[name] for name in names] for slot in self._slots[:slots]]
        if len(arguments) != slots:
            raise RuntimeError("asked for more slots than there are")
        results = [None] * slots
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(max(slots, 1))]
        self._driver.forget_persisting_lines()
        if hot:
            for slot in range(slots):
                self._call(arguments[slot])
        gc.disable()
        try:
            self._gate(slots, hot)
            for slot, (begin, end) in enumerate(events):
                begin.record()
                if slot < slots:
                    results[slot] = self._call(arguments[slot])
                end.record()
                if self._replays and slot < slots:
                    self._keep(slot, results[slot])
                    results[slot] = None
            gated = not events[0][0].query()
        finally:
            gc.enable()
        events[-1][1].synchronize()
        if not gated and slots > 0:
            self._patience = min(2 * self._patience, 12.0)
        for slot in range(0 if self._replays else slots):
            self._keep(slot, results[slot])
        torch.cuda.synchronize()
        return {"ok": True, "us": sum(begin.elapsed_time(end) for begin, end in events) * 1e3, "gated": gated}

    def _keep(self, slot, value):
        names = self._names("output")
        for name, output in zip(names, outputs_of(value, names)):
            self._slots[slot][name].copy_(output)


def fault(kind, error):
    text = f"{type(error).__name__}: {error}" if not isinstance(error, Refused) else str(error)
    return {"fault": {"kind": kind, "message": "PyTorch: " + text[:1500], "kernel": ""}}


class Worker:
    """`load` gives torch and the driver, at the first candidate process: importing PyTorch takes seconds."""

    def __init__(self, owner, device, load):
        self._owner = owner
        self._device = device
        self._load = load
        self._loaded = None
        self._opened = 0

    def serve(self):
        self._owner.send({"role": "library"})
        while True:
            request, descriptors = self._owner.receive()
            for descriptor in descriptors:
                os.close(descriptor)
            try:
                self._answer(request)
            except Closed:
                raise
            except Exception as error:  # ours: told to the owner
                self._owner.send({"error": f"{type(error).__name__}: {str(error)[:1500]}"})

    def _answer(self, request):
        if request["op"] == "about":
            self._owner.send(about())
        elif request["op"] == "open":
            self._open(request)
        else:
            self._owner.send({"killed": True})  # the judge has hung up: there is no process any more

    def _open(self, request):
        if self._loaded is None:
            self._loaded = self._load(self._device)
        torch, driver = self._loaded
        process = LoadedEquivalent(torch, driver, self._device, request)
        ours, judges = socket.socketpair()
        self._opened += 1
        self._owner.send({"process": self._opened}, [judges.fileno()])
        judges.close()
        try:
            self._serve_judge(process, Channel(ours))
        except Closed:
            pass
        ours.close()
        process.release()
        del process
        torch.cuda.empty_cache()

    def _serve_judge(self, process, judge):
        judge.send({"loaded": True})
        while True:
            request, descriptors = judge.receive()
            try:
                answer = process.answer(request, descriptors)
            except Refused as refusal:
                answer = fault("unsupported", refusal)
            except Exception as error:  # of PyTorch: a finding about it
                answer = fault("unsupported", error)
                if not self._usable():
                    judge.send(answer)
                    os._exit(0)  # at once: what the context held cannot be given back in order
            judge.send(answer)

    def _usable(self):
        try:
            self._loaded[0].cuda.synchronize()
            return True
        except Exception:
            return False


def about():
    try:
        return {"torch": importlib.metadata.version("torch"), "python": platform.python_version()}
    except importlib.metadata.PackageNotFoundError:
        return {"missing": f"Python {platform.python_version()} has no torch"}


def import_torch():
    """PyTorch, of which Python looks for no garbage meanwhile: a fifth of the time that it takes."""
    gc.disable()
    try:
        import torch
    finally:
        gc.freeze()
        gc.enable()
    return torch


def load(device):
    torch = import_torch()
    torch.cuda.set_device(device)  # says why where there is no GPU
    torch.empty(1, device=f"cuda:{device}")  # makes its context, which the driver's calls then find current
    return torch, torch_memory.driver_for(torch, device)


def main():
    parser = argparse.ArgumentParser(description="A worker of kernelwright, which starts it.")
    parser.add_argument("--device", type=int, default=0)
    arguments = parser.parse_args()
    os.set_inheritable(CHANNEL_FD, False)  # not for the compilers that PyTorch starts
    owner = Channel(socket.socket(fileno=CHANNEL_FD))
    try:
        Worker(owner, arguments.device, load).serve()
    except Closed:
        pass


if __name__ == "__main__":
    main()
