"""The judge's device memory in a process of PyTorch's: mapped through the vendor's driver, handed over as tensors."""

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
    """The few calls of the driver that PyTorch does not offer. PyTorch's context must be current."""

    PREFIX = "cu"
    FILES = ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1")
    MISSING = "the NVIDIA driver is not found (libcuda.so.1)"
    L2_BYTES = 38  # the number of the device attribute
    DLPACK_DEVICE = 2

    def __init__(self, device):
        for name in self.FILES:
            try:
                self._library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            raise RuntimeError(self.MISSING)
        self._device = device
        self._handed_over = []  # PyTorch reads them again when it lets go of a tensor, and says nothing of it
        self.location = Location(1, device)
        attribute = ctypes.c_int()
        self.call("DeviceGetAttribute", ctypes.byref(attribute), ctypes.c_int(self.L2_BYTES), ctypes.c_int(device))
        self.l2_bytes = attribute.value
        properties = AllocationProperties(1, 1, self.location)
        granule = ctypes.c_size_t()
        self.call("MemGetAllocationGranularity", ctypes.byref(granule), ctypes.byref(properties), ctypes.c_int(0))
        self.granule = granule.value

    def call(self, name, *arguments):
        result = getattr(self._library, self.PREFIX + name)(*arguments)
        if result != 0:
            raise RuntimeError(f"{self.PREFIX}{name}: {self._error(result)} ({result})")

    def _error(self, result):
        text = ctypes.c_char_p()
        self._library.cuGetErrorString(result, ctypes.byref(text))
        return (text.value or b"error").decode()

    def import_memory(self, handle, descriptor):
        self.call("MemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(descriptor), ctypes.c_int(1))

    def lend(self, descriptor, mapped_bytes, writable):
        return LentMemory(self, descriptor, mapped_bytes, writable)

    def tensor_at(self, torch, address, dtype, shape):
        described = DlTensor(address, self.DLPACK_DEVICE, self._device, dtype, shape)
        self._handed_over.append(described)
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype = ctypes.py_object
        capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        made = torch.utils.dlpack.from_dlpack(capsule(ctypes.addressof(described), b"dltensor", None))
        return made.view(torch_dtype(torch, dtype)) if dtype in DlTensor.AS_BYTES else made

    def forget_persisting_lines(self):
        self.call("CtxResetPersistingL2Cache")


class HipDriver(Driver):
    """The same calls of AMD's HIP runtime, for a PyTorch that is built for ROCm."""

    PREFIX = "hip"
    FILES = ("libamdhip64.so.7", "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so.7", "/opt/rocm/lib/libamdhip64.so.6")
    MISSING = "the HIP runtime is not found (libamdhip64.so.7 or .6)"
    L2_BYTES = 19
    DLPACK_DEVICE = 10
    DESCRIPTOR_BY_VALUE = 70100000  # the version since which a descriptor is not handed over by its address

    def _error(self, result):
        self._library.hipGetErrorString.restype = ctypes.c_char_p
        return (self._library.hipGetErrorString(result) or b"error").decode()

    def import_memory(self, handle, descriptor):
        version = ctypes.c_int()
        self.call("RuntimeGetVersion", ctypes.byref(version))
        number = ctypes.c_int(descriptor)
        by_value = version.value >= self.DESCRIPTOR_BY_VALUE
        self.call("MemImportFromShareableHandle", ctypes.byref(handle),
                  ctypes.c_void_p(descriptor) if by_value else ctypes.byref(number), ctypes.c_int(1))

    def forget_persisting_lines(self):
        pass  # no part of L2 can be reserved


def driver_for(torch, device):
    """Of the vendor that this PyTorch is built for."""
    return HipDriver(device) if getattr(torch.version, "hip", None) else Driver(device)


class LentMemory:
    """The judge's memory, mapped between unmapped granules. Lives until release()."""

    def __init__(self, driver, descriptor, mapped_bytes, writable):
        self._driver = driver
        self._bytes = mapped_bytes
        self._handle = ctypes.c_ulonglong()
        driver.import_memory(self._handle, descriptor)
        self._reserved = ctypes.c_ulonglong()
        self._reserved_bytes = mapped_bytes + 2 * driver.granule
        driver.call("MemAddressReserve", ctypes.byref(self._reserved), ctypes.c_size_t(self._reserved_bytes),
                    ctypes.c_size_t(driver.granule), ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))
        self.begin = self._reserved.value + driver.granule
        driver.call("MemMap", ctypes.c_ulonglong(self.begin), ctypes.c_size_t(mapped_bytes), ctypes.c_size_t(0),
                    self._handle, ctypes.c_ulonglong(0))
        access = AccessDescription(driver.location, 3 if writable else 1)
        driver.call("MemSetAccess", ctypes.c_ulonglong(self.begin), ctypes.c_size_t(mapped_bytes),
                    ctypes.byref(access), ctypes.c_size_t(1))

    def release(self):
        driver = self._driver
        driver.call("MemUnmap", ctypes.c_ulonglong(self.begin), ctypes.c_size_t(self._bytes))
        driver.call("MemAddressFree", self._reserved, ctypes.c_size_t(self._reserved_bytes))
        driver.call("MemRelease", self._handle)


class DlTensor(ctypes.Structure):
    """DLManagedTensor: how memory is handed to PyTorch without a copy (and without NumPy)."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("dimensions", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

    TYPES = {"f16": (2, 16), "bf16": (4, 16), "f32": (2, 32), "f64": (2, 64), "i8": (0, 8), "u8": (1, 8),
             "i32": (0, 32), "u32": (1, 32), "i64": (0, 64), "bool": (1, 8), "f8e4m3": (1, 8), "f8e5m2": (1, 8)}
    AS_BYTES = ("bool", "f8e4m3", "f8e5m2")  # which DLPack, or older versions of PyTorch, cannot name

    def __init__(self, address, kind, device, dtype, shape):
        strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
        extents = ctypes.c_int64 * len(shape)
        code, bits = self.TYPES[dtype]
        super().__init__(address, kind, device, len(shape), code, bits, 1, extents(*shape), extents(*strides))
