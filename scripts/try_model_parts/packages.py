"""Finds the best kernel of a problem, exports it as a package for PyTorch, and builds that. Standard library only."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time


class Failure(Exception):
    """A step that did not work for one kernel; the others go on."""


def nvcc():
    """The folder of nvcc, or None."""
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    if (pathlib.Path(home) / "bin/nvcc").exists():
        return pathlib.Path(home) / "bin"
    found = shutil.which("nvcc")
    return pathlib.Path(found).parent if found else None


def end_of(text, most=1500):
    text = text.strip()
    return text if len(text) <= most else "... " + text[-most:]


class Program:
    """The program of an installed tree, with an archive."""

    def __init__(self, prefix, archive, folder):
        self._command = [str(prefix.resolve() / "bin/kernelwright"), "--archive", str(archive)]
        self._archive, self.folder = archive, folder

    def run(self, *arguments, most=300):
        """Its standard output. A campaign that does not end in time is interrupted, which keeps its results."""
        command = self._command + [str(argument) for argument in arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        try:
            out, error = process.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            out, error = process.communicate()
            error += f"\ninterrupted after {most:.0f} s"
        if process.returncode != 0:
            words = " ".join(str(argument) for argument in arguments)
            raise Failure(f"kernelwright {words}: exit code {process.returncode}\n{end_of(out + error)}")
        return out

    def rows(self, sql):
        if not self._archive.exists():
            return []
        table = json.loads(self.run("query", "--limit", "0", sql, "--json"))
        return [dict(zip(table["columns"], row)) for row in table["rows"]]


def confirmed(program, problem):
    found = program.rows(f"""SELECT solution, tunables, device, workload, time_us FROM v_leaderboard
        WHERE problem = '{problem}' AND device LIKE 'cuda%' ORDER BY device, rank LIMIT 1""")
    return found[0] if found else None


def unconfirmed(program, problem):
    """The attempt that was fastest at the largest workload, among those that are correct."""
    found = program.rows(f"""SELECT a.attempt, a.solution, a.tunables, a.device, MAX(t.time_us) AS time_us
        FROM v_attempts a JOIN v_timings t ON t.attempt = a.attempt
        WHERE a.problem = '{problem}' AND a.device LIKE 'cuda%' AND a.verdict = 'correct' AND a.effort = 'full'
        GROUP BY a.attempt ORDER BY time_us LIMIT 1""")
    return found[0] if found else None


def described(kernel):
    point = " ".join(f"{name}={value}" for name, value in json.loads(kernel["tunables"] or "{}").items())
    device = kernel["device"].removeprefix("cuda ")
    return f"{kernel['solution']} {point}".strip() + f", {kernel['time_us']:.1f} us on {device}"


def export(program, problem, seconds):
    """The export's folder, and what was exported in words. Searches first where the archive has no confirmed kernel."""
    origin, kernel, searched = "archive", confirmed(program, problem), ""
    if kernel is None:
        origin = f"campaign of {seconds:g} s"
        try:
            program.run("run", problem, "--device", "cuda", "--seconds", seconds, "--no-baselines",
                        most=1.5 * seconds + 60)
        except Failure as failure:
            searched = f"; {failure}"
        kernel = confirmed(program, problem)
    folder = program.folder / "exports" / problem
    arguments = ["--to", "pytorch", "-o", folder, "--force"]
    if kernel is not None:
        # The fastest at each timed shape; the package chooses among them.
        program.run("export", problem, "--device", "cuda", *arguments)
        return folder, f"{described(kernel)} (confirmed, {origin})"
    kernel = unconfirmed(program, problem)
    if kernel is None:
        raise Failure("no correct kernel was found on a GPU; try a longer --seconds" + searched)
    program.run("export", kernel["attempt"], "--unconfirmed", *arguments)
    return folder, f"{described(kernel)} (NOT CONFIRMED as faster than naive, {origin})"


def build(source, python):
    """The folder to import the package from, and how it was built: by either of the ways that its README has."""
    began = time.monotonic()
    target = source.parent.parent / "packages" / source.name
    shutil.rmtree(target, ignore_errors=True)
    env = dict(os.environ)
    env["PATH"] = f"{nvcc()}:{env['PATH']}"
    pip = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps",
           "--target", str(target), str(source)]
    ways = [(pip, source.parent, target, "pip install"),
            ([python, "setup.py", "build_ext", "--inplace"], source, source, "setup.py build_ext --inplace")]
    if subprocess.run([python, "-c", "import pip"], capture_output=True).returncode != 0:
        ways = ways[1:]
    complaints = []
    for command, place, result, name in ways:
        done = subprocess.run(command, cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        if done.returncode == 0:
            return result, f"built by {name} in {time.monotonic() - began:.0f} s"
        complaints.append(f"{name} failed:\n{end_of(done.stdout)}")
    raise Failure("\n".join(complaints))
