"""check, place, explain, run, diff and guide: their results beside those of the command, where it is built."""

import gc
import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

import groma

TREE = pathlib.Path(__file__).resolve().parents[2]
BLOCK2D = TREE / "dsl/mappers/block2d.mapper"
CIRCUIT = TREE / "dsl/mappers/circuit_a5.mapper"
APP = TREE / "docs/examples/circuit.json"
CYCLIC = """m = Machine(GPU);
def cyclic(Task task) { flat = m.merge(0, 1); return flat[task.ipoint[0] % flat.size[0]]; }
IndexTaskMap work cyclic;
Task work GPU;
"""


def command(*words):
    """Returns what the command `groma` prints as JSON."""
    done = subprocess.run([os.environ["GROMA_COMMAND"], *words, "--json"], stdout=subprocess.PIPE)
    return json.loads(done.stdout)


with_command = unittest.skipUnless("GROMA_COMMAND" in os.environ, "GROMA_COMMAND names no command")


class CheckTest(unittest.TestCase):
    def test_all_mistakes_at_once(self):
        found = groma.check(TREE / "docs/examples/mistakes.mapper")
        self.assertFalse(found.ok)
        self.assertEqual(found.errors[0].id, "unknown-processor")
        self.assertEqual(found.warnings[0].id, "colon-body")
        self.assertTrue(groma.check(BLOCK2D, "p100x4").ok)

    def test_errors_that_only_a_machine_or_a_run_shows(self):
        text = "Task * GPU, CPU;\nRegion * * GPU SOCKMEM;\n"
        self.assertTrue(groma.check(text).ok)
        found = groma.check(text, "p100x4", APP)
        self.assertIn("no-memory", [each.id for each in found.errors])

    @with_command
    def test_the_command_finds_the_same(self):
        path = str(TREE / "docs/examples/mistakes.mapper")
        ours = [(d.id, d.line, d.column, d.message) for d in groma.check(pathlib.Path(path))]
        theirs = [
            (d["id"], d["start"]["line"], d["start"]["column"], d["message"])
            for d in command("check", path)["diagnostics"]
        ]
        self.assertEqual(ours, theirs)


class PlaceTest(unittest.TestCase):
    def test_block2d(self):
        placed = groma.place(BLOCK2D, "p100x4:nodes=2", task="dgemm", domain=(8, 8))
        self.assertEqual((placed.shape, placed.kind, placed.function), ((8, 8), "GPU", "block2d"))
        self.assertEqual(list(placed[0]), [0, 0, 2, 2, 4, 4, 6, 6])
        self.assertEqual(list(placed[7]), [1, 1, 3, 3, 5, 5, 7, 7])
        self.assertEqual(placed.node[0, 4], 1)
        self.assertEqual(placed.index[0, 6], 2)
        self.assertEqual(list(placed.loads), [8] * 8)
        self.assertIn("IndexTaskMap", placed.decided_by[-1].text)
        self.assertIn("A  A  C  C", placed.draw())
        self.assertTrue(placed.svg().startswith("<svg"))

    @with_command
    def test_the_command_places_the_same(self):
        path = str(TREE / "dsl/mappers/solomonik.mapper")
        program = groma.Program(pathlib.Path(path))
        machine = "nodes=3,gpu=2"
        for function in program.functions:
            try:
                ours = groma.place(program, machine, function=function, domain=(2, 3, 2), lower=(1, 0, 2))
            except groma.MappingError:
                continue
            theirs = command("place", path, "--machine", machine, "--function", function, "--domain", "2x3x2",
                             "--lower", "1x0x2")
            pairs = np.stack([ours.node.ravel(), ours.index.ravel()], axis=1)
            self.assertEqual(pairs.tolist(), theirs["points"], function)

    def test_ten_million_points_are_not_copied(self):
        placed = groma.place(CYCLIC, "p100x4:nodes=2", task="work", domain=10_000_000)
        plain = np.asarray(placed)
        self.assertTrue(np.shares_memory(placed, plain))
        np.testing.assert_array_equal(plain[:16], np.arange(16) % 8)
        self.assertEqual(plain[-1], (10_000_000 - 1) % 8)
        # The memory is that of the library: no array on the way owns a copy.
        owner = placed
        while isinstance(owner, np.ndarray):
            self.assertFalse(owner.flags.owndata)
            owner = owner.base
        self.assertFalse(isinstance(owner, np.ndarray))
        view = placed[5:]
        del placed, plain, owner
        gc.collect()
        self.assertEqual(view[0], 5)  # the memory lives as long as a view of it

    def test_unequal_nodes(self):
        described = groma.Machine("nodes=2,gpu=2,cpu=2").to_dict()
        text = "m = Machine(GPU);\ndef last(Task task) { return m[m.size[0] - 1, task.ipoint[0] % m.size[1]]; }\n"
        placed = groma.place(text, described, function="last", domain=4)
        self.assertEqual(list(placed), [2, 3, 2, 3])
        self.assertEqual(list(placed.node), [1] * 4)
        self.assertEqual(list(placed.index), [0, 1, 0, 1])

    def test_a_point_that_fails_raises_its_place(self):
        text = "m = Machine(GPU);\ndef f(Task task) { return m[task.ipoint[0], 0]; }\n"
        with self.assertRaises(groma.MappingError) as raised:
            groma.place(text, "nodes=2,gpu=1", function="f", domain=5)
        self.assertEqual(raised.exception.diagnostics[0].id, "slice-index-out-of-bound")
        self.assertEqual(raised.exception.diagnostics[0].line, 2)

    def test_wrong_questions(self):
        for wrong, why in (
            ({"domain": 4}, "either a task or a function"),
            ({"task": "a", "function": "b", "domain": 4}, "either a task or a function"),
            ({"function": "cyclic", "domain": ()}, "0 numbers"),
            ({"function": "cyclic", "domain": (1,) * 10}, "10 numbers"),
            ({"function": "cyclic", "domain": -1}, "not a box"),
            ({"function": "cyclic", "domain": 4, "lower": (0, 0)}, "not a box"),
            ({"function": "cyclic", "domain": 0}, "empty-domain"),
            ({"function": "cyclic", "domain": 1 << 40}, "domain-too-large"),
            ({"function": "cyclik", "domain": 4}, "did you mean `cyclic`"),
            ({"function": "cyclic", "domain": 4, "kind": "GPUS"}, "unknown processor kind"),
        ):
            with self.assertRaisesRegex(groma.GromaError, why):
                groma.place(CYCLIC, "p100x4", **wrong)
        with self.assertRaisesRegex(groma.GromaError, "no machine"):
            groma.place(CYCLIC, function="cyclic", domain=4)

    def test_a_bound_program_needs_no_machine(self):
        bound = groma.Program(CYCLIC).bind("p100x4")
        self.assertEqual(groma.place(bound, task="work", domain=3).tolist(), [0, 1, 2])
        self.assertEqual(groma.place(bound, "p100x4", task="work", domain=3).tolist(), [0, 1, 2])
        with self.assertRaisesRegex(groma.GromaError, "bound to a machine already"):
            groma.place(bound, "lassen", task="work", domain=3)

    def test_single_tasks(self):
        text = "m = Machine(GPU);\ndef last(Task task) { return m[0, m.size[1] - 1]; }\nSingleTaskMap one last;\n"
        self.assertEqual(groma.place_single_task(text, "p100x4", task="one", parent=(0, 0)), ("GPU", 0, 3))


class ExplainTest(unittest.TestCase):
    def test_the_statement_behind_a_decision(self):
        made = groma.explain(CIRCUIT, APP, "p100x4", task="update_voltages", region=3)
        kind = made.tasks["update_voltages"]["kind"]
        self.assertEqual((kind["value"], kind["by"]["line"]), ("GPU", 5))
        self.assertIn("task update_voltages", str(made))
        self.assertIn("GPU", made.summary)

    def test_the_default_mapper_as_a_mapping(self):
        text = groma.default_mapping("circuit", "p100x4")
        self.assertTrue(groma.check(text, "p100x4", "circuit").ok)

    def test_an_unknown_task(self):
        with self.assertRaisesRegex(groma.MappingError, "update_voltages"):
            groma.explain(CIRCUIT, APP, "p100x4", task="update_voltage")


class RunTest(unittest.TestCase):
    def test_a_run_has_a_time_and_a_profile(self):
        made = groma.run(CIRCUIT, "circuit:size=small", "p100x4")
        self.assertGreater(made.seconds, 0)
        self.assertGreater(made.tasks, 0)
        self.assertEqual(sum(cause["time_ps"] for cause in made.profile["path"]["causes"]),
                         made.profile["time_ps"])
        self.assertIn("circuit on p100x4", str(made))
        self.assertIsInstance(made.suggest, list)

    @with_command
    def test_the_command_simulates_the_same_time(self):
        made = groma.run(CIRCUIT, "circuit:size=small", "p100x4", advice=True)
        theirs = command("run", str(CIRCUIT), "--app", "circuit:size=small", "--machine", "p100x4")
        self.assertEqual(made.seconds, theirs["seconds"])
        self.assertEqual(made.suggest, theirs["suggest"])

    def test_the_default_mapper(self):
        self.assertGreater(groma.run(None, "circuit:size=small", "p100x4").seconds, 0)

    def test_a_run_that_fails_raises_the_reason_and_advice(self):
        text = "Task * GPU, CPU;\nRegion * * GPU FBMEM;\n"
        with self.assertRaises(groma.MappingError) as raised:
            groma.run(text, "circuit", "p100x4:fbmem=1")
        self.assertIn("out-of-memory", [each.id for each in raised.exception.diagnostics])
        self.assertIn("FBMEM", raised.exception.advice)

    def test_noise_out_of_range(self):
        with self.assertRaises(groma.MappingError):
            groma.run(CIRCUIT, "circuit:size=small", "p100x4", noise=float("nan"))

    def test_files(self):
        made = groma.run(CIRCUIT, "circuit:size=small", "p100x4")
        path = pathlib.Path(self.enterContext(temporary_folder())) / "run.html"
        made.write_page(path)
        self.assertIn("<html", path.read_text()[:300])
        made.write_trace(path)
        self.assertIn("traceEvents", json.loads(path.read_text()))


def temporary_folder():
    import tempfile

    return tempfile.TemporaryDirectory()


class DiffTest(unittest.TestCase):
    def test_differences_and_their_cost(self):
        made = groma.diff("Task * CPU;", "Task * GPU, CPU;", "circuit:size=small", "p100x4")
        kinds = [each for each in made.differences if each["what"] == "kind"]
        self.assertTrue(kinds)
        self.assertIn("CPU", str(made))
        self.assertEqual(groma.diff(None, None, "circuit:size=small", "p100x4").differences, [])


class GuideTest(unittest.TestCase):
    def test_a_known_failure(self):
        log = (
            "[0 - 7f] 0.5 {5}{default_mapper}: Default mapper failed allocation of size 268435456 bytes for region"
            " requirement 1 of task calculate_new_currents in memory 1e00000000000000\n"
        )
        made = groma.guide(log, program=CIRCUIT, exit_code=1)
        self.assertEqual(made.status, "error")
        self.assertTrue(made.known)
        self.assertTrue(made.explain)

    def test_bytes_that_are_not_text(self):
        self.assertEqual(groma.guide(b"\xff\xfe\x00nothing", exit_code=0).explain, [])

    def test_a_profile(self):
        run = groma.run(CIRCUIT, "circuit:size=small", "p100x4")
        self.assertTrue(groma.guide(profile=run, program=CIRCUIT).explain)
        with self.assertRaises(groma.GromaError):
            groma.guide(profile="{")
        with self.assertRaisesRegex(groma.GromaError, "unknown detail"):
            groma.guide("", detail="all")


class ThreadsTest(unittest.TestCase):
    def test_calls_run_beside_python(self):
        """A long call releases the GIL: another thread of Python counts meanwhile."""
        import threading

        counted, ended = 0, threading.Event()

        def count():
            nonlocal counted
            while not ended.is_set():
                counted += 1

        thread = threading.Thread(target=count)
        thread.start()
        during = 0
        for _ in range(50):  # on a busy computer, the other thread may not run during one call
            before = counted
            groma.run(None, "circuit", "p100x4:nodes=4")
            during = max(during, counted - before)
            if during > 1000:
                break
        ended.set()
        thread.join()
        # A call that holds the GIL lets the other thread run for no time at all.
        self.assertGreater(during, 1000)

    def test_ctrl_c_ends_a_long_call(self):
        script = (
            "import groma, signal, threading, os, time\n"
            "text = 'm = Machine(GPU);\\ndef f(Task t) { return m[0, t.ipoint[0] * t.ipoint[1] % 3]; }\\n'\n"
            "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "begin = time.monotonic()\n"
            "try:\n"
            "    for _ in range(1000):\n"
            "        groma.run(None, 'circuit', 'lassen:nodes=16')\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', time.monotonic() - begin < 20)\n"
        )
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(done.stdout, b"interrupted True\n")


if __name__ == "__main__":
    unittest.main()
