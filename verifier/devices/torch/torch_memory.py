"""The judge's device memory in a process of PyTorch's: mapped through libcuda, handed over as tensors."""

import ctypes
import math

from equivalent_code import torch_dtype


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("device", ctypes.c_int)]


class AllocationProperties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location", Location),
                ("windows_only", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]


class AccessDescription(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


class Driver:
    """The few calls of libcuda that PyTorch does not offer. PyTorch's context must be current."""

    def __init__(self, device):
        for name in ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"):
            try:
                self._library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            raise RuntimeError("the NVIDIA driver is not found (libcuda.so.1)")
        self._device = device
        self._handed_over = []  # PyTorch reads them again when it lets go of a tensor, and says nothing of it
        self.location = Location(1, device)
        attribute = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(attribute), ctypes.c_int(38), ctypes.c_int(device))
        self.l2_bytes = attribute.value
        properties = AllocationProperties(1, 1, self.location)
        granule = ctypes.c_size_t()
        self.call("cuMemGetAllocationGranularity", ctypes.byref(granule), ctypes.byref(properties), ctypes.c_int(0))
        self.granule = granule.value

    def call(self, name, *arguments):
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(result, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'error').decode()} ({result})")

    def lend(self, descriptor, mapped_bytes, writable):
        return LentMemory(self, descriptor, mapped_bytes, writable)

    def tensor_at(self, torch, address, dtype, shape):
        described = DlTensor(address, self._device, dtype, shape)
        self._handed_over.append(described)
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype = ctypes.py_object
        capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        made = torch.utils.dlpack.from_dlpack(capsule(ctypes.addressof(described), b"dltensor", None))
        return made.view(torch_dtype(torch, dtype)) if dtype in DlTensor.AS_BYTES else made

    def forget_persisting_lines(self):
        self.call("cuCtxResetPersistingL2Cache")


class LentMemory:
    """The judge's memory, mapped between unmapped granules. Lives until release()."""

    def __init__(self, driver, descriptor, mapped_bytes, writable):
        self._driver = driver
        self._bytes = mapped_bytes
        self._handle = ctypes.c_ulonglong()
        driver.call("cuMemImportFromShareableHandle", ctypes.byref(self._handle), ctypes.c_void_p(descriptor),
                    ctypes.c_int(1))
        self._reserved = ctypes.c_ulonglong()
        self._reserved_bytes = mapped_bytes + 2 * driver.granule
        driver.call("cuMemAddressReserve", ctypes.byref(self._reserved), ctypes.c_size_t(self._reserved_bytes),
                    ctypes.c_size_t(driver.granule), ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))
        self.begin = self._reserved.value + driver.granule
        driver.call("cuMemMap", ctypes.c_ulonglong(self.begin), ctypes.c_size_t(mapped_bytes), ctypes.c_size_t(0),
                    self._handle, ctypes.c_ulonglong(0))
        access = AccessDescription(driver.location, 3 if writable else 1)
        driver.call("cuMemSetAccess", ctypes.c_ulonglong(self.begin), ctypes.c_size_t(mapped_bytes),
                    ctypes.byref(access), ctypes.c_size_t(1))

    def release(self):
        driver = self._driver
        driver.call("cuMemUnmap", ctypes.c_ulonglong(self.begin), ctypes.c_size_t(self._bytes))
        driver.call("cuMemAddressFree", self._reserved, ctypes.c_size_t(self._reserved_bytes))
        driver.call("cuMemRelease", self._handle)


class DlTensor(ctypes.Structure):
    """DLManagedTensor: how memory is handed to PyTorch without a copy (and without NumPy)."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("dimensions", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

    CUDA = 2
    TYPES = {"f16": (2, 16), "bf16": (4, 16), "f32": (2, 32), "f64": (2, 64), "i8": (0, 8), "u8": (1, 8),
             "i32": (0, 32), "u32": (1, 32), "i64": (0, 64), "bool": (1, 8), "f8e4m3": (1, 8), "f8e5m2": (1, 8)}
    AS_BYTES = ("bool", "f8e4m3", "f8e5m2")  # which DLPack, or older versions of PyTorch, cannot name

    def __init__(self, address, device, dtype, shape):
        strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
        extents = ctypes.c_int64 * len(shape)
        code, bits = self.TYPES[dtype]
        super().__init__(address, self.CUDA, device, len(shape), code, bits, 1, extents(*shape), extents(*strides))
