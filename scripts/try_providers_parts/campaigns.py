"""One campaign of the program against a server, and what must be true of it afterwards."""

import collections
import dataclasses
import json
import os
import pathlib
import sqlite3
import subprocess
import time

import servers

KEY = "sk-try-0123456789abcdef0123456789"
PROBLEM = "vector_add_f32"


@dataclasses.dataclass
class Case:
    server: str             # a name of servers.SERVERS
    protocol: str           # a name of servers.Server.protocols
    fault: str              # for the table
    expected: set           # outcomes of its replies
    proxy: str = "relay"    # what faulty_proxy does
    scenario: list = ()     # what llmock does
    options: tuple = ()     # of the program
    requests: int = 2
    seconds: int = 90
    free: bool = False      # nothing may have been paid for
    by_time: bool = False   # ends because its time is used up, with requests on their way
    writes: bool = False    # what the server replies is a solution
    judged_well: bool = False  # llmock's verdict on the client must be good
    tokens: int = 0         # the program may spend at most


@dataclasses.dataclass
class Ended:
    events: list
    output: str
    seconds: float
    code: int


def run(program, case, url, archive):
    """The program's own campaign, with its environment reduced to what it needs."""
    proposer, variable, path = servers.PROTOCOLS[case.server][case.protocol]
    environment = {"PATH": os.environ["PATH"], "HOME": str(archive.parent), "KW_API_KEY": KEY}
    if variable:
        environment |= {variable + "_BASE_URL": url + path, variable + "_API_KEY": KEY}
    else:
        proposer = url + path
    command = [program, "--archive", archive, "--json", "run", PROBLEM, "--proposer", proposer, "--in-flight", "1",
               "--requests", str(case.requests), "--attempts", "40", "--seconds", str(case.seconds), "--patience", "0",
               "--max-output", "200", "--seed", "1", *(["--tokens", str(case.tokens)] if case.tokens else []), *case.options]
    began = time.monotonic()
    done = subprocess.run([str(word) for word in command], env=environment, text=True, timeout=600,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return Ended(events, done.stdout, time.monotonic() - began, done.returncode)


def rows(archive, question):
    database = sqlite3.connect(f"file:{archive}?mode=ro", uri=True)
    try:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(question)]
    finally:
        database.close()


def ask(program, archive, *words):
    done = subprocess.run([str(word) for word in (program, "--archive", archive, *words)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout


def check(program, case, ended, archive, asked, verdict):
    """(what is wrong, as sentences; a row of the table)"""
    if not archive.exists():
        return [f"it ended with {ended.code} and left no archive: {ended.output[-300:]}"], row_of(case, ["-"] * 7)
    wrong = []

    def must(true, sentence):
        if not true:
            wrong.append(sentence)

    requests = rows(archive, "SELECT * FROM requests")
    replies = rows(archive, "SELECT * FROM replies")
    attempts = rows(archive, "SELECT verdict, origin FROM attempts a JOIN candidates c ON c.id = a.candidate "
                             "JOIN solutions s ON s.id = c.solution")
    outcomes = collections.Counter(reply["outcome"] for reply in replies)
    spent = sum(reply[kind] for reply in replies for kind in ("input", "cache_read", "cache_written", "output"))
    told = [event for event in ended.events if event["event"] == "answered"]

    must(ended.code == 0, f"it ended with {ended.code}: {ended.output[-300:]}")
    must(ended.seconds < case.seconds + 30, f"it took {ended.seconds:.0f} s")
    must(rows(archive, "PRAGMA integrity_check") == [{"integrity_check": "ok"}], "the archive is damaged")
    must(not rows(archive, "PRAGMA foreign_key_check"), "the archive points to what is not there")
    must(1 <= len(requests) <= case.requests, f"{len(requests)} requests of {case.requests}")
    must(len(attempts) <= 40, f"{len(attempts)} attempts")
    must(set(outcomes) == case.expected, f"replies are {dict(outcomes)}, expected {sorted(case.expected)}")
    must(len(requests) - len(replies) == int(case.by_time), f"{len(requests) - len(replies)} requests have no reply")
    if not case.by_time:
        must(sum(reply["tries"] for reply in replies) == asked,
             f"{sum(reply['tries'] for reply in replies)} tries are archived, the server saw {asked}")
        must(len(told) == len(replies), f"{len(told)} replies were told, {len(replies)} archived")
    if told:
        must(sum(told[-1]["tokens"].values()) == spent, f"{told[-1]['tokens']} tokens told, {spent} archived")
    must(not case.tokens or spent <= case.tokens, f"{spent} tokens spent of {case.tokens}")
    must(all(reply["dollars"] == price_of(case, reply) for reply in replies), "the price of a reply is wrong")
    must((spent == 0) == (case.free or not replies), f"{spent} tokens spent")
    others = {attempt["origin"] for attempt in attempts} - {"seed", "naive"}
    if not case.writes:
        must(not others, f"attempts of {others}, where no solution was written")
        must(all(attempt["verdict"] == "correct" for attempt in attempts), "an attempt of the tuner's is not correct")
    else:
        must(others, "the solution that the server replied was not judged")

    best = max((event["best"] for event in ended.events if event["event"] == "problem_ended"), default=0)
    must(best > 1, f"the tuner's best is {best}")
    for words in (("leaderboard",), ("show",), ("show", requests and campaign_of(archive)), ("show", "1"),
                  *([("transcript", "-o", archive.with_suffix(".transcript"))] if replies else [])):
        code, text = ask(program, archive, *words)
        must(code == 0, f"kernelwright {words[0]} ends with {code}: {text[-200:]}")
        must(KEY not in text, f"kernelwright {words[0]} tells the key")
    if verdict is not None and case.judged_well:
        must(verdict["passed"] and not verdict["findings"],
             f"llmock finds: {[finding['title'] for finding in verdict['findings']]}")
    leaks = [file.name for file in archive.parent.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]
    must(not leaks and KEY not in ended.output, f"the key is in {leaks or 'the output'}")
    tokens = f"{spent}{'~' if any(reply['estimated'] for reply in replies) else ''}"
    causes = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items())) or "none"
    return wrong, row_of(case, [f"{len(requests)}/{asked}", causes, tokens, str(len(attempts)), f"{best:.2f}x",
                                f"{ended.seconds:.0f} s", "right" if not wrong else "WRONG"])


def price_of(case, reply):
    """In dollars; None where the model has no price. For replies of less than a million tokens, to a billionth."""
    name = servers.PROTOCOLS[case.server][case.protocol][0]
    offers = json.loads(pathlib.Path("prompts/prices.json").read_text())["prices"]
    price = next((offer for offer in offers if name in offer["models"]), None)
    if price is None:
        return None
    cost = reply["input"] * price["input"] + reply["output"] * price["output"]
    return reply["dollars"] if abs(cost / 1e6 - reply["dollars"]) < 1e-9 else cost / 1e6


def row_of(case, found):
    return [case.server, case.protocol, case.fault, *found]


def campaign_of(archive):
    return rows(archive, "SELECT name FROM campaigns")[0]["name"]


def failures(archive):
    return [row["what"] for row in rows(archive, "SELECT what FROM replies WHERE what <> ''")]


def fresh(folder, name):
    home = folder / name
    home.mkdir(parents=True)
    return home / "archive.db"
