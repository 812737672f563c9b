"""The modules that start scripts of Legate, with a stand-in for the command; and pictures."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import groma
from groma import _legion

TREE = pathlib.Path(__file__).resolve().parents[2]
# Prints its arguments, and whether blocks are recorded.
STAND_IN = "#!/bin/sh\nprintf '<%s>' \"$@\"; echo \" blocks=$GROMA_RECORD_BLOCKS\"\n"


class LegionTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.stand_in = pathlib.Path(self.folder) / "groma"
        self.stand_in.write_text(STAND_IN)
        self.stand_in.chmod(0o755)

    def start(self, *words, command=None):
        environment = {**os.environ, "GROMA_COMMAND": str(command or self.stand_in)}
        environment.pop("GROMA_RECORD_BLOCKS", None)
        return subprocess.run(
            [sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            text=True, timeout=60,
        )

    def test_run_passes_the_words_on(self):
        done = self.start("groma.run", "--map", "my.mapper", "--profile", "--log=run.log", "--cpus", "2", "a.py",
                          "--map", "x")
        launcher = "".join(f"<{word}>" for word in _legion.program_words([]))
        self.assertEqual(
            done.stdout,
            f"<run><--map><my.mapper><--profile><--log=run.log><-->{launcher}<--cpus><2><a.py><--map><x> blocks=\n",
        )

    def test_record_passes_the_words_on(self):
        done = self.start("groma.record", "--out", "app.json", "--blocks", "--", "a.py", "-n", "3")
        launcher = "".join(f"<{word}>" for word in _legion.program_words([]))
        self.assertEqual(done.stdout, f"<record><--out><app.json><-->{launcher}<a.py><-n><3> blocks=1\n")

    def test_wrong_usage(self):
        for words, why in (
            (["groma.run", "a.py"], "no mapping is given"),
            (["groma.run", "--map"], "`--map` needs a value"),
            (["groma.run", "--map", "a.mapper"], "no script is given"),
            (["groma.record"], "python -m groma.record"),
        ):
            done = self.start(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)
        self.assertEqual(self.start("groma.run", "--help").returncode, 0)

    def test_without_the_command(self):
        done = self.start("groma.run", "--map", "a.mapper", "a.py", command="/there/is/none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("docs/legion.md", done.stderr)

    def test_a_block_outside_of_a_recorded_run(self):
        with groma.record():
            pass
        with self.assertRaisesRegex(groma.GromaError, "python -m groma.record --blocks"):
            with groma.record(required=True):
                pass

        @groma.record()
        def step():
            return 3

        self.assertEqual(step(), 3)

    def test_the_modules_stay_callable(self):
        script = "import groma.run, groma.record\nwith groma.record(): print(groma.run(None, 'cannon:size=small', 'p100x4').tasks)"
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60)
        self.assertGreater(int(done.stdout), 0)


SCRIPT = """import cupynumeric as np
import groma
a, b = np.ones((64, 64)), np.full((64, 64), 2.0)
before = np.sqrt(a + 3).sum()
with groma.record(required=BLOCKS):
    c = a @ b
print("sum", float(np.exp(c - 128).sum()), float(before))
"""
FLAGS = ["--cpus", "2", "--gpus", "0", "--sysmem", "500"]


@unittest.skipUnless("GROMA_LEGATE_PYTHON" in os.environ, "GROMA_LEGATE_PYTHON names no Python with cupynumeric and groma")
class LegateTest(unittest.TestCase):
    """A real script of cuPyNumeric. GROMA_COMMAND must be built with the Legion of that Python's legate."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def start(self, module, *words, blocks=False):
        (self.folder / "script.py").write_text(SCRIPT.replace("BLOCKS", str(blocks)))
        done = subprocess.run(
            [os.environ["GROMA_LEGATE_PYTHON"], "-m", module, *words, *FLAGS, "script.py"], cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("sum 4096.0 8192.0", done.stdout)
        return done.stdout

    def test_only_the_block_is_recorded(self):
        self.start("groma.record", "--blocks", "--out", "block.json", blocks=True)
        self.start("groma.record", "--out", "whole.json")
        block, whole = (groma.Application(self.folder / name) for name in ("block.json", "whole.json"))
        self.assertIn("cupynumeric::MatMulTask", block.tasks)
        self.assertIn("cupynumeric::UnaryOpTask", whole.tasks)
        self.assertNotIn("cupynumeric::UnaryOpTask", block.tasks)
        machine = "nodes=1,gpu=0,cpu=2,omp=0,sysmem=500,sockmem=0,rdmem=0"
        self.assertGreater(groma.run(None, block, machine).tasks, 0)

    def test_a_script_under_a_mapping(self):
        (self.folder / "my.mapper").write_text("Task * CPU;\n")
        self.assertIn("groma: mapped by my.mapper", self.start("groma.run", "--map", "my.mapper"))


class PlotTest(unittest.TestCase):
    def test_without_matplotlib(self):
        script = (
            "import sys\nsys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
            "import groma\ntry:\n    import groma.plot\nexcept ImportError as error:\n    print(error)\n"
        )
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=60)
        self.assertIn("pip install matplotlib", done.stdout)

    def test_pictures(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no Matplotlib")
        matplotlib.use("Agg")
        from groma import plot

        placed = groma.place(TREE / "dsl/mappers/block2d.mapper", "p100x4:nodes=2", task="dgemm", domain=(8, 8))
        axes = placed.plot()
        self.assertEqual(len(axes.texts), 64)
        self.assertEqual(axes.texts[2].get_text(), "2")
        self.assertEqual(placed.plot(by="node").texts[4].get_text(), "1")
        with self.assertRaises(ValueError):
            placed.plot(by="rack")
        run = groma.run(None, "circuit:size=small", "p100x4")
        bars = run.plot().patches
        self.assertAlmostEqual(sum(bar.get_width() for bar in bars), run.profile["time_ps"] * 1e-9, places=6)
        self.assertEqual(len(plot.loads(run).patches), len(run.profile["by_processor"]))


if __name__ == "__main__":
    unittest.main()
