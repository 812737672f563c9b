"""Programs, machines and applications from Python objects, and the exceptions for wrong ones."""

import json
import pathlib
import tempfile
import unittest

import groma

TREE = pathlib.Path(__file__).resolve().parents[2]
BLOCK2D = TREE / "dsl/mappers/block2d.mapper"


class ProgramTest(unittest.TestCase):
    def test_a_program_is_a_text_or_a_file(self):
        text = groma.Program("Task * GPU;")
        file = groma.Program(BLOCK2D)
        self.assertEqual((text.name, text.text), ("<text>", "Task * GPU;"))
        self.assertEqual((file.name, file.text), (str(BLOCK2D), BLOCK2D.read_text()))
        self.assertIn("block2d", file.functions)
        self.assertEqual(groma.Program("Task * GPU;", name="a.mapper").name, "a.mapper")
        self.assertEqual(groma.Program("Task * GPU; # why").mark, text.mark)
        self.assertEqual(groma.Program("Task  *  GPU;").format(), "Task * GPU;\n")

    def test_a_program_with_errors_raises_its_diagnostics(self):
        with self.assertRaises(groma.MappingError) as raised:
            groma.Program("Task * GPU;\nTask a GPUS;\nRegion * * GPU FBMEN;\n", name="wrong.mapper")
        error = raised.exception
        self.assertIsInstance(error, groma.GromaError)
        self.assertEqual([each.id for each in error.diagnostics], ["unknown-processor", "unknown-memory"])
        first = error.diagnostics[0]
        self.assertEqual((first.severity, first.file), ("error", "wrong.mapper"))
        self.assertEqual((first.line, first.column, first.end_line, first.end_column), (2, 8, 2, 12))
        self.assertIn("wrong.mapper:2:8: error: ", str(error))
        self.assertIn("^~~~", first.text)
        self.assertEqual(first.helps, ["did you mean `GPU`?"])
        self.assertIn("Task a GPU;", first.fixes[0].apply())
        edit = first.fixes[0].edits[0]
        self.assertEqual((edit.line, edit.column, edit.text), (2, 8, "GPU"))

    def test_certain_fixes(self):
        self.assertEqual(groma.fix("Task * gpu;\n"), "Task * GPU;\n")

    def test_a_file_name_is_not_a_program(self):
        with self.assertRaisesRegex(groma.GromaError, "pathlib.Path"):
            groma.Program("my.mapper")
        with self.assertRaisesRegex(groma.GromaError, "a text or a path, not int"):
            groma.Program(3)
        with self.assertRaises(groma.GromaError) as raised:
            groma.Program(pathlib.Path("/there/is/no.mapper"))
        self.assertEqual(raised.exception.code, "unreadable")

    def test_characters_beyond_ascii_keep_their_columns(self):
        found = groma.check("# äöü\nTask é GPUS;")
        self.assertEqual((found.errors[0].line, found.errors[0].column), (2, 6))
        self.assertIn("é", str(found))

    def test_a_file_that_is_not_utf8(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "latin.mapper"
            path.write_bytes(b"Task \xe4 GPU;\n")
            found = groma.check(path)
            self.assertFalse(found.ok)
            self.assertIsInstance(str(found), str)


class MachineTest(unittest.TestCase):
    def test_presets_lines_dicts_and_files_are_equal(self):
        preset = groma.Machine("p100x4:nodes=2")
        self.assertEqual((preset.node_count, preset.processor_count("GPU")), (2, 8))
        self.assertEqual(preset.processor_count("GPU", 1), 4)
        described = preset.to_dict()
        self.assertEqual(groma.Machine(described), preset)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "machine.json"
            path.write_text(json.dumps(described))
            self.assertEqual(groma.Machine(path), preset)
            self.assertEqual(groma.Machine(str(path)), preset)
        self.assertNotEqual(groma.Machine("nodes=2,gpu=1"), preset)
        self.assertIn("p100x4", [name for name, _ in groma.machines()])

    def test_wrong_machines(self):
        with self.assertRaises(groma.GromaError) as raised:
            groma.Machine("p100x")
        self.assertEqual(raised.exception.code, "unknown")
        self.assertIn("p100x4", raised.exception.help)
        described = groma.Machine("p100x4").to_dict()
        described["nodes"] = [{"count": 0}]
        with self.assertRaisesRegex(groma.GromaError, "/nodes/0"):
            groma.Machine(described)
        with self.assertRaisesRegex(groma.GromaError, "JSON"):
            groma.Machine({"nodes": object()})
        with self.assertRaisesRegex(groma.GromaError, "unknown processor kind"):
            groma.Machine("p100x4").processor_count("GPUS")
        with self.assertRaises(IndexError):
            groma.Machine("p100x4").processor_count("GPU", 7)


class ApplicationTest(unittest.TestCase):
    def test_names_dicts_and_files_are_equal(self):
        app = groma.Application("cannon", n=2048)
        self.assertEqual((app.name, app.parameters["n"]), ("cannon", 2048))
        self.assertIn("top_level", app.tasks)
        described = app.to_dict()
        again = groma.Application(described)
        self.assertEqual(again.to_dict(), described)
        self.assertEqual(again.parameters, app.parameters)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a:b.json"  # the colon is part of the name
            path.write_text(json.dumps(described))
            self.assertEqual(groma.Application(path).to_dict(), described)
        self.assertEqual(app.with_parameters(n=4096).parameters["n"], 4096)
        self.assertEqual(app.parameters["n"], 2048)

    def test_wrong_applications(self):
        with self.assertRaises(groma.GromaError) as raised:
            groma.Application("cirkuit")
        self.assertIn("circuit", raised.exception.help)
        with self.assertRaisesRegex(groma.GromaError, "parameter"):
            groma.Application("cannon", m=3)
        described = groma.Application("circuit").to_dict()
        described["tasks"][0]["variants"][0]["kind"] = "GPUS"
        with self.assertRaisesRegex(groma.GromaError, "/tasks/0/variants/0/kind"):
            groma.Application(described)


if __name__ == "__main__":
    unittest.main()
