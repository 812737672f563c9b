"""What the drivers of the peers share: the settings of a run, its log, the evaluator and the chat model.

A run is one search by one peer. Its folder has `settings.json` and `log.jsonl`. The log gets a line for each
attempt (`begin`), each answered question (`question`) and each judged mapping (`evaluation`). A run that was
broken off starts again from its first step, with the replies and results of the log: it asks no question and
runs no mapping twice, as long as the peer repeats its steps.
"""
import dataclasses
import fcntl
import ipaddress
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
from typing import Any

KEY_VARIABLE = "GROMA_API_KEY"
OBJECTIVE = (
    "Write a mapping program for a task-based parallel application. It says which processors run each task, "
    "which memory holds each region, how the data lies there, and where the points of index launches go. "
    "Minimise the simulated run time of the application. The score is 1 / (run time in s), and 0 for a "
    "mapping that cannot run."
)
SPARE_SECONDS = 60  # beyond the time limit that `groma run` itself keeps


class RunError(Exception):
    """A search cannot go on: the endpoint fails, or the command `groma` does."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of a run. All paths are absolute."""

    groma: str
    app: str
    machine: str
    start: str  # the file with the mapping to begin with
    background: str  # the file with what a peer tells its model about the language and the application
    evaluations: int
    seed: int
    endpoint: str | None
    model: str | None
    temperature: float
    reply_tokens: int
    run_seconds: float  # the limit for one simulated run
    folder: str

    @staticmethod
    def of(path: str) -> "Settings":
        return Settings(**json.loads(pathlib.Path(path).read_text(encoding="utf-8")))

    def log(self) -> pathlib.Path:
        return pathlib.Path(self.folder) / "log.jsonl"

    def start_text(self) -> str:
        return pathlib.Path(self.start).read_text(encoding="utf-8")

    def background_text(self) -> str:
        return pathlib.Path(self.background).read_text(encoding="utf-8")


@dataclasses.dataclass
class Outcome:
    """What a run reached so far."""

    evaluations: int = 0
    unusable: int = 0  # replies and requests that gave no new mapping; they count as evaluations
    failed: int = 0  # mappings that did not run
    questions: int = 0
    tokens: int = 0
    # For each improvement: the evaluations after which it was known, its seconds, and the mapping.
    improvements: list[tuple[int, float, str]] = dataclasses.field(default_factory=list)


def entries_of(path: pathlib.Path) -> list[dict[str, Any]]:
    """Returns the lines of a log. An incomplete line, left by a crash, is skipped."""
    entries = []
    for line in path.read_text(encoding="utf-8").split("\n") if path.exists() else []:
        try:
            entries.append(json.loads(line))
        except ValueError:
            continue
    return entries


def outcome_of(path: pathlib.Path) -> Outcome:
    """Returns what the last attempt in a log reached.

    A reply after which no mapping is judged counts as an evaluation, as in `groma tune --compare`. A line
    `evaluation` may give its number, if the peer asked for known mappings in between. The line `counted` gives
    the number of all evaluations of such a peer.
    """
    outcome, is_open, best = Outcome(), False, math.inf
    for entry in entries_of(path):
        if entry["event"] == "begin":
            outcome, is_open, best = Outcome(), False, math.inf
        elif entry["event"] == "question":
            if is_open:
                outcome.evaluations += 1
                outcome.unusable += 1
            is_open = True
            outcome.questions += 1
            outcome.tokens += entry["tokens"]
        elif entry["event"] == "evaluation":
            is_open = False
            number = entry.get("number") or outcome.evaluations + 1
            outcome.unusable += number - outcome.evaluations - 1
            outcome.evaluations = number
            if entry["seconds"] is None:
                outcome.failed += 1
            elif entry["seconds"] < best:
                best = entry["seconds"]
                outcome.improvements.append((outcome.evaluations, best, entry["mapping"]))
        elif entry["event"] == "counted":
            outcome.unusable += entry["number"] - outcome.evaluations
            outcome.evaluations = entry["number"]
    if is_open:
        outcome.evaluations += 1
        outcome.unusable += 1
    return outcome


class RunLog:
    """Appends to the log of a run, and knows the replies and results of all its attempts."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._results: dict[str, dict[str, Any]] = {}
        self._replies: dict[str, list[dict[str, Any]]] = {}
        self._asked: dict[str, int] = {}
        for entry in entries_of(path):
            self._remember(entry)

    def _remember(self, entry: dict[str, Any]) -> None:
        if entry["event"] == "evaluation":
            self._results[entry["mapping"]] = entry
        elif entry["event"] == "question" and not entry["replayed"]:
            self._replies.setdefault(json.dumps(entry["messages"]), []).append(entry)

    def append(self, entry: dict[str, Any]) -> None:
        text = self._path.read_bytes() if self._path.exists() else b""
        gap = "\n" if text and not text.endswith(b"\n") else ""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(gap + json.dumps(entry) + "\n")
        self._remember(entry)

    def result_of(self, mapping: str) -> dict[str, Any] | None:
        return self._results.get(mapping)

    def next_reply_to(self, messages: list[dict[str, str]]) -> dict[str, Any] | None:
        """Returns the recorded reply to the n-th question with these messages, if there is one."""
        key = json.dumps(messages)
        number = self._asked.get(key, 0)
        self._asked[key] = number + 1
        replies = self._replies.get(key, [])
        return replies[number] if number < len(replies) else None


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a mapping: its seconds, None if it does not run, and what the guide says about it."""

    seconds: float | None
    feedback: str

    @property
    def score(self) -> float:
        return 0.0 if self.seconds is None else 1 / self.seconds


def run_command(words: list[str], text: str, limit_s: float) -> tuple[int | None, str, str]:
    """Runs a command without the key of the endpoint in its environment.

    Returns the exit code (None: it was killed at its time limit), the output and the errors.
    """
    environment = {name: value for name, value in os.environ.items() if name != KEY_VARIABLE}
    with subprocess.Popen(words, env=environment, text=True, encoding="utf-8", errors="replace",
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as child:
        try:
            out, err = child.communicate(text, timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None, "", ""
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return child.returncode, out, err


class Evaluator:
    """Judges mappings with `groma run --json`, and notes each in the log."""

    def __init__(self, settings: Settings, log: RunLog) -> None:
        self._settings = settings
        self._log = log

    def evaluate(self, mapping: str, number: int | None = None) -> Result:
        """Judges a mapping. `number` is its evaluation's number, if others came in between."""
        known = self._log.result_of(mapping)
        result = Result(known["seconds"], known["feedback"]) if known else self._run(mapping)
        entry = {"event": "evaluation", "seconds": result.seconds, "repeated": known is not None,
                 "feedback": result.feedback, "mapping": mapping}
        self._log.append({**entry, "number": number} if number else entry)
        return result

    def _run(self, mapping: str) -> Result:
        settings = self._settings
        code, out, err = run_command(
            [settings.groma, "run", "-", "--app", settings.app, "--machine", settings.machine,
             "--time", str(settings.run_seconds), "--json"], mapping, settings.run_seconds + SPARE_SECONDS)
        if code is None:
            return Result(None, f"The simulated run takes longer than {settings.run_seconds:g} s.")
        if code not in (0, 1):
            raise RunError(f"`groma run` ended with {code}: {err.strip()}")
        try:
            report = json.loads(out)
        except ValueError:
            report = {}
        if "status" not in report:
            return Result(None, err.strip() or out.strip())
        # `groma run` finds its suggestions with up to 24 further runs, which would be evaluations that do not
        # count. The proposers of `groma tune` do not get them. Without them, the guide gives its own advice.
        report.update(suggest=[], fixes=[], tried=False)
        feedback = self._guide(report, mapping, code)
        if report["status"] != "ok":
            return Result(None, feedback)
        return Result(report["seconds"], f"The run takes {report['seconds']:.6g} s.\n{feedback}")

    def _guide(self, report: dict[str, Any], mapping: str, run_code: int) -> str:
        """Returns what `groma guide` says about a run."""
        with tempfile.TemporaryDirectory(prefix="groma-peers-") as folder:
            file = pathlib.Path(folder) / "mapping"
            file.write_text(mapping, encoding="utf-8")
            code, out, err = run_command(
                [self._settings.groma, "guide", "--profile", "-", "--program", str(file),
                 "--exit-code", str(run_code), "--json"], json.dumps(report), SPARE_SECONDS)
            if code != 0:
                raise RunError(f"`groma guide` failed: {err.strip()}")
        advice = json.loads(out.replace(f"{folder}/", ""))
        return "\n".join([advice["execution"], *(f"Explain: {text}" for text in advice["explain"]),
                          *(f"Suggest: {text}" for text in advice["suggest"])])


def is_this_computer(endpoint: str) -> bool:
    host = urllib.parse.urlsplit(endpoint).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def mistake_of_endpoint(endpoint: str) -> str | None:
    """Returns why the endpoint cannot be used, or None. The rules are those of docs/llm.md."""
    parts = urllib.parse.urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return f"`{endpoint}` is not the address of an endpoint: write http://HOST:PORT or https://HOST/v1"
    if parts.username is not None or parts.password is not None:
        return f"the endpoint has a name or password in it; a key goes into {KEY_VARIABLE}"
    if parts.scheme == "http" and KEY_VARIABLE in os.environ and not is_this_computer(endpoint):
        return "a key is not sent to another computer over plain http: write https://"
    return None


class Model:
    """Asks an OpenAI-compatible endpoint, and notes each reply in the log."""

    def __init__(self, settings: Settings, log: RunLog) -> None:
        import openai  # here, because OpenTuner's run does not need it

        assert settings.endpoint is not None
        self._openai = openai
        self._settings = settings
        self._log = log
        self._key = os.environ.get(KEY_VARIABLE, "")
        self.failure: str | None = None  # why the endpoint failed; no more questions are asked then
        # The names of the request's fields. A server that refuses one gets the other name, or none.
        self._fields: dict[str, Any] = {"max_tokens": settings.reply_tokens,
                                        "temperature": settings.temperature}
        local = is_this_computer(settings.endpoint)
        address = settings.endpoint.rstrip("/")
        self._client = openai.OpenAI(
            api_key=self._key or "EMPTY", timeout=600, max_retries=4,
            base_url=address if urllib.parse.urlsplit(address).path else address + "/v1",
            # No proxy for a server on this computer, and no redirect, as in `groma tune`.
            http_client=openai.DefaultHttpxClient(trust_env=not local, follow_redirects=False))
        self._model = settings.model

    def ask(self, messages: list[dict[str, str]]) -> str:
        """Returns the text of the reply, "" if it has none. Raises RunError if the endpoint fails."""
        if self.failure:
            raise RunError(self.failure)  # a peer that ignores errors does not wait for each question
        known = self._log.next_reply_to(messages)
        if known:
            self._log.append({**known, "replayed": True})
            return known["reply"]
        begin = time.monotonic()
        try:
            if not self._model:
                self._model = self._client.models.list().data[0].id
            reply = self._complete(messages)
            text = reply.choices[0].message.content or ""
        except (self._openai.OpenAIError, IndexError, AttributeError, TypeError) as error:
            self.failure = f"the endpoint failed: {self._hide_key(str(error) or repr(error))[:1000]}"
            self._log.append({"event": "failure", "why": self.failure})
            raise RunError(self.failure) from None
        text = self._hide_key(text)
        tokens = reply.usage.total_tokens if reply.usage else 0
        self._log.append({"event": "question", "replayed": False, "tokens": tokens or 0,
                          "elapsed_s": round(time.monotonic() - begin, 3), "messages": messages,
                          "reply": text})
        return text

    def _complete(self, messages: list[dict[str, str]]) -> Any:
        """Asks once; without a field that the server refuses, again."""
        while True:
            try:
                return self._client.chat.completions.create(model=self._model, messages=messages, **self._fields)
            except (self._openai.BadRequestError, self._openai.UnprocessableEntityError) as error:
                refused = getattr(error, "param", None)
                if refused not in self._fields:
                    raise
                limit = self._fields.pop(refused)
                if refused == "max_tokens":
                    self._fields["max_completion_tokens"] = limit

    def _hide_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def start_run() -> tuple[Settings, RunLog]:
    """Begins an attempt at the run whose settings the command line names."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} SETTINGS.json (benchmarks/peers/compare.py writes this file)")
    settings = Settings.of(sys.argv[1])
    _lock_for_ever(pathlib.Path(settings.folder) / "lock")
    log = RunLog(settings.log())
    log.append({"event": "begin"})
    return settings, log


def _lock_for_ever(path: pathlib.Path) -> None:
    """Locks a run until this process ends. Its caller may have been killed, and begin the run again."""
    file = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RunError("another process still makes this search: wait for it, or end it") from None
