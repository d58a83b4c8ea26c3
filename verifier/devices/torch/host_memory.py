"""The judge's memory files in a process of PyTorch's on the cpu device: mapped, and seen as tensors."""

import math
import mmap
import os
import warnings

from equivalent_code import torch_dtype


class HostMemory:
    """Maps memory files. A tensor keeps its mapping alive."""

    def __init__(self, torch):
        self._torch = torch

    def map(self, descriptor, buffer):
        access = mmap.PROT_READ | (mmap.PROT_WRITE if buffer["writable"] else 0)
        return mmap.mmap(descriptor, buffer["mapped_bytes"], flags=mmap.MAP_SHARED, prot=access)

    def tensor(self, memory, buffer, dtype, shape):
        with warnings.catch_warnings():  # of memory that may only be read: nothing writes to inputs
            warnings.simplefilter("ignore")
            flat = self._torch.frombuffer(memory, dtype=torch_dtype(self._torch, dtype), count=math.prod(shape),
                                          offset=buffer["offset"])
        return flat.reshape(shape)

    def release(self, memory):
        pass  # with its last tensor

    def synchronize(self):
        pass

    @staticmethod
    def close(descriptors):
        for descriptor in descriptors:
            os.close(descriptor)
