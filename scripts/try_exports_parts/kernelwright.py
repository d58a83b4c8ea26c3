"""The program under trial."""

import json
import pathlib
import subprocess
import sys


def find_tree(asked):
    root = pathlib.Path(__file__).resolve().parents[2]
    for tree in [asked] if asked else [root / "build" / name for name in ("pack", "release", "dev")]:
        if (tree / "bin" / "kernelwright").exists():
            return tree.resolve()
    sys.exit("try_exports: bin/kernelwright is not there: build it, or say with --tree where it is")


class Kernelwright:
    def __init__(self, tree, archive):
        self.tree, self.archive = tree, archive

    @property
    def data(self):
        return self.tree / "share" / "kernelwright"

    def run(self, *arguments):
        """Its standard output; ends everything where it fails."""
        command = [str(self.tree / "bin" / "kernelwright"), "--archive", str(self.archive), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("try_exports: %s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
        return done.stdout

    def values(self, *arguments):
        """The JSON values that it prints."""
        text, decoder, found = self.run(*arguments, "--json").strip(), json.JSONDecoder(), []
        while text:
            value, end = decoder.raw_decode(text)
            found.append(value)
            text = text[end:].lstrip()
        return found
