"""Tests of the policy "groma" with a program that was built without Groma (stranger.cc).

    python3 stranger_test.py STRANGER PRELOAD [GROMA]

STRANGER is the program, PRELOAD the library for LD_PRELOAD, GROMA the command."""

import collections
import os
import sys
import tempfile
import unittest

import compare
import programs

STRANGER, PRELOAD, GROMA = (sys.argv[1:] + [""])[:3]

GRID = """grid.mapper
m = Machine(CPU);
def block(Task task) { return m[0, task.ipoint[0] * m.size[1] / task.ispace[0]]; }
def grid(Task task) { return m[0, (task.ipoint[0] + 2 * task.ipoint[1]) % m.size[1]]; }
def last(Task task) { return m[0, m.size[1] - 1]; }
def first(Task task) { return m[0, 0]; }
Task * CPU;
"""
PIECES = GRID + "IndexTaskMap scale block;\nIndexTaskMap fill grid;\n"
TAGS = GRID + "IndexTaskMap tagged grid;\nSingleTaskMap tagged last;\n"
AT = GRID + "IndexTaskMap at block;\nSingleTaskMap at last;\n"


class Stranger(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.log = os.path.join(self.folder.name, "log")

    def tearDown(self):
        self.folder.cleanup()

    def tasks(self, mode, mapping, **more):
        """Runs the program under a mapping. Returns the tasks in its log and its standard error."""
        code, out, error = programs.run_mapped([STRANGER, mode], PRELOAD, mapping, self.log, **more)
        self.assertEqual((code, out), (0, programs.run([STRANGER, mode])[1]), error)
        return compare.read_log(self.log)[1], error

    def test_pieces_are_launches(self):
        tasks, error = self.tasks("pieces", PIECES)
        self.assertEqual(error, "")
        where = collections.defaultdict(set)
        for task in tasks:
            where[task["task"], tuple(task["point"]), tuple(task["domain"])].add(task["index"])
        for i in range(8):
            self.assertEqual(where["scale", (i,), (8,)], {i // 2})
            self.assertEqual(where["fill", (i // 2, i % 2), (4, 2)], {(i // 2 + 2 * (i % 2)) % 4})
        self.assertEqual(len(tasks), 48)
        self.assertEqual(tasks[0]["memories"], ["SYSMEM"])
        self.assertIn("IndexTaskMap", tasks[0]["by"])

    @unittest.skipUnless(GROMA, "needs the command")
    def test_groma_place_agrees(self):
        self.tasks("pieces", PIECES)
        mapping = os.path.join(self.folder.name, "grid.mapper")
        with open(mapping, "w", encoding="ascii") as file:
            file.write(PIECES.split("\n", 1)[1])
        agree, wrong, _ = compare.compare(GROMA, mapping, self.log)
        self.assertEqual((agree, wrong), (48, []))
        # The comparison finds a task that ran elsewhere.
        with open(self.log, encoding="ascii") as file:
            text = file.read()
        line = next(line for line in text.splitlines() if line.startswith('{"task":"scale"'))
        index = compare.json.loads(line)["index"]
        with open(self.log, "w", encoding="ascii") as file:
            file.write(text.replace(line, line.replace(f'"index":{index}', f'"index":{(index + 1) % 4}')))
        self.assertNotEqual(compare.compare(GROMA, mapping, self.log)[1], [])

    def test_default_mapper(self):
        tasks, error = self.tasks("pieces", None)
        self.assertEqual(error, "")
        self.assertEqual({task["by"] for task in tasks}, {""})

    def test_tags(self):
        tasks, error = self.tasks("tags", TAGS, GROMA_STARPU_LAUNCHES="tagged = 6x4@tag:16,16")
        self.assertEqual(error, "")
        self.assertEqual(sorted(tuple(task["point"]) for task in tasks),
                         [(i // 4, i % 4) for i in range(24)])
        for task in tasks:
            self.assertEqual(task["index"], (task["point"][0] + 2 * task["point"][1]) % 4)
        # Without a rule, the tasks are single tasks.
        tasks, error = self.tasks("tags", TAGS)
        self.assertEqual({(task["index"], task.get("point")) for task in tasks}, {(3, None)})

    def test_coordinates(self):
        tasks, error = self.tasks("coordinates", AT, GROMA_STARPU_LAUNCHES="at=4@data")
        points = {tuple(task.get("point", ())): task["index"] for task in tasks}
        self.assertEqual(points, {(0,): 0, (1,): 1, (2,): 2, (3,): 3, (): 3})
        self.assertEqual(error.count("\n"), 1)
        self.assertIn("a task `at` is not a point of its launch", error)

    def test_order(self):
        for mapping in (None, GRID + "SingleTaskMap note, wait last;\n"):
            code, out, _ = programs.run_mapped([STRANGER, "order"], PRELOAD, mapping, STARPU_NCPU="1")
            self.assertEqual((code, out), (0, "order 4 1 5 0 3 2 6\n"))

    def test_task_that_cannot_run_there(self):
        tasks, error = self.tasks("picky", GRID + "SingleTaskMap picky first;\n")
        self.assertEqual(len(tasks), 10)
        self.assertNotIn(0, {task["worker"] for task in tasks})
        self.assertEqual(error.count("`picky` cannot run on CPU 0, where grid.mapper:7:1:"), 1, error)

    def test_names_of_data(self):
        # No CPU can address FBMEM, so the statement about `field` refuses its pieces.
        for name, refused in (("field", True), ("other", False)):
            code, _, error = programs.run_mapped(
                [STRANGER, "pieces"], PRELOAD, f"m\nTask * CPU;\nRegion scale {name} CPU FBMEM;\n")
            self.assertEqual(code, 1 if refused else 0, error)
            self.assertEqual("groma: not mapped: m:2:1: error:" in error, refused, error)
            self.assertEqual("[no-memory]" in error, refused, error)

    def test_kinds(self):
        tasks, _ = self.tasks("tags", "m\nTask * GPU, CPU;\n")
        self.assertEqual({task["kind"] for task in tasks}, {"CPU"})
        code, _, error = programs.run_mapped([STRANGER, "tags"], PRELOAD, "m\nTask tagged GPU;\n")
        self.assertEqual(code, 1)
        self.assertIn("m:1:1", error)

    def test_numa(self):
        # hwloc pretends that there are two NUMA nodes with two cores each.
        tasks, error = self.tasks(
            "pieces", PIECES + "Region scale * CPU SYSMEM;\nRegion fill * CPU SOCKMEM;\n",
            STARPU_USE_NUMA="1", HWLOC_SYNTHETIC="numa:2 core:2 pu:1")
        self.assertEqual(error, "")
        nodes = {(task["task"], task["worker"] // 2): task["memory_nodes"] for task in tasks}
        self.assertEqual(nodes, {("scale", 0): [0], ("scale", 1): [0], ("fill", 0): [0], ("fill", 1): [1]})

    def test_statements_without_effect(self):
        statements = ["InstanceLimit scale 2", "Layout * * * AOS", "CollectMemory * *",
                      "ControlReplicate scale", "TaskSteal scale CPU ANY_NODE"]
        _, error = self.tasks("pieces", "m\n" + "".join(line + ";\n" for line in statements))
        for number, line in enumerate(statements, 1):
            self.assertEqual(error.count(f"m:{number}: `{line}` has no effect here: the runtime "), 1, error)

    def test_unknown_names(self):
        _, error = self.tasks("pieces", "m\nTask scael CPU;\nRegion scale feld CPU SYSMEM;\n"
                                        "Region fill 1 CPU SYSMEM;\nRegion scale field CPU SYSMEM;\n")
        self.assertEqual(error.splitlines(), [
            "m:1: no task `scael` was launched; did you mean `scale`?",
            "m:2: no region `feld` was used; did you mean `field`?",
            "m:3: no launch of `fill` has a region 1; there is region 0 alone"])

    def test_mistakes(self):
        for more, words in (
                ({"GROMA_MAPPING": "m\nTask * GPUS;\n"}, "[unknown-processor]"),
                ({"GROMA_MAPPING": "/no/such.mapper"}, "/no/such.mapper"),
                ({"GROMA_STARPU_LAUNCHES": "a=4x@tag"}, "`a=4x@tag` is not a launch"),
                ({"GROMA_LOG": "/no/such/log"}, "cannot write the log '/no/such/log'")):
            code, out, error = programs.run_mapped([STRANGER, "tags"], PRELOAD, **more)
            self.assertEqual((code, out), (1, ""), error)
            self.assertIn(words, error)
            self.assertIn("groma: not mapped: ", error)

    def test_function_that_fails(self):
        code, _, error = programs.run_mapped(
            [STRANGER, "pieces"], PRELOAD,
            "m\ng = Machine(CPU);\ndef f(Task task) { return g[0, task.ipoint[0]]; }\nIndexTaskMap * f;\n")
        self.assertEqual(code, 1)
        self.assertIn("groma: not mapped: m:2:", error)

    def test_other_policies_and_programs(self):
        for command, more in (([STRANGER, "pieces"], {"STARPU_SCHED": "eager"}), (["true"], {})):
            code, _, error = programs.run_mapped(command, PRELOAD, "/no/such.mapper", **more)
            self.assertEqual((code, error), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
