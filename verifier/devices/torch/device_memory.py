"""The judge's device memory in the worker of reference.py on a GPU, in the terms of host_memory.py."""

import os


class DeviceMemory:
    def __init__(self, torch, driver):
        self._torch = torch
        self._driver = driver

    def map(self, descriptor, buffer):
        return self._driver.lend(descriptor, buffer["mapped_bytes"], buffer["writable"])

    def tensor(self, memory, buffer, dtype, shape):
        return self._driver.tensor_at(self._torch, memory.begin + buffer["offset"], dtype, shape)

    def release(self, memory):
        memory.release()

    def synchronize(self):
        self._torch.cuda.synchronize()

    @staticmethod
    def close(descriptors):
        for descriptor in descriptors:
            os.close(descriptor)
