"""The worker of a problem's reference.py: computes the truth in double, and what eager PyTorch gives. It also computes
a problem's equivalents.pytorch where that is checked on the processor.

A jailed process of kernelwright's (sandbox/python/python_role.h), with the channel to its owner on descriptor 3
(frames: sandbox/process/channel.h). Its owner asks:
  {"op":"about"}                                     {"torch": "2.11.0", "python": "3.12.3"}
  {"op":"problem","source","tf32","axes","scalars","tensors","buffers"} + data   {"draws_inputs": bool} or
                                                                                  {"refused": why, "tried": bool}
  {"op":"open","what":"truth"|"eager"}               {"process": n} + the judge's end of a channel
  {"op":"open","what":"equivalent","text","axes","scalars","tensors","buffers"} + data   the same, or {"refused": why} or
                                                                                         {"lacking": why}
  {"op":"open","what":"compiled","source","tf32","scalars","mode"}   the same for torch.compile of forward(), on a GPU
  {"op":"close","process"}                           {"killed": true}
"data" is memory with the inputs that files give. Over a channel of "truth" the judge asks
  {"op":"compute","in_double","tensors","buffers"} + memory                {"ok": true} or {"error": why}
  {"op":"draw","key","axes","nan","tensors","buffers"} + host memory       the same, or {"outside": why}
where inputs() of reference.py fills the buffers. A channel of "eager" is a candidate process's (judging/candidate_channel.h): what "go" launches is
forward(), of "equivalent" its function, and of "compiled" what torch.compile made of forward(). Neither a candidate nor a verdict ever comes here.
"""

import argparse
import gc
import json
import os
import platform
import select
import socket
import time

import reference_steps
from compiled_reference import CompiledReference
from drawn_inputs import OutsideDomain, drawn_inputs
from equivalent_check import Equivalent
from equivalent_code import Lacking, Refused, numbers_of
from host_memory import HostMemory
from reference_code import Reference
from torch_worker import CHANNEL_FD, Channel, Closed, LoadedEquivalent, fault, import_torch, load


NARROW_FLOATS = ("f16", "bf16", "f8e4m3", "f8e5m2", "f32")


def mapped_tensors(memory, request, descriptors, wide):
    """The tensors of a request by slot and name, and what to release afterwards. `wide`: floating outputs are double."""
    tensors, slots, mapped = request["tensors"], [], []
    for buffer, descriptor in zip(request["buffers"], descriptors):
        name = buffer["name"]
        described = tensors.get(name) or tensors.get(name.removeprefix("audit_"))
        if described is None:
            continue  # a workspace of naive.cu
        dtype = described["dtype"]
        if wide and described["role"] == "output" and dtype in NARROW_FLOATS:
            dtype = "f64"
        while len(slots) <= buffer["slot"]:
            slots.append({})
        mapped.append(memory.map(descriptor, buffer))
        slots[buffer["slot"]][name] = memory.tensor(mapped[-1], buffer, dtype, described["shape"])
    return slots, mapped


class Truth:
    """Answers a judge's questions for outputs, and for inputs."""

    def __init__(self, worker):
        self._worker = worker

    greeting = None

    def answer(self, request, descriptors):
        return (self._draw if request["op"] == "draw" else self._compute)(request, descriptors)

    def _draw(self, request, descriptors):
        torch, tensors = self._worker.torch, request["tensors"]
        try:
            drawn = self._worker.reference.inputs.draw(request["axes"], request["key"], tensors, request["nan"])
        except OutsideDomain as outside:
            return {"outside": str(outside)}
        except Refused as refusal:
            return {"error": str(refusal)}
        slots, _ = mapped_tensors(HostMemory(torch), request, descriptors, False)
        for name, value in slots[0].items():
            value.copy_(drawn[name])
        return {"ok": True}

    def _compute(self, request, descriptors):
        reference, memory = self._worker.reference, self._worker.memory
        slots, mapped = mapped_tensors(memory, request, descriptors, request["in_double"])
        tensors = request["tensors"]
        given = {name: value for name, value in slots[0].items() if tensors[name]["role"] == "input"}
        if request["in_double"]:
            results = reference.truth(given, tensors)
        else:
            results = reference.in_contract(reference.eager(reference.own_inputs(given), tensors), tensors)
        for name, result in results.items():
            slots[0][name].copy_(result)
        memory.synchronize()
        slots.clear()
        given.clear()
        for one in mapped:
            memory.release(one)
        return {"ok": True}

    @staticmethod
    def failure(error):
        return {"error": Reference.where(error)}

    def close(self):
        pass


class HostEager:
    """forward() on the cpu device, timed by the processor time of the one thread that it has."""

    greeting = {"loaded": True}

    def __init__(self, worker, reference):
        self._worker, self._reference = worker, reference
        self._slots, self._steps, self._request = [], [], {}

    def answer(self, request, descriptors):
        if request["op"] == "map":
            self._request = request
            self._slots, _ = mapped_tensors(self._worker.memory, request, descriptors, False)
            return {"ok": True}
        if request["op"] == "plan":
            self._steps = request["launches"]
            return {"ok": True}
        return self._go() if request["op"] == "go" else self._timed(lambda: None)

    def _go(self):
        reference, tensors, memory = self._reference, self._request["tensors"], self._slots[0]
        if not reference_steps.is_forward(self._steps):
            compute = lambda inputs: reference.in_contract(reference.eager(reference.own_inputs(inputs), tensors), tensors)
            return self._timed(lambda: reference_steps.carry_out(self._worker.torch, self._steps, tensors, memory, compute))
        inputs = reference.own_inputs(
            {name: value for name, value in memory.items() if tensors[name]["role"] == "input"})
        results = {}
        answer = self._timed(lambda: results.update(reference.eager(inputs, tensors)))
        for name, result in reference.in_contract(results, tensors).items():
            memory[name].copy_(result)
        return answer

    @staticmethod
    def _timed(action):
        gc.disable()
        try:
            begin = time.thread_time_ns()
            action()
            return {"ok": True, "elapsed_us": (time.thread_time_ns() - begin) / 1e3}
        finally:
            gc.enable()

    @staticmethod
    def failure(error):
        return fault("unsupported", error)

    def close(self):
        self._slots = []


class HostEquivalent(HostEager):
    """equivalents.pytorch on the cpu device, whatever the plan says. `wide`: in double."""

    def __init__(self, worker, text, wide):
        super().__init__(worker, None)
        self._text, self._wide = text, wide
        self._steps = [{"kernel": reference_steps.FORWARD}]

    def answer(self, request, descriptors):
        if request["op"] == "map":
            self._reference = Equivalent(self._worker.torch, self._text, numbers_of(request), request["tensors"], self._wide)
        return {"ok": True} if request["op"] == "plan" else super().answer(request, descriptors)


class DeviceEager(LoadedEquivalent):
    """forward() on a GPU, timed as libraries are."""

    greeting = {"loaded": True}

    def __init__(self, worker):
        super().__init__(worker.torch, worker.driver, worker.device, {"equivalent": ""})
        self._worker = worker

    def answer(self, request, descriptors):
        if request["op"] == "plan" and not reference_steps.is_forward(request["launches"]):
            raise Refused("mutants of a problem with reference.py are judged on the cpu device")
        return super().answer(request, [os.dup(descriptor) for descriptor in descriptors])  # which it closes

    def _make_function(self):
        names = self._names("input")
        tensors, reference = self._tensors, self._worker.reference

        def forward(*arguments):
            given = reference.own_inputs(dict(zip(names, arguments)))
            results = reference.in_contract(reference.eager(given, tensors), tensors)
            return [results[name].contiguous() for name in self._names("output")]

        return forward

    @staticmethod
    def failure(error):
        return fault("unsupported", error)

    def close(self):
        self.release()


class Worker:
    """`load` gives torch, a memory and a driver, at the first problem: importing PyTorch takes seconds."""

    def __init__(self, owner, device, greeting, load):
        self._owner = owner
        self._load = load
        self._greeting = greeting
        self.device = device
        self.torch = self.memory = self.driver = self.reference = None
        self._opened = 0
        self._judges = {}  # by descriptor: channel and what answers
        self._poll = select.poll()
        self._poll.register(CHANNEL_FD, select.POLLIN)

    def serve(self):
        self._owner.send({"role": "reference", **self._greeting})
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == CHANNEL_FD:
                    self._serve_owner()
                elif descriptor in self._judges:
                    self._serve_judge(descriptor)

    def _serve_owner(self):
        request, descriptors = self._owner.receive()
        try:
            self._answer(request, descriptors)
        except Closed:
            raise
        except Exception as error:  # ours: reported to the owner
            self._owner.send({"error": f"{type(error).__name__}: {str(error)[:1500]}"})
        finally:
            HostMemory.close(descriptors)

    def _answer(self, request, descriptors):
        if request["op"] == "close":  # the judge has hung up, or does so now
            return self._owner.send({"killed": True})
        if request["op"] == "open" and request["what"] in ("truth", "eager"):
            return self._open(request["what"])
        if self.torch is None:
            try:
                self.torch, self.memory, self.driver = self._load(self.device)
            except ImportError as error:
                return self._owner.send({"refused": f"PyTorch cannot be imported: {error}"})
        if request["op"] == "open" and request["what"] == "compiled":
            return self._open_channel(CompiledReference(self, request))
        if request["op"] == "open":
            return self._open_equivalent(request, descriptors)
        if request["op"] == "about":
            return self._owner.send({"torch": self.torch.__version__, "python": platform.python_version()})
        tried = False
        try:
            self.torch.backends.cuda.matmul.allow_tf32 = request["tf32"]
            self.torch.backends.cudnn.allow_tf32 = request["tf32"]
            self.reference = Reference(self.torch, request["source"], "cpu" if self.driver is None else "cuda",
                                       request["scalars"])
            tried = True
            self.reference.try_out(request["tensors"], self._inputs(request, descriptors, self.reference.inputs))
            self._owner.send({"draws_inputs": self.reference.inputs is not None})
        except (Refused, OutsideDomain) as refusal:
            self._owner.send({"refused": str(refusal), "tried": tried})

    def _inputs(self, request, descriptors, function):
        """Inputs by name for a first try. `function`: inputs() of reference.py, or None."""
        slots, _ = mapped_tensors(HostMemory(self.torch), request, descriptors, False)
        return drawn_inputs(self.torch, request, function, slots[0] if slots else {})

    def _open(self, what):
        if what == "truth":
            return self._open_channel(Truth(self))
        self._open_channel(HostEager(self, self.reference) if self.driver is None else DeviceEager(self))

    def _open_equivalent(self, request, descriptors):
        tensors = request["tensors"]
        try:
            equivalent = Equivalent(self.torch, request["text"], numbers_of(request), tensors)
            function = None
            if "source" in request:
                function = Reference(self.torch, request["source"], "cpu", request["scalars"]).inputs
            wide = equivalent.try_out(self._inputs(request, descriptors, function), tensors)
        except (Refused, OutsideDomain, Lacking) as error:
            return self._owner.send({"lacking" if isinstance(error, Lacking) else "refused": str(error)[:1500]})
        self._open_channel(HostEquivalent(self, request["text"], wide))

    def _open_channel(self, answers):
        ours, judges = socket.socketpair()
        self._opened += 1
        self._judges[ours.fileno()] = (Channel(ours), answers)
        self._poll.register(ours.fileno(), select.POLLIN)
        if answers.greeting:
            Channel(ours).send(answers.greeting)
        self._owner.send({"process": self._opened}, [judges.fileno()])
        judges.close()

    def _serve_judge(self, descriptor):
        channel, answers = self._judges[descriptor]
        try:
            request, descriptors = channel.receive()
            try:
                answer = answers.answer(request, descriptors)
            except Exception as error:  # of reference.py or PyTorch
                answer = answers.failure(error)
            finally:
                self.memory.close(descriptors)
            channel.send(answer)
            if getattr(answers, "lost", False):
                os._exit(0)  # at once: what the context held cannot be given back in order
        except Closed:
            self._poll.unregister(descriptor)
            answers.close()
            del self._judges[descriptor]
            channel.end.close()


def load_host(_):
    torch = import_torch()
    torch.set_num_threads(1)
    return torch, HostMemory(torch), None


def loader_for(rocm):
    """On a GPU, of AMD's (`rocm`) or of NVIDIA's."""

    def load_device(device):
        torch = import_torch()
        from device_memory import DeviceMemory

        if rocm != bool(getattr(torch.version, "hip", None)):
            raise RuntimeError("PyTorch %s is %sbuilt for ROCm, and the GPU is %s: set KW_PYTHON to a Python with "
                               "one that is built for it"
                               % (torch.__version__, "not " if rocm else "", "AMD's" if rocm else "NVIDIA's"))
        torch, driver = load(device)
        return torch, DeviceMemory(torch, driver), driver

    return load_device


def main():
    parser = argparse.ArgumentParser(description="A worker of kernelwright, which starts it.")
    parser.add_argument("--device", type=int, default=-1, help="a GPU's number; -1: the processor")
    parser.add_argument("--rocm", action="store_true", help="an AMD GPU")
    parser.add_argument("--greeting", type=json.loads, default={})
    arguments = parser.parse_args()
    os.set_inheritable(CHANNEL_FD, False)
    owner = Channel(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, CHANNEL_FD))
    try:
        Worker(owner, arguments.device, arguments.greeting,
               load_host if arguments.device < 0 else loader_for(arguments.rocm)).serve()
    except Closed:
        pass


if __name__ == "__main__":
    main()
