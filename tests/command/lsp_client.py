"""A small client of the Language Server Protocol, with the standard library alone."""
import json
import pathlib
import queue
import subprocess
import threading
import time

SECONDS = 20  # for an answer, on a busy computer


class Client:
    """A server in a process of its own, and what it sent."""

    def __init__(self, command: list[str], **options: object) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, **options)
        self._messages: queue.Queue = queue.Queue()
        self._others: list[dict] = []
        self._last_id = 0
        self.errors = b""
        self._threads = [threading.Thread(target=target, daemon=True)
                         for target in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline().strip()):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                break
            self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)

    def _read_errors(self) -> None:
        self.errors = self.process.stderr.read()

    def send_bytes(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        text = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def begin(self, method: str, params: object = None) -> int:
        """Sends a request and returns its id."""
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params or {}})
        return self._last_id

    def wait(self, wanted, seconds: float = SECONDS) -> dict:
        """Returns the first message that was not returned yet and for which `wanted` is true."""
        for i, message in enumerate(self._others):
            if wanted(message):
                return self._others.pop(i)
        end = time.monotonic() + seconds
        while True:
            try:
                message = self._messages.get(timeout=max(0.001, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no such message; there are: {self._others}") from None
            if message is None:
                raise AssertionError(f"the server ended; {self._others}")
            if wanted(message):
                return message
            self._others.append(message)

    def answer(self, number: int) -> dict:
        return self.wait(lambda m: m.get("id") == number and "method" not in m)

    def request(self, method: str, params: object = None) -> object:
        message = self.answer(self.begin(method, params))
        assert "error" not in message, message
        return message["result"]

    def error(self, method: str, params: object = None) -> dict:
        message = self.answer(self.begin(method, params))
        assert "error" in message, message
        return message["error"]

    def published(self, uri: str, wanted=lambda params: True) -> list[dict]:
        """Waits for diagnostics of the document, drops those before them, and returns them."""
        return self.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics"
                         and m["params"]["uri"] == uri and wanted(m["params"]))["params"]["diagnostics"]

    def initialize(self, capabilities: dict | None = None, **params: object) -> dict:
        result = self.request("initialize", {"processId": None, "rootUri": None,
                                             "capabilities": capabilities or {}, **params})
        self.notify("initialized")
        return result

    def open(self, path: pathlib.Path, text: str, version: int = 1) -> str:
        uri = path.as_uri()
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "groma", "version": version, "text": text}})
        return uri

    def change(self, uri: str, version: int, *changes: dict) -> None:
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def at(self, method: str, uri: str, line: int, character: int, **more: object) -> object:
        return self.request("textDocument/" + method, {
            "textDocument": {"uri": uri}, "position": {"line": line, "character": character}, **more})

    def end(self) -> int:
        """Ends the session properly and returns the exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.finish()

    def finish(self) -> int:
        """Waits for the end of the process."""
        self.process.stdin.close()
        code = self.process.wait(SECONDS)
        for thread in self._threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code
