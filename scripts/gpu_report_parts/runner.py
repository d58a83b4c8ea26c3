"""Runs programs for gpu_report: with deadlines, line by line, and looks at the GPU meanwhile."""

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time


class Runner:
    def __init__(self, options):
        self.prefix = pathlib.Path(options.prefix).resolve()
        self.device = options.device
        self.backend = options.device.partition(":")[0]
        self.gpu = self.backend != "cpu"
        self.quick = options.quick
        self.seconds = options.seconds or (6 if options.quick else 20)
        self.began = time.monotonic()
        self.ends = self.began + 60 * options.minutes
        self.index = options.device.partition(":")[2] or "0"

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="kw_gpu_report_")
        self.folder = pathlib.Path(self._folder.name)
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def say(self, what):
        print(f"[{time.monotonic() - self.began:6.1f} s] {what}", file=sys.stderr, flush=True)

    def out_of_time(self):
        return time.monotonic() > self.ends - 5

    def pick(self, full, quick):
        return quick if self.quick else full

    def lines(self, command, timeout=600):
        """Runs it; [(seconds since its start, line)], exit code, end of stderr. Past its time it is interrupted, then killed."""
        if self.out_of_time():
            raise TimeoutError("the time for the report was used up")
        timeout = max(5, min(timeout, self.ends - time.monotonic()))
        with open(self.folder / "stderr", "w+") as errors:
            began = time.monotonic()
            process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=errors, text=True,
                                       errors="replace")
            timers = [threading.Timer(timeout, process.send_signal, [signal.SIGINT]),
                      threading.Timer(timeout + 15, process.kill)]
            for timer in timers:
                timer.start()
            seen = [(time.monotonic() - began, line.rstrip("\n")) for line in process.stdout]
            code = process.wait()
            for timer in timers:
                timer.cancel()
            errors.seek(0)
            tail = errors.read()[-2000:]
        if time.monotonic() - began > timeout:
            tail += f"\ninterrupted after {timeout:.0f} s"
        return seen, code, tail

    def kernelwright(self, *arguments, archive="archive.db", timeout=600):
        """JSON lines of the program with their times, exit code, end of stderr. A new archive begins with a calibration that is
        made once."""
        base = self.folder / "base.db"
        if self.gpu and archive != "base.db" and not (self.folder / archive).exists():
            if not base.exists():
                self.kernelwright("calibrate", "--device", self.device, archive="base.db")
            shutil.copy(base, self.folder / archive)
        seen, code, tail = self.lines([self.prefix / "bin/kernelwright", "--archive", self.folder / archive, "--json", *arguments],
                                      timeout)
        results = []
        for at, line in seen:
            try:
                value = json.loads(line)
            except json.JSONDecodeError:
                value = {"error": line}
            if isinstance(value, dict) and "error" in value:
                tail += "\n" + str(value["error"])
            else:
                results.append((at, value))
        if not results:
            raise RuntimeError(f"kernelwright {arguments[0]} ended with {code}: {tail.strip()[-600:]}")
        return results, code, tail.strip()

    def judge(self, files, *options, archive="archive.db", timeout=600):
        return self.kernelwright("judge", "--device", self.device, *options, *files, archive=archive, timeout=timeout)

    def smi(self, what):
        """Values of the GPU, or None where nvidia-smi does not answer."""
        if self.backend != "cuda" or shutil.which("nvidia-smi") is None:
            return None
        asked = subprocess.run(["nvidia-smi", "-i", self.index, "--query-gpu=" + what, "--format=csv,noheader,nounits"],
                               capture_output=True, text=True, timeout=30)
        return [value.strip() for value in asked.stdout.strip().split(",")] if asked.returncode == 0 else None

    def memory_mib(self):
        values = self.smi("memory.used")
        return float(values[0]) if values else None

    def processes(self):
        """Workers of this installation that live."""
        mark = str(self.prefix / "bin/kernelwright").encode()
        alive = 0
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                alive += mark in (folder / "cmdline").read_bytes()
            except OSError:  # it has ended
                pass
        return alive

    def watch_memory(self):
        """Samples the GPU's memory until .stop(), which gives [(seconds, MiB)]."""
        return MemoryWatch(self)


class MemoryWatch:
    def __init__(self, runner):
        self._samples, self._done, self._began = [], threading.Event(), time.monotonic()

        def sample():
            while not self._done.wait(0.5):
                used = runner.memory_mib()
                if used is not None:
                    self._samples.append((time.monotonic() - self._began, used))

        self._thread = threading.Thread(target=sample)
        self._thread.start()

    def stop(self):
        self._done.set()
        self._thread.join()
        return self._samples
