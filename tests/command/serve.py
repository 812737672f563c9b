"""Runs `groma serve` with a small client of the Model Context Protocol, and checks what it answers.

    python3 serve.py GROMA [TESTS...]

GROMA is the command. The client uses the standard library only; tests/agents has the protocol's own client.
"""
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROMA = sys.argv[1] if len(sys.argv) > 1 else "groma"
WAIT = 60  # seconds; only a failure waits so long
GOOD = "Task * GPU,OMP,CPU;\n"
BAD = "Task * GPUS;\n"
LONG_SEARCH = {"app": "circuit", "evaluations": 100_000, "proposer": "random", "wait": 50}


class Client:
    """A server as a child process, and what it wrote."""

    def __init__(self, *options: str, root: str | pathlib.Path = ".", version: str | None = "2025-06-18") -> None:
        environment = {**os.environ, "GROMA_API_KEY": "secret"}
        self.process = subprocess.Popen([GROMA, "serve", "--root", str(root), *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=ROOT)
        self.replies: queue.Queue[dict | None] = queue.Queue()
        self.notifications: list[dict] = []
        self.kept: list[dict] = []
        self.last_id = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if version is not None:
            self.greeting = self.request("initialize", {"protocolVersion": version, "capabilities": {},
                                                        "clientInfo": {"name": "test", "version": "1"}})["result"]
            self.notify("notifications/initialized")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if isinstance(message, dict) and "id" not in message:
                self.notifications.append(message)
            else:
                self.replies.put(message)
        self.replies.put(None)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None and self.process.stderr is not None
        self.process.stdin.close()
        try:
            code = self.process.wait(WAIT)
        finally:
            self.process.kill()
        self.reader.join(WAIT)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def send(self, line: bytes | str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line if isinstance(line, bytes) else line.encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def notify(self, method: str, **params: object) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def start(self, method: str, params: dict | None = None, token: str | None = None) -> int:
        self.last_id += 1
        params = dict(params or {})
        if token is not None:
            params["_meta"] = {"progressToken": token}
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}))
        return self.last_id

    def next(self) -> dict:
        reply = self.replies.get(timeout=WAIT)
        assert reply is not None, "the server has ended"
        return reply

    def answer(self, number: int | None) -> dict:
        for reply in self.kept:
            if reply.get("id") == number:
                self.kept.remove(reply)
                return reply
        while True:
            reply = self.next()
            if isinstance(reply, dict) and reply.get("id") == number:
                return reply
            self.kept.append(reply)

    def request(self, method: str, params: dict | None = None) -> dict:
        return self.answer(self.start(method, params))

    def error(self, method: str, params: dict | None = None) -> int:
        return self.request(method, params)["error"]["code"]

    def call(self, tool: str, **arguments: object) -> dict:
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def text(self, tool: str, **arguments: object) -> str:
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        return result["content"][0]["text"]

    def refusal(self, tool: str, **arguments: object) -> str:
        result = self.call(tool, **arguments)
        assert result["isError"], result
        return result["content"][0]["text"]


def children(process: int) -> list[int]:
    """All processes below a process."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found += [int(stat.parent.name), *children(int(stat.parent.name))]
    return found


def wait_until(condition, what: str) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def is_gone(process: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Folder(unittest.TestCase):
    """A root with a few files, and something outside it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="groma-serve-")
        self.addCleanup(folder.cleanup)
        self.outside = pathlib.Path(folder.name)
        self.root = self.outside / "root"
        (self.root / "sub").mkdir(parents=True)
        (self.root / "sub/good.mapper").write_text(GOOD)
        (self.root / "sub/bad.mapper").write_text(BAD)
        app = subprocess.run([GROMA, "apps", "cannon", "--json"], capture_output=True, check=True).stdout
        (self.root / "app.json").write_bytes(app)
        (self.outside / "secret.json").write_bytes(app)
        (self.outside / "secret.mapper").write_text(GOOD)

    def client(self, *options: str, **more: object) -> Client:
        client = Client(*options, **{"root": self.root, **more})
        self.addCleanup(client.close)
        return client


class Protocol(Folder):
    def test_versions_are_negotiated(self) -> None:
        for asked, answered in [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"),
                                ("2025-06-18", "2025-06-18"), ("2999-01-01", "2025-06-18")]:
            with Client(version=asked) as client:
                self.assertEqual(client.greeting["protocolVersion"], answered)
                tool = client.request("tools/list")["result"]["tools"][0]
                self.assertEqual("annotations" in tool, answered >= "2025-03-26")
                self.assertEqual("title" in tool, answered >= "2025-06-18")
                result = client.call("format", mapping=GOOD)
                self.assertEqual("structuredContent" in result, answered >= "2025-06-18")

    def test_begins_with_initialize(self) -> None:
        with Client(version=None) as client:
            self.assertEqual(client.request("ping")["result"], {})
            self.assertEqual(client.error("tools/list"), -32600)
            self.assertEqual(client.error("server/discover"), -32601)  # as later clients ask first
            self.assertEqual(client.error("initialize", {"protocolVersion": 7}), -32602)
            self.assertIn("result", client.request("initialize", {"protocolVersion": "2025-06-18"}))
            self.assertEqual(client.error("initialize", {"protocolVersion": "2025-06-18"}), -32600)

    def test_nothing_that_is_sent_stops_it(self) -> None:
        with self.client() as client:
            for line, code in [(b"{", -32700), (b"\xff\xfe", -32700), (b"[]", -32600), (b"7", -32600),
                               (b"[" * 100_000, -32700), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
                               (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
                               (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602),
                               (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
                               (b'{"jsonrpc":"2.0","id":1}', -32600), (b'"' + b"x" * (5 << 20) + b'"', -32600)]:
                client.send(line)
                self.assertEqual(client.next()["error"]["code"], code, line[:60])
            for line in [b"", b"   ", b'{"jsonrpc":"2.0","method":"no/such"}', b'{"jsonrpc":"2.0","id":1,"result":{}}',
                         b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[{}]}}',
                         b'{"jsonrpc":"2.0","method":"notifications/cancelled"}']:
                client.send(line)
            self.assertEqual(client.request("ping")["result"], {})

    def test_wrong_requests_are_errors_of_the_protocol(self) -> None:
        with self.client() as client:
            for method, params, code in [("no/such", {}, -32601), ("tools/call", {}, -32602),
                                         ("tools/call", {"name": "no_such"}, -32602),
                                         ("tools/call", {"name": "check", "arguments": [1]}, -32602),
                                         ("tools/list", {"cursor": "x"}, -32602), ("resources/read", {}, -32602),
                                         ("resources/read", {"uri": "groma://nothing"}, -32002),
                                         ("resources/read", {"uri": "groma://machines/%zz"}, -32002),
                                         ("logging/setLevel", {"level": "debug"}, -32601)]:
                self.assertEqual(client.error(method, params), code, (method, params))

    def test_arrays_of_messages_belong_to_one_version(self) -> None:
        batch = json.dumps([{"jsonrpc": "2.0", "id": "a", "method": "ping"},
                            {"jsonrpc": "2.0", "method": "notifications/initialized"},
                            {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                             "params": {"name": "check", "arguments": {"mapping": GOOD}}}, 3])
        with Client(version="2025-03-26") as client:
            client.send(batch)
            self.assertEqual({reply.get("id") for reply in client.next()}, {"a", 7, None})
        with Client() as client:
            client.send(batch)
            self.assertEqual(client.next()["error"]["code"], -32600)

    def test_several_calls_are_in_flight(self) -> None:
        with self.client("--jobs", "2") as client:
            slow = client.start("tools/call", {"name": "tune", "arguments": LONG_SEARCH})
            self.assertIn("no errors", client.text("check", mapping=GOOD))
            client.send(json.dumps({"jsonrpc": "2.0", "id": slow, "method": "tools/call",
                                    "params": {"name": "check", "arguments": {"mapping": GOOD}}}))
            self.assertEqual(client.next()["error"]["code"], -32600)  # the id is in flight
            client.notify("notifications/cancelled", requestId=slow)

    def test_too_many_calls_are_refused(self) -> None:
        with self.client("--jobs", "1") as client:
            first = client.start("tools/call", {"name": "tune", "arguments": LONG_SEARCH})
            wait_until(lambda: children(client.process.pid), "the search has begun")
            calls = [client.start("tools/call", {"name": "format", "arguments": {"mapping": GOOD}}) for _ in range(70)]
            refused = client.next()
            self.assertEqual(refused["error"]["code"], -32000)
            for call in [first, *calls[5:]]:
                client.notify("notifications/cancelled", requestId=call)
            for call in calls[:5]:
                self.assertFalse(client.answer(call)["result"]["isError"])


class Tools(Folder):
    def test_are_described(self) -> None:
        with self.client() as client:
            tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        self.assertEqual(set(tools), {"reference", "check", "format", "place", "explain", "run", "diff", "guide",
                                      "tune", "write"})
        for tool in tools.values():
            schema = tool["inputSchema"]
            self.assertEqual(schema["type"], "object")
            self.assertFalse(schema["additionalProperties"])
            self.assertTrue(all(each["description"] for each in schema["properties"].values()))
        self.assertTrue(tools["check"]["annotations"]["readOnlyHint"])
        self.assertFalse(tools["tune"]["annotations"]["readOnlyHint"])
        self.assertNotIn("command", tools["tune"]["inputSchema"]["properties"])
        with self.client("--allow-commands") as client:
            tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        self.assertIn("command", tools["tune"]["inputSchema"]["properties"])

    def test_check_finds_mistakes_and_corrects_them(self) -> None:
        with self.client() as client:
            result = client.call("check", mapping=BAD)
            self.assertFalse(result["isError"])
            self.assertIn("mapping.mapper:1:8: error: unknown processor kind `GPUS`", result["content"][0]["text"])
            self.assertEqual(result["structuredContent"]["diagnostics"][0]["id"], "unknown-processor")
            # A file is named as the client names it, and is not changed.
            fixable = "def f(Task t):\n  return Machine(GPU)[0, 0];\nIndexTaskMap GPU f;\n"
            (self.root / "sub/fix.mapper").write_text(fixable)
            result = client.call("check", mapping_file="sub/fix.mapper", fix=True)
            self.assertIn("def f(Task t) {", result["structuredContent"]["mapping"])
            self.assertEqual((self.root / "sub/fix.mapper").read_text(), fixable)
            self.assertIn("sub/bad.mapper:1:8", client.text("check", mapping_file="sub/bad.mapper"))
            self.assertIn("no-variant", client.text("check", mapping="Task * GPU;", app="cannon", machine="p100x4"))

    def test_show_and_explain(self) -> None:
        mapping = (ROOT / "dsl/mappers/block2d.mapper").read_text()
        with self.client() as client:
            self.assertEqual(client.text("format", mapping="Task *  GPU ;"), "Task * GPU;\n")
            result = client.call("place", mapping=mapping, task="dgemm", domain="2x4", machine="nodes=2,gpu=2")
            self.assertIn("load: 2 points on each of 4 processors", result["content"][0]["text"])
            self.assertEqual(len(result["structuredContent"]["points"]), 8)
            self.assertIn("kind GPU", client.text("explain", mapping=GOOD, app="cannon", task="task_1"))
            self.assertIn("Task task_1 GPU;", client.text("explain", as_mapping=True, app="app.json", task="task_1"))
            self.assertIn("exit code 139", client.text("guide", exit_code=139))
            self.assertIn("4877", client.text("guide", log="Achieved throughput = 4877 GFLOPS\n"))
            reference = client.text("reference", app="cannon", machine="lassen")
            self.assertIn("REFERENCE CARD", reference)
            self.assertIn("MACHINE: ", reference)
            self.assertIn("task_5", reference)

    def test_run_and_compare(self) -> None:
        app = json.loads((self.root / "app.json").read_text())
        with self.client() as client:
            result = client.call("run", mapping=GOOD, app=app, machine={"nodes": [{"processors": [
                {"kind": "CPU", "count": 4}, {"kind": "OMP", "count": 1}, {"kind": "GPU", "count": 2}]}]})
            self.assertFalse(result["isError"], result)
            self.assertEqual(result["structuredContent"]["status"], "ok")
            self.assertIn("critical path", result["content"][0]["text"])
            guided = client.text("guide", profile=result["structuredContent"], mapping=GOOD)
            self.assertIn("Explain", guided)
            self.assertTrue(client.call("run", mapping="Task * GPU, CPU;", app="cannon")["isError"])
            self.assertEqual(client.call("diff", b=GOOD, app="cannon:n=4000")["structuredContent"]["a"]["status"], "ok")

    def test_wrong_arguments_say_what_is_right(self) -> None:
        with self.client() as client:
            self.assertIn("did you mean `mapping`?", client.refusal("check", maping=GOOD))
            self.assertIn("give one of `mapping` and `mapping_file`", client.refusal("check"))
            self.assertIn("only one of", client.refusal("check", mapping=GOOD, mapping_file="sub/good.mapper"))
            self.assertIn("`fix` is not true or false", client.refusal("check", mapping=GOOD, fix="yes"))
            self.assertIn("`app` is missing", client.refusal("explain", mapping=GOOD))
            self.assertIn("is not a whole number from", client.refusal("run", app="cannon", seed=1.5))
            self.assertIn("one of `none`", client.refusal("guide", exit_code=1, detail="all"))
            self.assertIn("`task` is not a text of 1 to", client.refusal("place", mapping=GOOD, task="", domain="2"))
            self.assertIn("did you mean `cannon`?", client.refusal("explain", mapping=GOOD, app="canon"))
            self.assertIn("p100x4", client.refusal("explain", mapping=GOOD, app="cannon", machine="p100x5"))
            # What the server does not allow is not named as a cure.
            self.assertIn("give one of `app` and `resume`", client.refusal("tune"))
            self.assertNotIn("program", client.refusal("run", mapping=GOOD))
            self.assertIn("without zeros", client.refusal("explain", mapping=GOOD, app="cannon", task="a\0b"))

    def test_write_takes_replies_from_a_recording(self) -> None:
        recording = (ROOT / "docs/examples/write.jsonl").read_bytes()
        (self.root / "write.jsonl").write_bytes(recording)
        sentence = "Place ghost/shared regions (rp_shared and rp_ghost) onto GPU zero-copy memory"
        with self.client() as client:
            result = client.call("write", sentence=sentence, app="circuit", replay_file="write.jsonl",
                                 output="sub/new.mapper")
            self.assertFalse(result["isError"], result)
            self.assertIn("Region * rp_shared, rp_ghost GPU ZCMEM;", result["structuredContent"]["mapping"])
            self.assertIn("ZCMEM", result["content"][0]["text"])
            again = client.refusal("write", sentence=sentence, app="circuit", replay_file="write.jsonl",
                                   output="sub/new.mapper")
            self.assertIn("error: `sub/new.mapper` exists already", again)
            self.assertIn("`--force` belongs to the command line", again)
        self.assertIn("rp_ghost GPU ZCMEM;", (self.root / "sub/new.mapper").read_text())

    def test_large_results_are_cut(self) -> None:
        mapping = (ROOT / "dsl/mappers/block2d.mapper").read_text()
        arguments = {"mapping": mapping, "task": "dgemm", "domain": "512x512", "machine": "p100x4:nodes=2"}
        with self.client("--max-result", "1") as client:
            result = client.call("place", **arguments)
            text = result["content"][0]["text"]
            self.assertLess(len(text.encode()), 2 << 10)
            self.assertIn("bytes are left out here", text)
            self.assertIn("decided by", text)
            self.assertIn("structured content is left out", text)
            self.assertNotIn("structuredContent", result)
        with self.client("--max-result", "65536") as client:
            self.assertEqual(len(client.call("place", **arguments)["structuredContent"]["points"]), 512 * 512)

    def test_resources(self) -> None:
        with self.client() as client:
            client.text("tune", app="cannon", evaluations=1, out="sub/found it")
            listed = {each["uri"] for each in client.request("resources/list")["result"]["resources"]}
            self.assertLessEqual({"groma://language", "groma://machines/lassen", "groma://applications/cannon",
                                  "groma://searches/sub/found%20it"}, listed)
            self.assertEqual(len(client.request("resources/templates/list")["result"]["resourceTemplates"]), 3)

            def read(uri: str) -> list[dict]:
                return client.request("resources/read", {"uri": uri})["result"]["contents"]

            self.assertIn("REFERENCE CARD", read("groma://language")[0]["text"])
            self.assertEqual(json.loads(read("groma://machines/p100x4:nodes=2")[0]["text"])["name"], "p100x4:nodes=2")
            self.assertEqual(json.loads(read("groma://applications/app.json")[0]["text"])["name"], "cannon")
            names = [each["uri"].rpartition("/")[2] for each in read("groma://searches/sub/found%20it")]
            self.assertEqual(names, ["report.txt", "best.mapper"])
            for uri in ["groma://searches/..", "groma://applications/..%2Fsecret.json", "groma://machines/--help",
                        "groma://searches/no"]:
                self.assertIn("error", client.request("resources/read", {"uri": uri}), uri)


class Paths(Folder):
    def test_stay_below_the_root(self) -> None:
        (self.root / "link.mapper").symlink_to(self.outside / "secret.mapper")
        (self.root / "link").symlink_to(self.outside)
        (self.root / "link.json").symlink_to(self.outside / "secret.json")
        (self.root / "plain").symlink_to(self.outside / "secret.json")
        (self.root / "inside.mapper").symlink_to("sub/good.mapper")
        with self.client() as client:
            for path in ["../secret.mapper", str(self.outside / "secret.mapper"), "sub/../../secret.mapper",
                         "link.mapper", "link/secret.mapper", "/etc/passwd", "/proc/self/environ", "../no"]:
                self.assertIn("is not below the root", client.refusal("check", mapping_file=path), path)
            for app in ["../secret.json", "../secret.json:n=4000", "link.json", "link.json:n=4000", "plain", "plain:n=1",
                        str(self.outside / "secret.json"), "link/secret.json:size=small"]:
                self.assertIn("is not below the root", client.refusal("explain", mapping=GOOD, app=app), app)
            for machine in ["../secret.json", "link.json", "plain", "/etc/passwd"]:
                said = client.refusal("explain", mapping=GOOD, app="cannon", machine=machine)
                self.assertIn("is not below the root", said, machine)
            for path, why in [("-", "there is no"), ("", "is not a text of 1 to"), ("sub", "is not a file"), ("x" * 5000, "a path has")]:
                self.assertIn(why, client.refusal("check", mapping_file=path), path)
            self.assertIn("is not below", client.refusal("explain", mapping=GOOD, app="-"))
            self.assertIn("is not below", client.refusal("tune", app="cannon", out="../found"))
            self.assertIn("is not below", client.refusal("tune", app="cannon", out="link/found"))
            self.assertIn("is a link", client.refusal("tune", app="cannon", out="link"))
            self.assertIn("no errors", client.text("check", mapping_file="inside.mapper"))
            self.assertIn("no errors", client.text("check", mapping_file=str(self.root / "sub/good.mapper")))
            self.assertIn("kind GPU", client.text("explain", mapping=GOOD, app="app.json:n=4000", task="task_1"))

    def test_are_no_options_and_no_lists(self) -> None:
        for name in ["--help", "-", "[sub/good.mapper,sub/bad.mapper]"]:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(GOOD)
            with self.client() as client:
                self.assertIn("no errors, no warnings in 1 file", client.text("check", mapping_file=name))
                self.assertIn("--json", client.refusal("explain", mapping=GOOD, app="cannon", task="--json"))

    def test_of_a_search_that_is_resumed(self) -> None:
        """A directory could make the search read files elsewhere."""
        subprocess.run([GROMA, "tune", "--app", "../secret.json", "--evaluations", "1", "--out", "foreign"], check=True,
                       cwd=self.root, capture_output=True)
        with self.client() as client:
            self.assertIn("is not below the root", client.refusal("tune", resume="foreign", evaluations=2))

    def test_of_special_files_are_refused(self) -> None:
        os.mkfifo(self.root / "pipe.mapper")
        with self.client() as client:
            self.assertIn("is not a file", client.refusal("check", mapping_file="pipe.mapper"))


class Permissions(Folder):
    def test_nothing_is_run_that_is_not_allowed(self) -> None:
        trace = self.outside / "trace"
        run = f"touch {trace}; echo 1"
        with self.client() as client:
            for tool, arguments in [("tune", {"app": "cannon", "command": run}),
                                    ("run", {"mapping": GOOD, "program": ["sh", "-c", run]})]:
                self.assertIn("--allow-commands", client.refusal(tool, **arguments))
            for endpoint in [f"exec:{run}", "http://127.0.0.1:9/v1", None]:
                for tool, more in [("write", {"sentence": "x"}), ("tune", {"app": "cannon", "proposer": "opro"})]:
                    said = client.refusal(tool, **more, endpoint=endpoint)
                    self.assertIn("--allow-", said)
            # The sentence is not an option.
            self.assertIn("--allow-endpoint", client.refusal("write", sentence=f"--endpoint=exec:{run}"))
        self.assertFalse(trace.exists())

    def test_what_is_allowed_is_run(self) -> None:
        model = "exec:cat > /dev/null; printf '%s' \"$GROMA_API_KEY\" > key; echo 'Task * GPU,OMP,CPU;'"
        with self.client("--allow-endpoint", model) as client:
            self.assertIn("Task * GPU", client.text("write", sentence="All on GPUs", app="cannon"))
            self.assertIn("may not use", client.refusal("write", sentence="x", endpoint="exec:true"))
        with self.client("--allow-commands") as client:
            text = client.text("tune", app="cannon", command="env > seen; cat {file} > read; echo time 7", metric="time (\\d+)",
                               evaluations=1, repeats=1)
            self.assertIn("The search is in `tune`", text)
            self.assertNotIn("secret", (self.root / "seen").read_text())
            self.assertIn("`trust`", client.refusal("tune", resume="tune", evaluations=2))
            client.text("tune", resume="tune", evaluations=2, trust=True)


class Jobs(Folder):
    def test_a_search_goes_on_in_parts(self) -> None:
        with self.client() as client:
            number = client.start("tools/call", {"name": "tune", "arguments": {**LONG_SEARCH, "wait": 1}}, token="t")
            result = client.answer(number)["result"]
            self.assertFalse(result["isError"], result)
            content = result["structuredContent"]
            self.assertTrue(content["goes_on"])
            self.assertIn('{"resume": "tune"}', result["content"][0]["text"])
            done = content["search"]["spent"]["evaluations"]
            progress = [note["params"]["progress"] for note in client.notifications]
            self.assertTrue(progress and progress == sorted(set(progress)), progress)
            self.assertEqual(client.notifications[0]["params"]["progressToken"], "t")
            self.assertEqual(client.notifications[0]["params"]["total"], 100_000)
            last = client.call("tune", resume="tune", evaluations=done + 5)["structuredContent"]
            self.assertFalse(last["goes_on"])
            self.assertEqual(last["search"]["spent"]["evaluations"], done + 5)

    def test_a_search_says_what_it_notes_and_finds(self) -> None:
        with self.client() as client:
            text = client.text("tune", app="circuit", machine="lassen:nodes=2", evaluations=1)
            self.assertIn("note: application `circuit` is set up for 1 node", text)
            self.assertIn("the default mapper decides everything", text)

    def test_a_cancelled_search_can_be_resumed(self) -> None:
        with self.client() as client:
            number = client.start("tools/call", {"name": "tune", "arguments": LONG_SEARCH}, token="t")
            wait_until(lambda: client.notifications, "progress")
            client.notify("notifications/cancelled", requestId=number)
            # The one process that is left watches over the temporary folder.
            wait_until(lambda: len(children(client.process.pid)) == 1, "the search has ended")
            told = len(client.notifications)
            time.sleep(0.3)
            self.assertEqual(len(client.notifications), told)
            result = client.call("tune", resume="tune", evaluations=1)
            self.assertFalse(result["isError"], result)
            self.assertGreaterEqual(result["structuredContent"]["search"]["spent"]["evaluations"], 1)
            # No reply came to the cancelled request.
            self.assertFalse([reply for reply in client.kept if reply["id"] == number])

    def test_the_end_of_the_input_ends_everything(self) -> None:
        client = Client(root=self.root)
        client.start("tools/call", {"name": "tune", "arguments": LONG_SEARCH})
        wait_until(lambda: (self.root / "tune/journal.jsonl").exists(), "a search")
        below = children(client.process.pid)
        self.assertTrue(below)
        begin = time.monotonic()
        self.assertEqual(client.close(), 0)
        self.assertLess(time.monotonic() - begin, 30)
        wait_until(lambda: all(is_gone(child) for child in below), "all children have ended")
        self.assertEqual(Client(root=self.root).close(), 0)

    def test_a_killed_server_leaves_nothing_behind(self) -> None:
        client = Client(root=self.root)
        client.start("tools/call", {"name": "tune", "arguments": LONG_SEARCH})
        wait_until(lambda: (self.root / "tune/journal.jsonl").exists(), "a search")
        below = children(client.process.pid)
        client.process.kill()
        wait_until(lambda: all(is_gone(child) for child in below), "all children have ended")
        client.close()

    def test_a_signal_ends_it(self) -> None:
        for number in [signal.SIGTERM, signal.SIGINT]:
            client = Client(root=self.root)
            client.process.send_signal(number)
            self.assertEqual(client.process.wait(WAIT), 130)
            client.close()

    def test_the_last_calls_are_answered(self) -> None:
        lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
                 {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                  "params": {"name": "format", "arguments": {"mapping": GOOD}}}]
        outcome = subprocess.run([GROMA, "serve"], input="\n".join(map(json.dumps, lines)), capture_output=True,
                                 text=True, timeout=WAIT, cwd=self.root)
        self.assertEqual(outcome.returncode, 0)
        replies = [json.loads(line) for line in outcome.stdout.splitlines()]
        self.assertIn(1, [reply["id"] for reply in replies])

    def test_a_call_has_limits(self) -> None:
        with self.client("--call-time", "0.5") as client:
            result = client.call("tune", **LONG_SEARCH)
            self.assertTrue(result["structuredContent"]["goes_on"], result)
        with self.client("--call-memory", "64") as client:
            self.assertTrue(client.call("run", app="cannon:nodes=64", machine="lassen:nodes=64")["isError"])
            self.assertEqual(client.request("ping")["result"], {})

    def test_a_client_that_does_not_read_is_left(self) -> None:
        process = subprocess.Popen([GROMA, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.root)
        assert process.stdin is not None and process.stdout is not None
        ask = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) + "\n"
        start = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
        os.set_blocking(process.stdin.fileno(), False)
        try:
            os.write(process.stdin.fileno(), (json.dumps(start) + "\n" + ask * 300).encode())
        except BlockingIOError:
            pass
        process.stdin.close()
        self.assertEqual(process.wait(WAIT), 0)
        process.stdout.close()


class Start(Folder):
    def test_wrong_options_are_refused(self) -> None:
        for options, code in [(["--root", "no/such"], 1), (["--root", "README.md"], 1), (["--call-time", "0"], 2),
                              (["--allow-endpoint", "foo"], 1), (["--price", "x"], 2),
                              (["--allow-everything"], 2)]:
            outcome = subprocess.run([GROMA, "serve", *options], stdin=subprocess.DEVNULL, capture_output=True, cwd=ROOT,
                                     timeout=WAIT)
            self.assertEqual(outcome.returncode, code, options)
            self.assertEqual(outcome.stdout, b"")
            self.assertTrue(outcome.stderr)

    def test_prompt_has_the_language_and_the_facts(self) -> None:
        def prompt(*options: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run([GROMA, "prompt", *options], capture_output=True, text=True, cwd=self.root, timeout=WAIT)

        language = prompt().stdout
        self.assertIn("REFERENCE CARD", language)
        self.assertNotIn("APPLICATION:", language)
        facts = prompt("--app", "app.json:n=4000", "--machine", "lassen:nodes=2").stdout
        self.assertTrue(facts.startswith(language.partition("\nCOMMANDS")[0].rstrip()[:2000]))
        for expected in ["MACHINE: 2 nodes", "APPLICATION: ", " task_5", "groma run my.mapper --app app.json:n=4000 "
                         "--machine lassen:nodes=2"]:
            self.assertIn(expected, facts)
        self.assertNotIn(str(self.root), facts)
        self.assertEqual(prompt("--app", "canon").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
