#!/usr/bin/env python3
"""Opens the report and the pages of the real program in a real, headless Chromium.

Usage: pages_browser_test.py --programs FOLDER --kernels FOLDER [--browser FILE] [--driver FILE] [--screenshots FOLDER] [TEST...]

It judges a few kernels on the cpu device, one of them with hostile names and comments, makes a report, serves the
archive, and looks at both as a reader would. With --screenshots it also runs a longer campaign and writes the pictures
that the documentation shows.
"""
import argparse
import base64
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from selenium import webdriver
from selenium.common.exceptions import JavascriptException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE_S = 120  # for what a slow machine may take; nothing is measured by it
UNITS = {"µs": 1, "ms": 1e3, "s": 1e6}
HOSTILE_NAME = "</script><script>window.hacked=1</script><img src=x onerror=hacked=1>"
HOSTILE_COMMENT = '// </code></pre></script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">\n'


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--kernels", required=True, type=pathlib.Path)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--driver", default="/usr/bin/chromedriver")
    parser.add_argument("--screenshots", type=pathlib.Path)
    return parser.parse_known_args()  # the rest is for unittest: names of tests


class Site:
    """An archive, its report and its server, in a folder that goes away."""

    def __init__(self, arguments):
        self.folder = tempfile.TemporaryDirectory(prefix="kw_pages_")
        self.home = pathlib.Path(self.folder.name)
        self.archive = self.home / "archive.db"
        self.program = str(arguments.programs / "kernelwright")
        kernels = sorted((arguments.kernels / "vector_add_f32").glob("*.cu"))
        hostile = self.home / "hostile.cu"
        hostile.write_text(kernels[0].read_text().replace("*/\n", "*/\n" + HOSTILE_COMMENT, 1))
        self.run("judge", "--confirm", *map(str, kernels), str(hostile))
        with sqlite3.connect(self.archive) as database:
            database.execute("UPDATE solutions SET name = ? WHERE name = 'hostile'", (HOSTILE_NAME,))
        if arguments.screenshots:
            self.run("run", "--suite", "core", "--seconds", "150")
        model = self.home / "model.sh"
        model.write_text("#!/bin/sh\ncat > /dev/null\ncat " + str(self.home / "reply.md") + "\n")
        model.chmod(0o755)
        reply = f"{HOSTILE_COMMENT}\n```cuda\n{HOSTILE_COMMENT}\n__global__ void k();\n```\n"
        (self.home / "reply.md").write_text(reply)
        self.run("run", "vector_add_f32", "--own-only", "--proposer", f"exec:{model}", "--attempts", "9", "--requests", "8")
        self.report = self.home / "report.html"
        self.run("report", "-o", str(self.report))
        self.server = self.start("serve", "--json")
        self.url = json.loads(self.server.stdout.readline())["url"]

    def command(self, *words):
        return [self.program, "--archive", str(self.archive), *words]

    def environment(self):
        return {**os.environ, "TMPDIR": self.folder.name}

    def run(self, *words):
        done = subprocess.run(self.command(*words), env=self.environment(), capture_output=True, text=True)
        if done.returncode not in (0, 1):  # 1: a kernel of several was refused
            sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, *words):
        return subprocess.Popen(self.command(*words), env=self.environment(), stdout=subprocess.PIPE, text=True)

    def close(self):
        self.server.send_signal(signal.SIGINT)
        code = self.server.wait(PATIENCE_S)
        self.folder.cleanup()
        return code


def open_browser(arguments):
    options = Options()
    options.binary_location = arguments.browser
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(arguments.driver), options=options)


class Pages(unittest.TestCase):
    arguments = None

    @classmethod
    def setUpClass(cls):
        cls.site = Site(cls.arguments)
        cls.browser = open_browser(cls.arguments)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        assert cls.site.close() == 0, "the server did not end cleanly"

    def setUp(self):
        self.look(1280, 900, "light")

    def tearDown(self):
        errors = [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]
        self.assertEqual(errors, [])
        self.assertIsNone(self.script("return window.hacked === undefined ? null : window.hacked"))

    # Helpers.

    def look(self, width, height, scheme):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def script(self, text, *values):
        return self.browser.execute_script(text, *values)

    def find(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, ready):
        # A live page replaces elements between two looks.
        changes = (StaleElementReferenceException, JavascriptException, IndexError)
        WebDriverWait(self.browser, PATIENCE_S, 0.1, ignored_exceptions=changes).until(lambda _: ready())

    def open(self, url, selector="main h1"):
        self.browser.get("about:blank")
        self.browser.get(url)
        self.wait(lambda: self.find(selector))

    def open_report(self):
        self.open(self.site.report.as_uri(), "article")

    def open_page(self, path=""):
        self.open(self.site.url + "#/" + path, "main h1")
        self.wait(lambda: self.find("#live[data-state=on]"))

    def open_board(self):
        self.open_page()
        self.wait(lambda: self.find("input[type=checkbox]"))
        box = self.find(".filters input[type=checkbox]")[0]
        if box.is_selected():  # what is confirmed depends on how fast this machine is
            box.click()
        self.wait(lambda: len(self.rows()) >= 2)

    def rows(self):
        return self.find("main .table")[0].find_elements(By.CSS_SELECTOR, "tbody tr") if self.find("main .table") else []

    def column(self, title):
        return self.script(
            "const cells = (t) => [...t.querySelectorAll('tbody td')].filter((c) => c.dataset.label === arguments[0]);"
            "const columns = [...document.querySelectorAll('main .table table')].map(cells).filter((c) => c.length);"
            "return columns.length ? columns[0].map((c) => c.textContent) : [];", title)

    def hashes(self):
        links = self.script("return [...document.querySelectorAll('main a[href^=\"#/solution/\"]')].map((a) => a.hash)")
        return list(dict.fromkeys(link.split("/")[-1] for link in links))

    # What a reader does.

    def test_the_report_shows_charts_and_sources_and_loads_nothing(self):
        self.open_report()
        self.assertGreaterEqual(len(self.find("article")), 3)
        self.wait(lambda: self.script("return [...document.querySelectorAll('canvas')].some((c) => Chart.getChart(c))"))
        self.assertEqual(self.script("return performance.getEntriesByType('resource').length"), 0)
        self.assertGreater(len(self.find("article .source .t-keyword")), 5)
        for link in self.script("return [...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))"):
            self.assertTrue(link.startswith("#"), link)
            self.assertEqual(len(self.find(f"[id='{link[1:]}']")), 1, link)

    def test_columns_sort(self):
        self.open_board()
        head = [b for b in self.find("main .table .sort") if b.text.startswith("Time")][0]
        order = {}
        for _ in range(2):
            head.click()
            way = head.find_element(By.XPATH, "..").get_attribute("aria-sort")
            texts = [text for text in self.column("Time") if text]
            order[way] = [float(t.split()[0]) * UNITS[t.split()[1]] for t in texts]
        self.assertGreaterEqual(len(order["ascending"]), 2)
        self.assertEqual(order["ascending"], sorted(order["ascending"]))
        self.assertEqual(order["descending"], sorted(order["descending"], reverse=True))

    def test_a_wide_leaderboard_stays_in_its_frame(self):
        self.look(1400, 900, "light")
        self.open_board()
        frame = self.script("""
            return fetch('/api/overview').then((answer) => answer.json()).then((overview) => {
              for (const row of overview.leaderboard) {
                row.device = 'cuda NVIDIA H200';
                row.problem = 'cross_entropy_f32';
                row.model = 'anthropic:a-model-with-a-long-name';
                if (row.over_libraries) row.over_libraries = ['cuBLAS 13.0', 'PyTorch 2.11 eager', 'PyTorch 2.11 compile'].map(
                    (library) => ({library, ratio: {value: 1.234}}));
              }
              const view = kw.views.overview();
              document.getElementById('main').replaceChildren(view.element);
              view.update(overview);
              const frame = document.querySelector('#main .scroll');
              return [frame.scrollWidth, frame.clientWidth];
            });""")
        self.assertLessEqual(frame[0], frame[1])

    def test_the_best_so_far_never_falls(self):
        self.open_board()
        self.script("""
            const made = kw.curves('Best', 'attempts', 'attempts');
            document.getElementById('main').replaceChildren(made.element);
            const at = (attempts, value, low, high) => ({attempts, seconds: attempts, speed_up: {value, low, high}});
            made.show([{problem: 'p', device: 'cpu', steps: [at(1, 6, 5, 7), at(2, 5.8, 5.6, 6)], now: at(9, 5.8, 5.6, 6)}]);""")
        self.wait(lambda: self.script("return Boolean(Chart.getChart(document.querySelector('main canvas')))"))
        heights = self.script(
            "return Chart.getChart(document.querySelector('main canvas')).data.datasets[0].data.map((point) => point.y)")
        self.assertEqual(heights, [1, 5, 5.6, 5.6])

    def test_campaigns_are_in_the_navigation(self):
        self.open_board()
        [link] = [a for a in self.find("#nav a") if a.text == "Campaigns"]
        link.click()
        self.wait(lambda: [h.text for h in self.find("main h1")] == ["Campaigns"])
        self.assertTrue(self.find("main .table"))

    def test_scores_show_every_suite_with_its_definitions(self):
        self.open_board()
        [link] = [a for a in self.find("#nav a") if a.text == "Scores"]
        link.click()
        titles = "return [...document.querySelectorAll('main h2')].map((h) => h.textContent)"
        self.wait(lambda: self.script(titles)[:2] == ["Suite core on cpu", "Suite quick on cpu"])
        seen = self.script(titles)
        self.assertEqual(self.column("Baseline"), ["naive", "PyTorch eager", "PyTorch compile"])
        self.assertEqual(self.column("Problems with it"), ["12 of 12", "0 of 12", "0 of 12"])
        self.assertIn(self.column("fast_0"), [["8 %", "–", "–"], ["17 %", "–", "–"]])  # another test judges one more
        self.assertIn("no problem of this suite is marked", self.find("main section")[0].text)
        self.assertTrue(self.find("main li")[0].text.startswith("fast_p: the share of all problems"))
        self.open_report()
        [link] = [a for a in self.find("#nav a") if a.text == "Scores"]
        self.assertEqual(len(self.find("article.scores section")), len(seen))

    def test_a_clean_subset_stands_below_its_suite(self):
        self.open_page("scores")
        texts = self.script("""
            return fetch('/api/scores').then((answer) => answer.json()).then((answer) => {
              const all = answer.scores[0];
              all.unclean = {gelu_f32: 'its output is <b>constant</b>'};
              all.clean = {...all, problems: 11};
              const view = kw.views.scores();
              document.getElementById('main').replaceChildren(view.element);
              view.update(answer);
              const section = document.querySelector('#main section');
              return [section.querySelectorAll('table').length, section.textContent];
            });""")
        self.assertEqual(texts[0], 2)
        self.assertIn("Clean subset: verified kernels for 1 of 11 problems", texts[1])
        self.assertIn("Unclean: gelu_f32its output is <b>constant</b>", texts[1])

    def test_the_cpu_has_no_empty_roofline(self):
        self.open_page("problem/vector_add_f32")
        self.wait(lambda: self.find("main figure"))
        shown = [f.text.split("\n")[0] for f in self.find("main figure") if f.is_displayed()]
        self.assertTrue(shown)
        self.assertFalse([title for title in shown if title.startswith("Roofline")])

    def test_filters_filter(self):
        self.open_board()
        everything = len(self.rows())
        search = self.find(".filters input[type=search]")[0]
        search.send_keys("hacked=1")
        self.wait(lambda: len(self.rows()) < everything)
        self.assertEqual([HOSTILE_NAME in name for name in self.column("Solution")], [True])
        search.clear()
        search.send_keys("no such thing")
        self.wait(lambda: self.find("td.none"))
        self.assertEqual(self.find("td.none")[0].text, "No row matches the filter.")

    def test_two_solutions_compare(self):
        self.open_board()
        hashes = self.hashes()
        boxes = self.find("main td input[type=checkbox]")
        self.assertGreaterEqual(len(boxes), 2)
        boxes[0].click()
        self.find("main td input[type=checkbox]")[1].click()
        self.find("a.button[href]")[0].click()
        self.wait(lambda: self.find(".difference tr"))
        self.assertEqual(set(self.hashes()), set(hashes[:2]))
        self.assertGreater(len(self.find(".difference .new, .difference .gone")), 0)
        self.assertGreater(len(self.find(".difference tr.same")), 0)

    def test_hostile_names_and_comments_stay_text(self):
        with sqlite3.connect(f"file:{self.site.archive}?mode=ro", uri=True) as database:
            (of,) = database.execute("SELECT hash FROM solutions WHERE name = ?", (HOSTILE_NAME,)).fetchone()
        self.open_page("solution/" + of)
        self.wait(lambda: self.find(".source .line"))
        self.assertEqual(self.find("main h1")[0].text, HOSTILE_NAME)
        self.assertIn(HOSTILE_COMMENT.strip(), [line.text.strip() for line in self.find(".source .line")[:20]])
        self.open_board()
        self.assertIn(HOSTILE_NAME, " ".join(self.column("Solution")))
        self.open_report()
        self.assertIn(HOSTILE_NAME, self.script("return document.body.textContent"))
        for url in (self.site.report.as_uri(), self.site.url):
            self.open(url, "main h1")
            self.assertEqual(self.find("main script, main img, main iframe, main [onerror]"), [])

    def test_a_failed_reply_is_explained_within_two_clicks(self):
        with sqlite3.connect(f"file:{self.site.archive}?mode=ro", uri=True) as database:
            (campaign,) = database.execute("SELECT name FROM campaigns ORDER BY id").fetchone()
        self.open_page("campaign/" + campaign)
        self.wait(lambda: self.find("main a[href^='#/exchange/']"))
        self.assertIn("unusable: ", self.column("Outcome")[0])
        cards = json.loads(self.site.run("show", campaign, "--json"))["cards"]
        self.assertGreater(len(cards), 0)
        self.assertEqual(self.column("Card"), [card["card"] for card in cards])
        self.assertEqual(self.column("Sent"), [str(card["sent"]) for card in cards])
        self.find("main a[href^='#/exchange/']")[0].click()
        self.wait(lambda: self.find("main h1")[0].text == "Request 1 for vector_add_f32")
        self.assertIn("unusable: ", self.find("main .verdict.wrong")[0].text)
        self.assertGreater(len(self.find("main .source .t-keyword")), 0)
        titles = [h.text.split(",")[0] for h in self.find("main h2")]
        self.assertEqual(titles, ["Solutions of the reply", "Told next", "Reply", "Prompt"])
        self.assertIn("Your answer was unusable", self.find("main details[open]")[0].text)
        self.assertIn(HOSTILE_COMMENT.strip(), self.script("return document.querySelector('main').textContent"))
        self.assertEqual(self.find("main script, main img, main [onerror]"), [])
        self.look(360, 740, "light")
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 360)
        self.assertGreaterEqual(self.worst_contrast(), 4.5)

    def test_a_campaign_leads_to_its_attempts(self):
        with sqlite3.connect(f"file:{self.site.archive}?mode=ro", uri=True) as database:
            (campaign, timed) = database.execute(
                "SELECT g.name, m.attempt FROM measurements m JOIN attempts a ON a.id = m.attempt"
                " JOIN campaigns g ON g.id = a.campaign ORDER BY m.id DESC").fetchone()
        self.open_page("campaign/" + campaign)
        link = f"main a[href='#/attempt/{timed}']"
        self.wait(lambda: self.find(link))
        self.find(link)[0].click()
        self.wait(lambda: self.find("main h1")[0].text.startswith(f"Attempt {timed}: "))
        shown = json.loads(self.site.run("show", str(timed), "--json"))
        text = self.script("return document.querySelector('main').textContent")
        self.assertIn("correct: " + shown["sentence"], text)
        self.assertIn("against " + shown["against"], text)
        self.assertEqual([h.text for h in self.find("main h2")],
                         ["Verdict", "Times", "Stages and sandbox", "Origin", "Told next"])
        self.assertEqual(self.column("Workload"), [w["workload"] for w in shown["measurement"]["workloads"]])
        self.assertTrue(all(" µs" in time or " ms" in time for time in self.column("Time")))
        facts = dict(zip((t.text for t in self.find("main dt")), (d.text for d in self.find("main dd"))))
        self.assertEqual(facts["Sandbox level"], str(shown["environment"]["sandbox_level"]))
        self.assertTrue(facts["Timing"].endswith("s"))
        self.look(360, 740, "light")
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 360)
        self.assertGreaterEqual(self.worst_contrast(), 4.5)
        self.find(f"main a[href='#/campaign/{campaign}']")[0].click()
        self.wait(lambda: self.find("main h1")[0].text == "Campaign " + campaign)
        report = self.site.home / "campaign.html"
        self.site.run("report", "--campaign", campaign, "-o", str(report))
        self.open(report.as_uri(), "article.attempt")
        links = self.find("article.campaign a[href^='#/attempt/']")
        self.assertTrue(links)
        for link in links:
            self.assertEqual(len(self.find(f"[id='{link.get_attribute('href').split('#')[1]}']")), 1)

    def test_a_refused_attempt_shows_the_line(self):
        source = self.site.home / "broken.cu"
        kernels = sorted((self.arguments.kernels / "vector_add_f32").glob("*.cu"))
        source.write_text(kernels[0].read_text() + HOSTILE_COMMENT + "no_such_type x;\n")
        self.site.run("judge", str(source))
        with sqlite3.connect(f"file:{self.site.archive}?mode=ro", uri=True) as database:
            (attempt, verdict) = database.execute(
                "SELECT id, verdict_json FROM attempts WHERE verdict = 'compile_error' ORDER BY id DESC").fetchone()
        verdict = json.loads(verdict)
        self.open_page(f"attempt/{attempt}")
        self.wait(lambda: self.find("main .changed.gone"))
        self.assertIn("no_such_type x;", self.find("main .changed.gone")[0].text)
        self.assertIn(HOSTILE_COMMENT.strip(), self.find("main .source")[0].text)
        text = self.script("return document.querySelector('main').textContent")
        self.assertIn(f"compile error: Line {verdict['line']}: ", text)
        self.assertIn("Advice: Mend the source", text)
        self.assertIn("It was not timed.", text)
        self.assertEqual(self.find("main script, main img, main [onerror]"), [])
        self.open_page("attempt/999999")
        self.wait(lambda: self.find("main h1")[0].text == "Not found")
        self.browser.get_log("browser")  # the answer 404 is among its errors

    def test_a_running_campaign_updates_the_page(self):
        self.open_page()
        self.wait(lambda: " in " in self.find(".lead")[0].text)
        before = self.find(".lead")[0].text
        self.script("window.same_page = true")
        campaign = self.site.start("run", "row_sum_f32", "--attempts", "6", "--seconds", "100")
        try:
            self.wait(lambda: self.find(".lead")[0].text != before)
            self.wait(lambda: self.find(".status.running") or campaign.poll() is not None)
            link = "document.querySelector('main a[href^=\"#/campaign/\"]')"
            self.wait(lambda: self.script(f"location.hash = '#/campaign/' + {link}.textContent; return true"))
            self.wait(lambda: self.find(".status.done"))  # its end comes without a reload
        finally:
            campaign.communicate()
        self.wait(lambda: len(self.find("main td .verdict")) >= 6)
        self.assertTrue(self.script("return window.same_page"))
        self.assertTrue(self.script("return [...document.querySelectorAll('canvas')].some((c) => Chart.getChart(c))"))

    def test_dark_and_light(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        for open_it in (self.open_page, self.open_report):
            colours = {}
            for scheme in ("light", "dark"):
                self.look(1280, 900, scheme)
                open_it()
                colours[scheme] = self.script(ground)
                self.assertGreaterEqual(self.worst_contrast(), 4.5, scheme)
            self.assertNotEqual(colours["light"], colours["dark"])
            self.find("#theme")[0].click()  # system, light, dark
            self.assertEqual(self.script(ground), colours["light"])
            self.find("#theme")[0].click()
            self.assertEqual(self.script(ground), colours["dark"])

    def worst_contrast(self):
        """The smallest contrast of text with what is behind it, as WCAG 2 computes it."""
        return self.script("""
            const light = (rgb) => rgb.map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
              .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const parse = (text) => text.match(/[\\d.]+/g).map(Number);
            const behind = (e) => { for (; e; e = e.parentElement) {
              const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3); }
              return [255, 255, 255]; };
            let worst = 21;
            for (const e of document.querySelectorAll("h1, h2, p, th, td, dt, dd, a, summary, figcaption, .source span")) {
              if (!e.checkVisibility() || e.textContent.trim() === "") continue;
              const [a, b] = [light(parse(getComputedStyle(e).color).slice(0, 3)), light(behind(e))];
              worst = Math.min(worst, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
            }
            return worst;""")

    def test_a_phone_needs_no_sideways_scrolling(self):
        self.open_board()
        of = self.hashes()
        self.look(360, 740, "light")
        for path in ("", "scores", "problem/vector_add_f32", "solution/" + of[0], f"compare/{of[0]}/{of[1]}"):
            self.open_page(path)
            self.wait(lambda: self.find("main table, main canvas"))
            self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 360, path)
        self.open_report()
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 360)

    def test_everything_has_a_name(self):
        self.open_board()
        self.open_report()
        unnamed = self.script("""
            return [...document.querySelectorAll("input, select, button, canvas, a[href]")].filter((e) =>
              !(e.labels && e.labels.length) && !e.getAttribute("aria-label") && e.textContent.trim() === "")
              .map((e) => e.outerHTML)""")
        self.assertEqual(unnamed, [])
        self.assertEqual(self.script("return [...document.querySelectorAll('table')].filter((t) => !t.caption).length"), 0)
        charts = len(self.find("figure canvas"))
        self.assertEqual(len(self.find("figure .figures table")), charts)

    def test_it_prints(self):
        self.open_report()
        self.script("""
            window.addEventListener("beforeprint", () => (window.at_print = {
              closed: document.querySelectorAll("details.print:not([open])").length,
              paper: document.documentElement.dataset.paper }))""")
        printed = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        self.assertTrue(printed.startswith(b"%PDF"))
        self.assertGreaterEqual(len(re.findall(rb"/Type\s*/Page\b", printed)), 3)
        self.assertEqual(self.script("return window.at_print"), {"closed": 0, "paper": "yes"})
        self.assertFalse(self.script("return 'paper' in document.documentElement.dataset"))

    def test_downloads_are_there(self):
        self.open_board()
        for link in self.find(".downloads a[download]"):
            answer = self.browser.execute_async_script(
                "const done = arguments[1]; fetch(arguments[0]).then(async (r) => done([r.status, (await r.text()).length]))",
                link.get_attribute("href"))
            self.assertEqual(answer[0], 200, link.get_attribute("href"))
            self.assertGreater(answer[1], 50)

    def test_zz_screenshots(self):
        folder = self.arguments.screenshots
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        with sqlite3.connect(self.site.archive) as database:  # readers of the documentation need no hostile name
            database.execute("UPDATE solutions SET name = 'float4_items_copy' WHERE name = ?", (HOSTILE_NAME,))
        for name, width, height, scheme, open_it in (
                ("leaderboard", 1280, 860, "light", self.open_page),
                ("campaign-dark", 1280, 1000, "dark", self.open_longest_campaign),
                ("solution", 1280, 1000, "light", lambda: self.open_page("solution/" + self.best_hash())),
                ("phone", 390, 844, "light", lambda: self.open_page("problem/softmax_f32")),
                ("report", 1280, 1000, "light", lambda: self.open(self.site.report.as_uri() + "#/problem/softmax_f32",
                                                                  "article"))):
            self.look(width, height, scheme)
            open_it()
            self.wait(lambda: self.find("main table td"))
            time.sleep(1)  # for charts to be drawn
            self.browser.save_screenshot(str(folder / (name + ".png")))

    def open_longest_campaign(self):
        self.open_page()
        self.wait(lambda: self.find("main a[href^='#/campaign/']"))
        with sqlite3.connect(f"file:{self.site.archive}?mode=ro", uri=True) as database:
            (name,) = database.execute("SELECT name FROM campaigns ORDER BY steps DESC LIMIT 1").fetchone()
        self.open_page("campaign/" + name)

    def best_hash(self):
        self.open_page("problem/softmax_f32")
        self.wait(lambda: self.hashes())
        return self.hashes()[0]


if __name__ == "__main__":
    Pages.arguments, rest = parse_arguments()
    unittest.main(argv=sys.argv[:1] + rest, verbosity=2)
