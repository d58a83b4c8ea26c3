"""The worker of kernelwright import.

A jailed process of kernelwright's (sandbox/python/python_role.h), with the channel to its owner on descriptor 3. One
request {"source", "file", "name", "add_dtype", "fit_bytes"}; one answer: {"problem", "reference", "remarks", "facts"} or
{"refused": why}, or {"error": why} where PyTorch does not load.
"""

import argparse
import json
import os
import socket

from torch_worker import CHANNEL_FD, Channel, import_torch


def answer_to(request):
    try:
        torch = import_torch()
        import importer
    except Exception as error:
        return {"error": f"PyTorch does not load in the jail: {type(error).__name__}: {error}"}
    torch.set_num_threads(1)
    return importer.answer_to(request)


def main():
    parser = argparse.ArgumentParser(description="A worker of kernelwright, which starts it.")
    parser.add_argument("--greeting", type=json.loads, default={})
    arguments = parser.parse_args()
    os.set_inheritable(CHANNEL_FD, False)
    owner = Channel(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, CHANNEL_FD))
    owner.send({"role": "import", **arguments.greeting})
    request, _ = owner.receive()
    owner.send(answer_to(request))


if __name__ == "__main__":
    main()
