"""Talks to `groma lsp` as an editor does, and as a hostile program does.

    python3 lsp.py GROMA [TESTS...]
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from lsp_client import Client

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROMA = sys.argv[1] if len(sys.argv) > 1 else "groma"

GOOD = """\
Task * GPU, CPU;
Region * rp_shared GPU ZCMEM;
m = Machine(GPU);
def linear(Task task) {
  flat = m.merge(0, 1);
  return flat[task.ipoint[0] % flat.size[0]];
}
IndexTaskMap calculate_new_currents linear;
IndexTaskMap calculate_new_currents linear;
"""
TOML = 'machine = "p100x4:nodes=2"\napp = "circuit:nodes=2"\n'
ALL = {"start": {"line": 0, "character": 0}, "end": {"line": 1000, "character": 0}}


def place(line: int, first: int, last: int) -> dict:
    return {"start": {"line": line, "character": first}, "end": {"line": line, "character": last}}


class Session(unittest.TestCase):
    """A folder with a groma.toml, and a server."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="groma-lsp-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "groma.toml").write_text(TOML)
        self.client = self.start()

    def start(self, *options: str) -> Client:
        client = Client([GROMA, "lsp", *options])
        self.addCleanup(self.stop, client)
        return client

    @staticmethod
    def stop(client: Client) -> None:
        if client.process.poll() is None:
            client.process.kill()
        if not client.process.stdout.closed:
            client.finish()

    def open(self, text: str, name: str = "a.mapper", **options: object) -> str:
        self.client.initialize(**options)
        return self.client.open(self.folder / name, text)


class Editing(Session):
    def test_a_life(self) -> None:
        result = self.client.initialize({"general": {"positionEncodings": ["utf-16", "utf-8"]}})
        self.assertEqual(result["capabilities"]["positionEncoding"], "utf-8")
        self.assertEqual(result["serverInfo"]["name"], "groma")
        self.assertEqual(self.client.end(), 0)

    def test_diagnostics_follow_the_text(self) -> None:
        uri = self.open("Task * GPUS, CPU;\n")
        found = self.client.published(uri)
        self.assertEqual(found[0]["code"], "unknown-processor")
        self.assertEqual(found[0]["range"], place(0, 7, 11))
        self.assertIn("did you mean", found[0]["message"])
        # One letter less, as an editor sends it.
        self.client.change(uri, 2, {"range": place(0, 10, 11), "text": ""})
        self.assertEqual(self.client.published(uri, lambda p: p.get("version") == 2), [])
        self.client.change(uri, 3, {"text": "Task * CPU"}, {"range": place(0, 10, 10), "text": "\nTask"})
        self.assertTrue(self.client.published(uri, lambda p: p.get("version") == 3))
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.assertEqual(self.client.published(uri, lambda p: "version" not in p), [])

    def test_positions_count_in_the_units_that_were_agreed(self) -> None:
        text = "# \U0001F600\nTask \"\u00e9\U0001F600\" GPUS;\n"
        for encoding, begin in (("utf-8", 14), ("utf-16", 11), ("utf-32", 10)):
            client = self.start()
            client.initialize({"general": {"positionEncodings": [encoding]}})
            uri = client.open(self.folder / "b.mapper", text)
            self.assertEqual(client.published(uri)[0]["range"], place(1, begin, begin + 4))
            client.change(uri, 2, {"range": place(1, begin + 3, begin + 4), "text": ""})
            after = client.published(uri, lambda p: p.get("version") == 2)
            self.assertNotIn("unknown-processor", [each["code"] for each in after])
            self.assertEqual(client.end(), 0)

    def test_what_a_run_would_refuse_is_found(self) -> None:
        uri = self.open("Task * GPU, CPU;\nRegion * * GPU SYSMEM;\n")
        found = self.client.published(uri, lambda p: p["diagnostics"])
        self.assertIn("unaddressable-memory", [each["code"] for each in found])

    def test_names_of_the_application_are_checked(self) -> None:
        uri = self.open("Task calculate_new_current GPU;\n")
        found = self.client.published(uri, lambda p: p["diagnostics"])
        self.assertEqual(found[0]["code"], "unknown-task")
        self.assertIn("did you mean `calculate_new_currents`", found[0]["message"])
        uri = self.client.open(self.folder / "b.mapper", "Task * GPUS, CPU;\n")
        actions = self.client.request("textDocument/codeAction", {
            "textDocument": {"uri": uri}, "range": place(0, 8, 8), "context": {"diagnostics": []}})
        self.assertEqual(actions[0]["edit"]["changes"][uri][0]["newText"], "GPU")

    def test_hover_says_what_a_statement_decides(self) -> None:
        uri = self.open(GOOD, capabilities={"textDocument": {"hover": {"contentFormat": ["markdown"]}}})
        hover = self.client.at("hover", uri, 1, 2)
        self.assertEqual(hover["contents"]["kind"], "markdown")
        self.assertIn("**Decides** in circuit on p100x4:nodes=2", hover["contents"]["value"])
        self.assertIn("ZCMEM: region", hover["contents"]["value"])
        # The picture is the one of `groma place`.
        (self.folder / "a.mapper").write_text(GOOD)
        function = self.client.at("hover", uri, 3, 5)["contents"]["value"]
        self.assertIn("def linear(Task task)", function)
        head = next(line for line in function.splitlines() if " by linear on GPU: " in line)
        placed = subprocess.run(
            [GROMA, "place", "a.mapper", "--machine", "p100x4:nodes=2", "--task", "calculate_new_currents",
             "--domain", head.partition(": ")[2].partition(" points")[0].replace(" ", "")],
            cwd=self.folder, capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(head, placed[0])
        self.assertIn(placed[3], function)
        # The shadowed statement.
        shadowed = self.client.at("hover", uri, 8, 2)["contents"]["value"]
        self.assertIn("an earlier statement says it", shadowed)
        # A task, a global, an operation.
        task = self.client.at("hover", uri, 7, 16)["contents"]["value"]
        explained = subprocess.run(
            [GROMA, "explain", "a.mapper", "--machine", "p100x4:nodes=2", "--app", "circuit:nodes=2",
             "--task", "calculate_new_currents"],
            cwd=self.folder, capture_output=True, text=True, check=True).stdout
        kind = explained.splitlines()[3]
        self.assertIn(kind.strip(), task)
        self.assertIn("m = GPU (2, 4)", self.client.at("hover", uri, 2, 0)["contents"]["value"])
        self.assertIn("merge(a, b)", self.client.at("hover", uri, 4, 12)["contents"]["value"])
        self.assertIsNone(self.client.at("hover", uri, 500, 0))

    def test_hover_in_a_text_with_mistakes_knows_the_last_good_text(self) -> None:
        uri = self.open(GOOD)
        self.client.at("hover", uri, 1, 2)
        self.client.change(uri, 2, {"range": place(0, 0, 0), "text": "Task \n"})
        self.assertIn("ZCMEM: region", self.client.at("hover", uri, 2, 2)["contents"]["value"])

    def test_completion(self) -> None:
        uri = self.open(GOOD)
        self.client.at("hover", uri, 0, 0)  # the application is loaded then
        names = {}

        def complete(text: str, version: int) -> list[str]:
            self.client.change(uri, version, {"text": GOOD + text})
            line = GOOD.count("\n") + text.count("\n")
            result = self.client.at("completion", uri, line, len(text.rpartition("\n")[2]))
            names[text] = [item["label"] for item in result["items"]]
            return names[text]

        self.assertIn("IndexTaskMap", complete("", 2))
        self.assertIn("calculate_new_currents", complete("Task ", 3))
        self.assertEqual(complete("Task calc", 4), ["calculate_new_currents"])
        self.assertEqual(complete("Task calculate_new_currents ", 5), ["CPU", "GPU"])
        self.assertIn("rp_shared", complete("Region * ", 6))
        self.assertNotIn("calculate_new_currents", complete("Region * ", 7))
        self.assertIn("ZCMEM", complete("Region * rp_shared GPU ", 8))
        self.assertIn("C_order", complete("Layout * * * SOA ", 9))
        self.assertEqual(complete("IndexTaskMap calculate_new_currents ", 10), ["linear"])
        self.assertIn("decompose", complete("g = m.", 11))
        self.assertIn("ipoint", complete("def f(Task t) {\n  return m[t.", 12))
        self.assertNotIn("decompose", complete("def f(Task t) {\n  return m[t.", 13))
        self.assertIn("GPU", complete("g = Machine(", 14))
        self.assertIn("MSpace", complete("def f(", 15))
        self.assertIn("return", complete("def f(Task t) {\n  x = 1;\n  ", 16))
        self.assertNotIn("flat", complete("def f(Task t) {\n  x = ", 17))
        self.assertEqual(complete("# Task ", 18), [])
        self.assertEqual(complete("TaskSteal calculate_new_currents CPU ", 19), ["SAME_NODE", "ANY_NODE"])
        # Patterns and selectors are one part of a statement.
        self.assertEqual(complete("Task calc*", 20), [])
        self.assertEqual(complete("Task calc* ", 21), ["CPU", "GPU"])
        self.assertEqual(complete("Region calc*_x rp_* ", 22)[:2], ["*", "CPU"])
        self.assertIn("update_voltages", complete("Task toplevel > ", 23))
        self.assertEqual(complete("Task toplevel > update_voltages[dim=1] ", 24), ["CPU", "GPU"])
        # Conditions are expressions, and a block has statements that decide.
        self.assertIn("m", complete("when ", 25))
        self.assertIn("volume", complete("when m.", 26))
        self.assertIn("volume", complete("when Machine(GPU).", 27))
        block = complete("when m.volume > 1 {\n  ", 28)
        self.assertIn("Region", block)
        for word in ["print", "def", "when", "return"]:
            self.assertNotIn(word, block)

    def test_hover_in_a_block_and_on_a_pattern(self) -> None:
        uri = self.open("m = Machine(GPU);\nTask * CPU;\nTask calc* GPU;\n"
                        "when m.volume > 1 {\n  Task update_voltages GPU;\n}\n"
                        "when m.volume == 0 {\n  Task distribute_charge GPU;\n}\n",
                        capabilities={"textDocument": {"hover": {"contentFormat": ["markdown"]}}})

        def hover(line: int, character: int) -> str:
            return self.client.at("hover", uri, line, character)["contents"]["value"]

        self.assertIn("**Decides**", hover(2, 6))
        self.assertIn("kind GPU: calculate_new_currents", hover(2, 9))
        self.assertIn("**Decides**", hover(4, 4))
        self.assertIn("kind GPU: update_voltages", hover(4, 4))
        self.assertIn("**Does not act** on p100x4:nodes=2: `m.volume == 0`", hover(7, 4))
        self.assertIn("CONDITION", hover(3, 1))
        self.assertIn("decides: this statement is less specific", hover(1, 1))

    def test_definition_references_and_rename(self) -> None:
        uri = self.open(GOOD)
        self.assertEqual(self.client.at("definition", uri, 7, 37)["range"], place(3, 4, 10))
        self.assertIsNone(self.client.at("definition", uri, 7, 15))
        uses = self.client.at("references", uri, 2, 0, context={"includeDeclaration": True})
        self.assertEqual([use["range"] for use in uses], [place(2, 0, 1), place(4, 9, 10)])
        self.assertEqual(len(self.client.at("documentHighlight", uri, 4, 3)), 3)
        edit = self.client.at("rename", uri, 4, 3, newName="line")
        self.assertEqual(len(edit["changes"][uri]), 3)
        self.assertEqual(self.client.at("prepareRename", uri, 7, 15)["placeholder"], "calculate_new_currents")
        quoted = self.client.at("rename", uri, 7, 15, newName="two words")
        self.assertEqual(quoted["changes"][uri][0]["newText"], '"two words"')
        for bad in ("m", "flat", "GPU", "1x", "a b", ""):
            error = self.client.error("textDocument/rename", {
                "textDocument": {"uri": uri}, "position": {"line": 3, "character": 17}, "newName": bad})
            self.assertEqual(error["code"], -32803, bad)

    def test_symbols_formatting_fixes_and_hints(self) -> None:
        uri = self.open(GOOD + "def f(Task task):\n  return m[0,0]\n", capabilities={"textDocument": {
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}})
        symbols = self.client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        self.assertEqual([symbol["name"] for symbol in symbols][2:4], ["m", "linear"])
        self.assertEqual(symbols[3]["selectionRange"], place(3, 4, 10))
        actions = self.client.request("textDocument/codeAction", {
            "textDocument": {"uri": uri}, "range": ALL, "context": {"diagnostics": [], "only": ["source.fixAll"]}})
        self.assertEqual([action["kind"] for action in actions], ["source.fixAll.groma"])
        self.assertIn("{", "".join(edit["newText"] for edit in actions[0]["edit"]["changes"][uri]))
        hints = self.client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": ALL})
        self.assertIn((8, "shadowed by line 8"), [(hint["position"]["line"], hint["label"]) for hint in hints])
        edits = self.client.request("textDocument/formatting", {
            "textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}})
        self.assertIn("m[0, 0]", "".join(edit["newText"] for edit in edits))
        self.client.change(uri, 2, {"text": "Task ("})
        self.assertIsNone(self.client.request("textDocument/formatting", {
            "textDocument": {"uri": uri}, "options": {}}))


class Workspace(Session):
    def test_the_nearest_file_and_its_patterns(self) -> None:
        below = self.folder / "a" / "b"
        below.mkdir(parents=True)
        (self.folder / "a" / "groma.toml").write_text(
            'machine = "p100x4"\napp = "cannon"\n[[mapping]]\nfiles = "b/sten*.mapper"\napp = "stencil"\n')
        self.client.initialize()
        for name, app in (("stencil.mapper", "stencil"), ("other.mapper", "cannon")):
            uri = self.client.open(below / name, "Task * GPU;\n")
            self.assertIn(f"in {app} on p100x4", self.client.at("hover", uri, 0, 0)["contents"]["value"])

    def test_mistakes_in_the_file_are_shown_in_the_file(self) -> None:
        toml = self.folder / "groma.toml"
        cases = {"machine = 4\n": (0, "needs a text"), "mashine = \"p100x4\"\n": (0, "did you mean"),
                 "app = \"circuit\"\nmachine = \"p100\"\n": (1, "p100"), "machine = \n": (0, ""),
                 "app = \"absent.json\"": (0, "absent.json"), "machine = \"-\"\n": (0, "belongs to the editor")}
        for text, (line, message) in cases.items():
            with self.subTest(text=text):
                toml.write_text(text)
                client = self.start()
                client.initialize()
                uri = client.open(self.folder / "c.mapper", "Task * GPU;\n")
                found = client.published(toml.as_uri())
                self.assertEqual(found[0]["range"]["start"]["line"], line)
                self.assertIn(message, found[0]["message"])
                # Corrected, and the editor says so.
                toml.write_text(TOML + "# \n")
                client.notify("workspace/didChangeWatchedFiles", {"changes": []})
                self.assertEqual(client.published(toml.as_uri()), [])
                self.assertIn("in circuit", client.at("hover", uri, 0, 0)["contents"]["value"])
                self.assertEqual(client.end(), 0)

    def test_options_and_documents_without_a_file(self) -> None:
        (self.folder / "groma.toml").unlink()
        client = self.start("--machine", "p100x4", "--app", "stencil")
        client.initialize(initializationOptions={"app": "cannon"})
        client.notify("textDocument/didOpen", {"textDocument": {
            "uri": "untitled:Untitled-1", "languageId": "groma", "version": 1, "text": "Task * GPU;\n"}})
        hover = client.at("hover", "untitled:Untitled-1", 0, 0)
        self.assertIn("in cannon on p100x4", hover["contents"]["value"])
        client = self.start("--machine", "nothing")
        client.initialize()
        client.open(self.folder / "a.mapper", "Task * GPU;\n")
        self.assertIn("nothing", client.wait(lambda m: m.get("method") == "window/showMessage")["params"]["message"])

    def test_expensive_work_does_not_delay_diagnostics(self) -> None:
        (self.folder / "groma.toml").write_text('machine = "p100x4:nodes=64"\napp = "circuit:pieces=4096"\n')
        uri = self.open(GOOD)
        self.client.published(uri)
        for version in range(2, 60):
            self.client.change(uri, version, {"range": place(0, 0, 0), "text": "#"})
        self.client.published(uri, lambda p: p.get("version") == 59)
        self.client.at("hover", uri, 1, 2)
        self.assertEqual(self.client.end(), 0)


class Protocol(Session):
    def test_exit_codes(self) -> None:
        self.client.notify("exit")
        self.assertEqual(self.client.finish(), 1)
        client = self.start()
        client.initialize()
        self.assertEqual(client.finish(), 1)  # the input ends
        client = self.start()
        client.initialize()
        client.notify("exit")
        self.assertEqual(client.finish(), 1)
        client = self.start()
        client.initialize()
        client.request("shutdown")
        self.assertEqual(client.finish(), 1)
        self.assertEqual(subprocess.run([GROMA, "lsp", "--nothing"], capture_output=True).returncode, 2)
        self.assertEqual(subprocess.run([GROMA, "lsp", "--machine", "-"], capture_output=True).returncode, 2)

    def test_order_of_a_session(self) -> None:
        client = self.client
        self.assertEqual(client.error("textDocument/hover")["code"], -32002)
        client.initialize()
        self.assertEqual(client.error("initialize", {"capabilities": {}})["code"], -32600)
        self.assertEqual(client.error("groma/nothing")["code"], -32601)
        for method in ("hover", "completion", "rename", "formatting", "codeAction", "inlayHint"):
            self.assertEqual(client.error("textDocument/" + method)["code"], -32602)
        client.request("shutdown")
        self.assertEqual(client.error("textDocument/hover")["code"], -32600)

    def test_wrong_messages_are_answered_and_survived(self) -> None:
        client = self.client
        client.initialize()
        wrong = [b"Content-Length: 3\r\n\r\n{]}", b"Content-Length: 2\r\n\r\n\xff\xfe",
                 b"Nothing: 1\r\n\r\n{}", b"Content-Length: -5\r\n\r\n", b"Content-Length: nine\r\n\r\n",
                 b"Content-Length: 99999999999999999999999\r\n\r\n",
                 b"Content-Length: 600\r\n\r\n" + b"[" * 300 + b"]" * 300, b"x" * 10000]
        for data in wrong:
            client.send_bytes(data)
            self.assertEqual(client.wait(lambda m: "error" in m)["error"]["code"], -32700, data[:40])
        for message in ([], 7, None, {}, {"jsonrpc": "1.0", "id": 1, "method": "shutdown"},
                        {"jsonrpc": "2.0", "id": {}, "method": "shutdown"}, {"jsonrpc": "2.0", "id": 1}):
            client.send(message)
            self.assertEqual(client.wait(lambda m: "error" in m)["error"]["code"], -32600, message)
        self.assertEqual(client.end(), 0)

    def test_a_message_that_is_too_large_is_skipped(self) -> None:
        self.client.initialize()
        size = (32 << 20) + 1
        self.client.send_bytes(b"Content-Length: %d\r\n\r\n" % size)
        for _ in range(33):
            self.client.send_bytes(b" " * (1 << 20) if _ < 32 else b" ")
        self.assertEqual(self.client.wait(lambda m: "error" in m)["error"]["code"], -32700)
        uri = self.client.open(self.folder / "large.mapper", "#" * ((8 << 20) + 1))
        self.assertIn("8 MiB", self.client.published(uri)[0]["message"])
        self.assertEqual(self.client.error("textDocument/hover", {
            "textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})["code"], -32803)
        self.client.change(uri, 2, {"text": "Task * GPU;\n"})
        self.assertEqual(self.client.published(uri, lambda p: p.get("version") == 2), [])
        self.assertEqual(self.client.end(), 0)

    def test_nobody_reads_the_answers(self) -> None:
        with subprocess.Popen([GROMA, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdout.close()
            request = b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}'
            process.stdin.write(20 * (b"Content-Length: %d\r\n\r\n%s" % (len(request), request)))
            process.stdin.close()
            self.assertEqual(process.wait(60), 1)

    def test_cancelled_requests_are_answered(self) -> None:
        uri = self.open(GOOD)
        number = self.client.begin("textDocument/hover", {
            "textDocument": {"uri": uri}, "position": {"line": 1, "character": 2}})
        self.client.notify("$/cancelRequest", {"id": number})
        answer = self.client.answer(number)  # whichever was faster
        self.assertTrue("result" in answer or answer["error"]["code"] == -32800)

    def test_nonsense(self) -> None:
        """Random parameters: each request is answered, and the session goes on."""
        draw = random.Random(11)
        uri = self.open(GOOD)
        methods = ["textDocument/" + name for name in (
            "hover", "completion", "definition", "references", "documentHighlight", "prepareRename", "rename",
            "documentSymbol", "formatting", "codeAction", "inlayHint")]

        def value(depth: int = 0) -> object:
            choice = draw.randrange(9 if depth < 3 else 7)
            if choice == 7:
                return [value(depth + 1) for _ in range(draw.randrange(3))]
            if choice == 8:
                return {key: value(depth + 1) for key in draw.sample(
                    ["uri", "text", "line", "character", "start", "end", "range", "version"], 3)}
            return [None, -1, 0, 1 << 63, 3, "x", uri][choice]

        def maybe(right: object) -> object:
            return value() if draw.random() < 0.3 else right

        for version in range(300):
            position = maybe({"line": maybe(draw.randrange(12)), "character": maybe(draw.randrange(60))})
            range_ = maybe({"start": position, "end": maybe({"line": 5, "character": draw.randrange(9)})})
            document = maybe({"uri": maybe(uri), "version": version})
            self.client.answer(self.client.begin(draw.choice(methods), maybe(
                {"textDocument": document, "position": position, "range": range_, "newName": maybe("other"),
                 "context": maybe({})})))
            self.client.notify("textDocument/didChange", maybe({"textDocument": document, "contentChanges": maybe(
                [maybe({"range": range_, "text": maybe(draw.choice(["", "\n", "Task", "é{", "}", "def f("]))})])}))
            if version % 20 == 0:
                self.client.change(uri, version, {"text": GOOD})
        self.client.change(uri, 999, {"text": "Task * GPUS;"})
        self.assertTrue(self.client.published(uri, lambda p: p.get("version") == 999))
        self.assertEqual(self.client.end(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
