"""Exporting, building by the README's own instructions, running, and the table of what came of it."""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import python_packages
import torch_headers

STUBS = "/usr/local/cuda/lib64/stubs"


@dataclasses.dataclass
class Job:
    kernel: object
    format: str
    folder: pathlib.Path
    package: str
    problem: str = ""   # what went wrong
    note: str = ""      # what was not tried
    said: str = ""      # the self-test's output
    seconds: float = 0


def supports_hip(kernel):
    return '"hip"' in kernel.source.split("*/")[0]


def export_all(program, judged, formats, folder):
    """On the cpu device kernels need not win, which a busy host may prevent: they are right."""
    jobs = []
    for kernel in judged:
        for form in formats:
            target = folder / ("%s_%s_%d" % (form, kernel.problem, kernel.attempt))
            if form not in kernel.formats or (form == "hip" and not supports_hip(kernel)):
                continue
            words = ["--to", "header", "--fatbin", "sm_90a,sm_80"] if form == "fatbin" else ["--to", form]
            program.run("export", kernel.attempt, *words, "-o", target, "--force", *([] if kernel.must_win else ["--unconfirmed"]))
            jobs.append(Job(kernel, form, target, kernel.problem))
    return jobs


def instructions(job, command):
    """The command as the README gives it, comments cut off: what does not stand there is not run."""
    for line in (job.folder / "README.md").read_text().splitlines():
        line = line.split("  #")[0].strip()
        if line.startswith(command):
            return line
    sys.exit("try_exports: %s says nothing of \"%s\"" % (job.folder / "README.md", command))


def shell(command, job, extra=None):
    # Room for one export to be built beside others.
    env = dict(os.environ, CMAKE_BUILD_PARALLEL_LEVEL="2", **(extra or {}))
    env["PATH"] += ":/usr/local/cuda/bin"
    done = subprocess.run(command, shell=True, cwd=job.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError("%s\n%s" % (command, done.stdout[-3000:]))
    return done.stdout


def build_cuda(job, gpu):
    build = instructions(job, "cmake -S . -B build")
    narrow = " -DCMAKE_CUDA_ARCHITECTURES=90"  # of the naive kernel and the tests: one is enough
    shell(build.replace("-B build", "-B build" + narrow, 1).replace("build -j", "build"), job)
    if job.format != "cuda":
        return
    shell(instructions(job, "cmake --install").replace("/some/where", "installed"), job)
    shell("cmake -S example -B example/build -DCMAKE_PREFIX_PATH=$PWD/installed && cmake --build example/build", job)
    if gpu:
        shell("example/build/uses_" + job.package, job)


def build_torch(job, gpu, headers):
    if headers is None:
        shell(instructions(job, "python3 setup.py"), job)
        return
    include = "-I%s -I%s/torch/csrc/api/include -I/usr/local/cuda/include -Icsrc/include -Icsrc/src" % (headers, headers)
    shell("g++ -std=c++17 -fsyntax-only %s csrc/binding.cpp" % include, job)
    for source in sorted((job.folder / "csrc" / "src").glob("*.cu")):
        shell("nvcc -std=c++17 -arch=sm_90 -Icsrc/include -c %s -o /dev/null" % source, job)
    shell("python3 -m py_compile setup.py tests/*.py %s/*.py" % job.package, job)


def build_hip(job):
    """Where there is a hipcc; nothing here runs on an AMD GPU."""
    if shutil.which("hipcc") is None:
        job.note = "not compiled: there is no hipcc"
        return
    shell(instructions(job, "make ARCH=gfx90a"), job)


def build_all(jobs, folder, gpu, at_once):
    needs_headers = not gpu and any(job.format == "pytorch" for job in jobs)
    headers = torch_headers.folder(folder) if needs_headers else None
    flashinfer = python_packages.flashinfer_check(folder) if any(job.format == "flashinfer-bench" for job in jobs) else ""

    def build(job):
        began = time.monotonic()
        try:
            if job.format == "pytorch":
                build_torch(job, gpu, headers)
            elif job.format == "flashinfer-bench":
                shell(flashinfer, job)
            elif job.format == "hip":
                build_hip(job)
            else:
                build_cuda(job, gpu)
        except RuntimeError as error:
            job.problem = "does not build: %s" % error
        job.seconds = time.monotonic() - began
        print("%s %s: %s, %.0f s" % (job.format, job.kernel.name, "FAILED" if job.problem else job.note or "built", job.seconds), flush=True)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        list(pool.map(build, jobs))


def run_all(jobs):
    """One after another: nothing else may use the GPU while one is timed."""
    for job in jobs:
        if job.problem or job.format in ("hip", "flashinfer-bench"):
            continue
        test = "python3 tests/test_" if job.format == "pytorch" else "build/%s_selftest" % job.package
        began = time.monotonic()
        try:
            job.said = shell(instructions(job, test + (job.package + ".py --time" if job.format == "pytorch" else " --time")), job)
        except RuntimeError as error:
            job.problem = "its test failed: %s" % error
        job.seconds = time.monotonic() - began


def times_of(job):
    return {name: float(us) for name, us in re.findall(r"^time +(\S+): ([0-9.]+) us", job.said, re.M)}


def report(jobs, gpu):
    good = all(not job.problem for job in jobs)
    for job in jobs:
        if job.problem:
            print("\n%s, %s: %s" % (job.kernel.name, job.format, job.problem))
    if not gpu:
        print("%d passed, %d failed" % (sum(not job.problem for job in jobs), sum(bool(job.problem) for job in jobs)))
        return good
    print("\n| kernel | workload | format | self-test | leaderboard us | exported us | difference |\n|---|---|---|---|---|---|---|")
    for job in jobs:
        if job.format in ("hip", "flashinfer-bench"):
            continue
        exported = times_of(job)
        for workload, us in job.kernel.times.items():
            own = exported.get(workload)
            print("| %s | %s | %s | %s | %.2f | %s | %s |" % (
                job.kernel.name, workload, job.format, "FAILED" if job.problem else "passed", us,
                "-" if own is None else "%.2f" % own, "-" if own is None else "%+.2f %%" % (100 * (own / us - 1))))
    return good
