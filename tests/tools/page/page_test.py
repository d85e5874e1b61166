"""The page of `dfc view -o page.html` in a browser without a window: load, fold, zoom, hover, search, keys, touch, names
that are markup, and screenshots at 1280 and 390 pixels. Its page and pictures stay in the build folder.

usage: page_test.py BUILD_FOLDER    exits with 77 where no Chromium is installed
"""

import pathlib
import subprocess
import sys
import unittest

import browser

BUILD = pathlib.Path(sys.argv[1]).resolve()
BIN, OUT = BUILD / "bin", BUILD / "tests" / "page"
MACHINES = pathlib.Path(__file__).resolve().parents[3] / "samples" / "machines"
HOSTILE = r"</script><img src=x onerror=document.hacked=1> \"'&\\ é 漢字 " + "n" * 3000


def dfc(*words):
    subprocess.run([BIN / "dfc", *words], cwd=OUT, check=True, stdout=subprocess.DEVNULL)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tab = browser.Browser(browser.find())

    @classmethod
    def tearDownClass(cls):
        cls.tab.__exit__()

    def open(self, name, width=1280, height=800, **more):
        self.tab.size(width, height, **more)
        took = self.tab.open(OUT / name)
        self.assertEqual([], self.tab.complaints())
        return took

    def middle_of_step(self, kind):
        """A place in the widest visible step of a kind of op: x, y, and the number of the step."""
        return self.tab.run(f"""(() => {{
          const {{data, timeline, xOf, yOf}} = dfcPage, box = timeline.canvas.getBoundingClientRect();
          let best = null;
          for (const row of timeline.rows.filter((one) => one.kind === "queue" && yOf(one) + one.height < timeline.height)) for (const step of row.steps) {{
            const left = xOf(data.steps.begin[step]), right = xOf(data.steps.end[step]);
            if (data.strings[data.ops.kind[data.steps.op[step]]] === "{kind}" && left > timeline.gutter && (!best || right - left > best[3]))
              best = [box.left + (left + right) / 2, box.top + yOf(row) + row.height / 2, step, right - left];
          }}
          return best; }})()""")

    def test_1_gpt_loads_folds_zooms_and_finds(self):
        tab = self.tab
        self.assertLess(self.open("gpt.html"), 10, "seconds, on a busy machine; measured is below 2")
        tab.picture(OUT / "gpt_1280.png")
        self.assertGreater(tab.run("dfcPage.data.steps.op.length"), 5000)
        # Merged below a pixel: far fewer rectangles than steps.
        self.assertLess(tab.run("dfcPage.timeline.drawn"), tab.run("dfcPage.data.steps.op.length"))
        # Twelve equal layers are one card; opened, they are twelve.
        cards = "document.querySelectorAll('#cards .card').length"
        self.assertIn("× 12", tab.run("[...document.querySelectorAll('.times')].map((one) => one.textContent).join()"))
        before = tab.run(cards)
        tab.run("document.querySelector('.times').closest('.card').querySelector('.twist').click()")
        self.assertEqual(before + 12, tab.run(cards))
        # Wheel, keys and drag change what is shown.
        x, y, step, _ = self.middle_of_step("matmul")
        length = "dfcPage.state.to - dfcPage.state.from"
        whole = tab.run(length)
        tab.wheel(x, y, -600)
        zoomed = tab.run(length)
        self.assertLess(zoomed, whole / 2)
        tab.run("document.getElementById('timeline').focus()")
        tab.key("+")
        self.assertLess(tab.run(length), zoomed)
        start = tab.run("dfcPage.state.from")
        tab.drag((x, y), (x - 60, y))
        self.assertGreater(tab.run("dfcPage.state.from"), start)
        tab.key("0")
        self.assertEqual(whole, tab.run(length))
        # Hover says what the op is; a click chooses it.
        x, y, step, _ = self.middle_of_step("matmul")
        tab.mouse("mouseMoved", x, y)
        tab.frame()
        tip = tab.run("document.getElementById('tip').textContent")
        for word in ("matmul", "f32[", "predicted", "slack", "B"):
            self.assertIn(word, tip)
        tab.click(x, y)
        self.assertEqual(step, tab.run("dfcPage.state.step"))
        self.assertIn("Reads", tab.run("document.getElementById('panel-details').textContent"))
        tab.picture(OUT / "gpt_1280_op.png")
        # Search, then the next found op by Enter.
        tab.key("Escape")
        tab.key("/")
        for letter in "attention":
            tab.key(letter)
        tab.key("Enter")
        self.assertRegex(tab.run("document.getElementById('found').textContent"), r"^\d[\d,]* ops, ")
        self.assertGreaterEqual(tab.run("dfcPage.state.step"), 0)
        tab.key("Escape")
        self.assertTrue(tab.run("dfcPage.state.matches === null"))
        for name in ("sums", "explanation"):
            tab.run(f"document.getElementById('tab-{name}').click()")
            tab.picture(OUT / f"gpt_1280_{name}.png")
        self.assertIn("What devices send one another", tab.run("document.getElementById('panel-explanation').textContent"))
        tab.run("document.getElementById('tab-sums').click()")
        first = "document.querySelector('#table-body th').textContent"
        self.assertEqual("matmul", tab.run(first))
        tab.run("document.querySelector('#table-head button').click()")
        self.assertNotEqual("matmul", tab.run(first))
        self.assertEqual([], tab.complaints())

    def test_2_narrow_and_dark(self):
        tab = self.tab
        self.open("gpt.html", 390, 844, mobile=True)
        tab.picture(OUT / "gpt_390.png")
        self.assertLessEqual(tab.run("document.documentElement.scrollWidth"), 390)
        length = "dfcPage.state.to - dfcPage.state.from"
        whole = tab.run(length)
        top = tab.run("dfcPage.timeline.canvas.getBoundingClientRect().top") + 100
        tab.touch("touchStart", (200, top), (240, top))
        tab.touch("touchMove", (160, top), (300, top))
        tab.touch("touchEnd")
        tab.frame()
        self.assertLess(tab.run(length), whole)
        tab.run("document.querySelector('aside').scrollIntoView()")
        tab.picture(OUT / "gpt_390_graph.png")
        self.open("gpt.html", 1280, 800, dark=True)
        tab.picture(OUT / "gpt_1280_dark.png")

    def test_3_predicted_above_measured(self):
        self.open("traced.html")
        self.tab.picture(OUT / "traced_1280.png")
        self.assertIn("measured", self.tab.run("document.getElementById('figures').textContent"))
        self.assertTrue(self.tab.run("dfcPage.timeline.drawn > 0 && dfcPage.data.measuredPath.length > 0"))
        # Memory over time as measured, beside the prediction.
        for name in ("held", "measuredHeld"):
            self.assertTrue(self.tab.run(f"dfcPage.data.memory.{name}.some((held) => held.some((bytes, at) => at % 2 && bytes > 0))"))
        self.assertNotEqual(*(self.tab.run(f"dfcPage.data.memory.{name}.join()") for name in ("held", "measuredHeld")))
        self.assertIn("memory: filled as measured", self.tab.run("document.getElementById('legend').textContent"))

    def test_4_names_that_are_markup_stay_text(self):
        self.open("hostile.html")
        for name in ("graph", "sums", "explanation", "details"):
            self.tab.run(f"document.getElementById('tab-{name}').click()")
            self.tab.picture(OUT / f"hostile_{name}.png")
        self.assertTrue(self.tab.run("document.hacked === undefined && document.querySelector('img') === null"))
        self.assertTrue(self.tab.run("dfcPage.data.graph.startsWith('</script><img')"))
        self.assertLessEqual(self.tab.run("document.documentElement.scrollWidth"), 1280)
        self.assertEqual([], self.tab.complaints())

    def test_5_a_graph_without_scopes_opens_with_its_ops(self):
        for width in (1280, 390):
            self.open("flat.html", width, 844, mobile=width < 400)
            names = self.tab.run("[...document.querySelectorAll('#cards .card.op .card-name')].map((one) => one.textContent)")
            self.assertEqual(["x", "matmul", "h", "new w"], names)
            self.tab.picture(OUT / f"flat_{width}.png")
            self.assertEqual([], self.tab.complaints())


def make_pages():
    OUT.mkdir(parents=True, exist_ok=True)
    subprocess.run([BIN / "sample_06_gpt", "--size", "124M", "--steps", "0", "--save-graph", "gpt.dfg"], cwd=OUT, check=True,
                   stdout=subprocess.DEVNULL)
    dfc("view", "gpt.dfg", "-m", MACHINES / "cpu-8gpu-nvlink.json", "-o", "gpt.html")
    (OUT / "small.dfg").write_text("""graph small {
  parameter w : f32[64, 64] = constant(0.01) on cpu0
  scope "forward" on gpu0 { y = tanh(matmul(w, w)) }
  scope "update" on cpu0 {\n    next = w - 0.1 * exp(y)\n    done = assign(w, next)\n  }
  fetch done
}
""", encoding="utf-8")
    dfc("compile", "small.dfg", "-m", MACHINES / "cpu-2gpu.json", "-o", "small.plan")
    dfc("run", "small.plan", "--steps", "3", "--trace", "small.json")
    dfc("view", "small.plan", "--trace", "small.json", "-o", "traced.html")
    (OUT / "flat.dfg").write_text("""graph flat {
  input x : f32[64, 64]
  parameter w : f32[64, 64] = constant(0.01)
  h = softmax(matmul(x, w))
  next = assign(w, h)
  fetch next
}
""", encoding="utf-8")
    dfc("view", "flat.dfg", "-m", MACHINES / "cpu.json", "-o", "flat.html")
    (OUT / "hostile.dfg").write_text(f'graph "{HOSTILE}" {{\n  input "{HOSTILE}" : f32[2]\n  scope "{HOSTILE}" {{ y = relu("{HOSTILE}") }}\n'
                                     "  fetch y\n}\n", encoding="utf-8")
    dfc("view", "hostile.dfg", "-o", "hostile.html")


if __name__ == "__main__":
    if browser.find() is None:
        print("skipped: no Chromium (tools/install_dependencies --with-browser installs it)")
        sys.exit(77)
    make_pages()
    unittest.main(argv=sys.argv[:1], verbosity=2)
