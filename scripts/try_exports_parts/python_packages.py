"""What is taken from PyPI for the checks: small packages, into a folder of their own."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FLASHINFER = "flashinfer-bench==0.1.2"


def flashinfer_check(scratch):
    """The command that checks an exported dataset, run in its folder. PyTorch, which the package wants, is left out."""
    place = pathlib.Path(scratch) / "python"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-warn-conflicts", "--root-user-action=ignore", "--target", str(place)]
    for words in (["--no-deps", FLASHINFER], ["pydantic>=2"]):
        if subprocess.run(pip + words).returncode != 0:
            sys.exit("try_exports: %s cannot be had from PyPI; leave flashinfer-bench out of --formats" % words[-1])
    return "PYTHONPATH=%s %s %s ." % (place, sys.executable, HERE / "flashinfer_check.py")
