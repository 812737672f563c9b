"""tune(): searches for mappings and for other texts, with evaluators and proposers in Python."""

import gc
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import groma

# A text with one number to find; the evaluator below likes 7.
MARKED = "# groma: begin number\nx = 1\n# groma: end\n"


def distance(text):
    """Returns a value that is least for x = 7."""
    scope = {}
    exec(text, scope)  # the texts of these tests are ours
    return 1.0 + abs(scope["x"] - 7)


def count_up(round_):
    """Proposes the next number after the best."""
    x = 1 if round_.best is None else int(round_.best.text.split("x = ")[1].split()[0])
    return MARKED.replace("x = 1", f"x = {x + 1}"), f"x = {x + 1}"


class MappingTest(unittest.TestCase):
    def test_a_search_in_the_simulator(self):
        search = groma.tune("cannon:size=small", "p100x4", evaluations=4, proposer="random", seed=1)
        events = list(search)
        evaluated = [event for event in events if event.kind == "evaluated"]
        self.assertGreaterEqual(len(evaluated), 4)
        self.assertTrue(any(event.is_best for event in evaluated))
        outcome = search.outcome
        self.assertEqual(outcome.end, "budget")
        run = groma.run(outcome.best or None, "cannon:size=small", "p100x4")
        self.assertAlmostEqual(run.seconds, outcome.values[0])
        self.assertIn("best", str(outcome))

    def test_an_evaluator_in_python_measures_mappings(self):
        seen = []

        def evaluate(text):
            seen.append(text)
            return 2.0 if "CPU" in text else 1.0

        def propose(round_):
            return ["Task * CPU;\n", "Task * GPU, CPU;\n"] if round_.best is None or len(seen) < 2 else None

        search = groma.tune(
            "cannon:size=small", "p100x4", evaluator=evaluate, proposer=propose, deterministic=True, evaluations=5
        )
        self.assertIn(search.outcome.end, ("exhausted", "budget"))
        self.assertTrue(seen)

    def test_the_same_search_again(self):
        def texts():
            search = groma.tune("cannon:size=small", "p100x4", evaluations=3, proposer="random", seed=5)
            return [event["score"] for event in search if event.kind == "evaluated" and event["valid"]]

        self.assertEqual(texts(), texts())

    def test_a_directory_and_its_resumption(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "found"
            first = groma.tune("cannon:size=small", evaluations=2, proposer="random", directory=path).outcome
            self.assertEqual((path / "best.mapper").exists(), first.best is not None)
            with self.assertRaises(groma.GromaError):
                groma.tune("cannon:size=small", evaluations=2, proposer="random", directory=path)
            more = groma.tune(
                "cannon:size=small", evaluations=4, proposer="random", directory=path, resume=True
            ).outcome
            self.assertEqual(more.data["spent"]["evaluations"], 4)

    def test_wrong_arguments(self):
        for wrong, why in (
            ({"proposer": "randem"}, "random"),
            ({"feedback": "all"}, "unknown feedback"),
            ({"start": "Task * GPUS;"}, "unknown-processor"),
            ({"directory": __file__}, "directory|folder"),
        ):
            with self.assertRaisesRegex(groma.GromaError, why):
                groma.tune("cannon:size=small", **wrong)
        with self.assertRaises(TypeError):
            groma.tune()


class TextTest(unittest.TestCase):
    def search(self, **options):
        settings = {"start": MARKED, "evaluator": distance, "proposer": count_up, "deterministic": True}
        return groma.tune(**{**settings, "evaluations": 20, **options})

    def test_evaluator_and_proposer_in_python(self):
        outcome = self.search().outcome
        self.assertIn("x = 7", outcome.best)
        self.assertEqual(outcome.values, [1.0])

    def test_higher_is_better_and_several_inputs(self):
        outcome = self.search(
            evaluator=lambda text: [1 / distance(text)] * 2, inputs=["a", "b"], higher_is_better=True, unit="GFLOP/s"
        ).outcome
        self.assertIn("x = 7", outcome.best)
        self.assertEqual(outcome.values, [1.0, 1.0])

    def test_an_evaluator_refuses_texts(self):
        def careful(text):
            if "x = 4" in text:
                raise groma.Refused("four is forbidden")
            if "x = 2" in text:
                raise groma.Failed("two crashed")
            return distance(text)

        seen = []

        def skip(round_):
            if round_.last is not None:
                seen.append((round_.last.ok, round_.last.execution))
            number = 2 + len(seen)
            return MARKED.replace("x = 1", f"x = {number}") if number < 9 else None

        outcome = self.search(evaluator=careful, proposer=skip).outcome
        self.assertIn("x = 7", outcome.best)
        self.assertIn((False, "four is forbidden"), [(ok, text.strip()) for ok, text in seen])

    def test_an_exception_of_a_callable_ends_the_search_and_is_raised(self):
        def broken(_):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            list(self.search(evaluator=broken))
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            list(self.search(proposer=broken))

    def test_results_of_the_wrong_form(self):
        for value in (None, "1", [1.0, 2.0], float("nan"), 0.0, -1.0):
            with self.assertRaises(groma.GromaError, msg=repr(value)):
                list(self.search(evaluator=lambda _, value=value: value))
        for proposal in (3, [3], ("a", "b", "c")):
            with self.assertRaises((groma.GromaError, TypeError), msg=repr(proposal)):
                list(self.search(proposer=lambda _, proposal=proposal: proposal))

    def test_a_round_is_over_after_the_call(self):
        kept = []
        self.search(proposer=lambda round_: kept.append(round_)).outcome
        with self.assertRaisesRegex(groma.GromaError, "the round is over"):
            kept[0].best

    def test_a_search_can_be_stopped_and_forgotten(self):
        before = threading.active_count()
        with self.search(evaluations=0) as search:
            next(search)
        self.assertEqual(search.outcome.end, "stopped")
        forgotten = self.search(evaluations=0)
        next(forgotten)
        del forgotten
        gc.collect()
        self.assertEqual(threading.active_count(), before)

    def test_the_interpreter_ends_during_a_search(self):
        script = (
            "import groma\n"
            "search = groma.tune('circuit', 'p100x4', evaluations=0)\n"
            "next(search)\n"
            "print('over')\n"
        )
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, b"over\n"))

    def test_ctrl_c_ends_a_search(self):
        script = (
            "import groma, os, signal, threading\n"
            "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "try:\n"
            "    for event in groma.tune('circuit', 'p100x4', evaluations=0, proposer='random'):\n"
            "        pass\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n"
        )
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, b"interrupted\n"))

    def test_events_are_those_of_the_command(self):
        event = next(iter(self.search()))
        self.assertIsInstance(json.dumps(event), str)
        self.assertEqual(event.kind, event["event"])


if __name__ == "__main__":
    unittest.main()
