"""PyTorch's headers without PyTorch: enough to compile the extension's one file that includes them.

PyPI's wheel for Linux is over 500 MB, the one for macOS on arm64 80 MB, and the headers in both are the same. Debian's package
is PyTorch 1.13, which the extension does not support."""

import pathlib
import subprocess
import sys
import zipfile

VERSION = "2.11.0"


def folder(scratch):
    try:
        import torch
        return pathlib.Path(torch.__file__).parent / "include"
    except ImportError:
        pass
    cache = pathlib.Path.home() / ".cache" / "kernelwright" / ("torch-headers-" + VERSION)
    if not (cache / "torch" / "include" / "torch" / "library.h").exists():
        fetch(pathlib.Path(scratch) / "torch-wheel", cache)
    return cache / "torch" / "include"


def fetch(wheels, cache):
    done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--platform",
                           "macosx_11_0_arm64", "--python-version", "3.11", "torch==" + VERSION, "-d", str(wheels)])
    found = list(wheels.glob("torch-*.whl"))
    if done.returncode != 0 or not found:
        sys.exit("try_exports: PyTorch's headers cannot be had from PyPI; leave pytorch out of --formats")
    with zipfile.ZipFile(found[0]) as wheel:
        wheel.extractall(cache, [name for name in wheel.namelist() if name.startswith("torch/include/")])
    found[0].unlink()
