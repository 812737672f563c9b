#!/usr/bin/env python3
"""Compares OpenEvolve, GEPA and OpenTuner with proposers of `groma tune`: the best after 10, 30, 100 evaluations.

Each search starts with the same mapping, has the same number of evaluations, and asks the same model. Prints a
Markdown table. The folder of --out gets `table.md`, `results.json` and the best mapping of each search. If the
folder has finished searches, they are not made again, and a search that was broken off goes on. The key of the
endpoint is in the environment variable GROMA_API_KEY (docs/llm.md).
"""
import argparse
import dataclasses
import importlib.util
import json
import math
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # a cache beside the sources would change the hash of the sources
sys.path.append(str(HERE))
from peer_run import (RunError, Settings, mistake_of_endpoint, outcome_of,  # noqa: E402
                      run_command)

EXAMPLES = """examples:
  build/peers/bin/python benchmarks/peers/compare.py --app circuit --endpoint http://127.0.0.1:8080 --out peers
  build/peers/bin/python benchmarks/peers/compare.py --app my.json --machine lassen:nodes=4 --seeds 3 \\
      --endpoint https://api.openai.com/v1 --model gpt-4o --out peers
  build/peers/bin/python benchmarks/peers/compare.py --peers opentuner,guided --app cannon --out quick  # no model

exit codes: 0: all searches are finished; 1: an input is wrong, or a search failed; 2: wrong usage; 130: Ctrl-C
"""
PEERS = ["openevolve", "gepa", "opentuner"]  # the names of their packages
PROPOSERS = ["trace", "evolve", "hybrid", "guided", "opro", "scientist", "anneal", "random"]
WITHOUT_MODEL = {"opentuner", "guided", "anneal", "random"}
MODEL_SETTINGS = ["endpoint", "model", "temperature", "reply_tokens"]
DEFAULT = "openevolve,gepa,opentuner,trace,evolve,hybrid,guided"


class InputError(Exception):
    """An input is wrong, or something outside failed."""


@dataclasses.dataclass
class Search:
    """A finished search, as it is kept in `result.json`."""

    name: str
    seed: int
    budget: int
    evaluations: int
    unusable: int  # replies that gave no new mapping
    questions: int
    tokens: int
    improvements: list[tuple[int, float]]  # for each: the evaluations after which it was known, its seconds
    mapping: str

    def best_after(self, evaluations: int) -> float:
        """Returns the smallest seconds so far; infinity if no mapping ran."""
        return min((seconds for number, seconds in self.improvements if number <= evaluations),
                   default=math.inf)


def replace_file(path: pathlib.Path, text: str) -> None:
    """Writes a file beside the path, and renames it."""
    beside = path.with_name(path.name + ".new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def parse_arguments() -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=summary + "\n\n" + rest, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=DEFAULT, metavar="LIST",
                        help=f"names with commas between them, of {', '.join([*PEERS, *PROPOSERS])} "
                             f"(default: {DEFAULT})")
    parser.add_argument("--app", required=True, help="the application, as for `groma run`")
    parser.add_argument("--machine", default="p100x4", help="the machine, as for `groma run` (p100x4)")
    parser.add_argument("--evaluations", type=positive, default=100, metavar="N",
                        help="the evaluations of each search, the start among them (100)")
    parser.add_argument("--at", type=numbers, default=[10, 30, 100], metavar="N,N,...",
                        help="the evaluations after which the table shows the best (10,30,100)")
    parser.add_argument("--seeds", type=positive, default=1, metavar="N",
                        help="the number of searches with each method; the table shows their median (1)")
    parser.add_argument("--start", type=pathlib.Path, default=HERE / "start.mapper", metavar="FILE",
                        help="the mapping with which each search begins; it must run "
                             "(benchmarks/peers/start.mapper)")
    parser.add_argument("--endpoint", metavar="URL", help="an OpenAI-compatible endpoint")
    parser.add_argument("--model", metavar="M", help="the model (the first one that the endpoint lists)")
    parser.add_argument("--temperature", type=float, default=0.7, metavar="X",
                        help="the sampling temperature (0.7)")
    parser.add_argument("--reply-tokens", type=positive, default=4096, metavar="N",
                        help="the limit on the tokens of a reply (4096)")
    parser.add_argument("--run-seconds", type=positive, default=60, metavar="T",
                        help="the limit for one simulated run of a peer's mapping (60)")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR", help="the folder for the results")
    parser.add_argument("--groma", metavar="FILE", help="the command (`groma` in PATH, or else in build/release)")
    parser.add_argument("--json", action="store_true", help="print results.json instead of the table")
    options = parser.parse_args()
    options.peers = list(dict.fromkeys(name for name in options.peers.split(",") if name))
    unknown = [name for name in options.peers if name not in PEERS and name not in PROPOSERS]
    if unknown or not options.peers:
        parser.error(f"--peers: there is no `{', '.join(unknown)}`; there are {', '.join([*PEERS, *PROPOSERS])}")
    asks = [name for name in options.peers if name not in WITHOUT_MODEL]
    if asks and not options.endpoint:
        parser.error(f"{', '.join(asks)} ask a model: give --endpoint")
    if not asks:
        options.endpoint = None
    mistake = mistake_of_endpoint(options.endpoint) if options.endpoint else None
    if mistake:
        parser.error(mistake)
    return options


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number above 0")
    return int(text)


def numbers(text: str) -> list[int]:
    return sorted({positive(word) for word in text.split(",")})


def find_groma(wanted: str | None) -> str:
    built = HERE.parents[1] / "build/release/examples/driver/groma"
    found = shutil.which(wanted or "groma") or (None if wanted else shutil.which(str(built)))
    if not found:
        raise InputError(f"there is no command `{wanted or 'groma'}`: build it, or name it with --groma")
    return os.path.abspath(found)


class Comparison:
    """The searches of a folder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder = options.out.resolve()
        self.groma = find_groma(options.groma)
        # A file of an application or of a machine is read by processes in other folders.
        self.app, self.machine = (absolute(text) for text in (options.app, options.machine))

    def prepare(self) -> None:
        """Checks the inputs, and writes what all searches read. Refuses a folder with other settings."""
        options = self.options
        try:
            start = options.start.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read `{options.start}`: {error}") from None
        code, _, err = run_command([self.groma, "run", "-", "--app", self.app, "--machine", self.machine,
                                    "--time", str(options.run_seconds)], start, options.run_seconds + 60)
        if code != 0:
            raise InputError(f"the mapping to begin with does not run:\n{err.strip()}")
        if any(name in PEERS for name in options.peers):
            self.check_packages()
        settings = {"app": self.app, "machine": self.machine, "start": start, "endpoint": options.endpoint,
                    "model": options.model, "temperature": options.temperature,
                    "reply_tokens": options.reply_tokens, "run_seconds": options.run_seconds}
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "settings.json"
        if file.exists():
            known = json.loads(file.read_text(encoding="utf-8"))
            has_asked = known["endpoint"] is not None
            for name in MODEL_SETTINGS:
                if not options.endpoint:  # this call asks no model, and keeps what earlier calls used
                    settings[name] = known[name]
                elif not has_asked:
                    known[name] = settings[name]
            differing = [name for name in settings if settings[name] != known.get(name)]
            if differing:
                raise InputError(f"`{options.out}` has searches with another {', '.join(differing)}: "
                                 "name another folder with --out")
        replace_file(self.folder / "start.mapper", start)
        replace_file(self.folder / "background.txt", self.background())
        replace_file(file, json.dumps(settings, indent=1) + "\n")

    def check_packages(self) -> None:
        for name in self.options.peers:
            if name in PEERS and importlib.util.find_spec(name) is None:
                raise InputError(f"`{sys.executable}` has no package `{name}`: install "
                                 "benchmarks/peers/requirements.txt, and use the Python that has it")

    def background(self) -> str:
        """Returns what a model has to know: the language, the machine and the application.

        These are the parts of the prompt of `groma write`, which also `groma tune` shows its model: all but the
        first paragraph of the system's message, and what stands above the sentence.
        """
        sentence = "the sentence"
        request = self.folder / "background.request"
        os.environ["GROMA_PEERS_REQUEST"] = str(request)
        _, _, err = run_command(
            [self.groma, "write", sentence, "--app", self.app, "--machine", self.machine, "--repairs", "0",
             "--endpoint", 'exec:cat >"$GROMA_PEERS_REQUEST" && echo "Task * GPU;"'], "", 60)
        try:
            system, user = (message["content"] for message in json.loads(request.read_text())["messages"])
            request.unlink()
        except (OSError, ValueError):
            raise InputError(f"`groma write` failed: {err.strip()}") from None
        language = system.partition("\n\n")[2]
        application = user.rpartition(f"\n{sentence}\n")[0].rpartition("\n")[0]
        return f"{language.strip()}\n\n{application.strip()}\n"

    def run_all(self) -> list[Search]:
        searches, failures = [], []
        for name in self.options.peers:
            for seed in range(1, self.options.seeds + 1):
                try:
                    searches.append(self.search(name, seed))
                except InputError as error:
                    print(f"{name}.{seed}: {error}", file=sys.stderr)
                    failures.append(f"{name}.{seed}")
        if failures:
            raise InputError(f"not finished: {', '.join(failures)}. The same command goes on with them.")
        return searches

    def search(self, name: str, seed: int) -> Search:
        folder = self.folder / f"{name}.{seed}"
        result = folder / "result.json"
        if result.exists():
            search = Search(**json.loads(result.read_text(encoding="utf-8")))
            if search.budget >= self.options.evaluations:
                return search
        folder.mkdir(exist_ok=True)
        print(f"{name}.{seed}: searching", file=sys.stderr)
        search = self.run_peer(name, seed, folder) if name in PEERS else self.run_proposer(name, seed, folder)
        replace_file(folder / "best.mapper", search.mapping)
        replace_file(result, json.dumps(dataclasses.asdict(search)) + "\n")
        return search

    def run_peer(self, name: str, seed: int, folder: pathlib.Path) -> Search:
        options = self.options
        settings = Settings(
            groma=self.groma, app=self.app, machine=self.machine, start=str(self.folder / "start.mapper"),
            background=str(self.folder / "background.txt"), evaluations=options.evaluations, seed=seed,
            endpoint=options.endpoint, model=options.model, temperature=options.temperature,
            reply_tokens=options.reply_tokens, run_seconds=options.run_seconds, folder=str(folder))
        replace_file(folder / "settings.json", json.dumps(dataclasses.asdict(settings), indent=1) + "\n")
        words = [sys.executable, str(HERE / f"run_{name}.py"), str(folder / "settings.json")]
        code = run_child(words, folder, folder / "output.txt")
        outcome = outcome_of(settings.log())
        if code != 0 or outcome.evaluations < options.evaluations:
            raise InputError(f"it ended with {code} after {outcome.evaluations} evaluations: "
                             f"{last_lines(folder / 'output.txt', 3)}")
        best = outcome.improvements[-1][2] if outcome.improvements else ""
        return Search(name, seed, options.evaluations, outcome.evaluations, outcome.unusable,
                      outcome.questions, outcome.tokens,
                      [(number, seconds) for number, seconds, _ in outcome.improvements], best)

    def run_proposer(self, name: str, seed: int, folder: pathlib.Path) -> Search:
        options, work, output = self.options, folder / "search", folder / "events.jsonl"
        words = [self.groma, "tune", "--evaluations", str(options.evaluations), "--json"]
        asks_model = name not in WITHOUT_MODEL
        if (work / "journal.jsonl").exists():
            words += ["--resume", str(work)]
        else:
            words += ["--reply-tokens", str(options.reply_tokens)] if asks_model else []
            words += ["--compare", "--proposer", name, "--seed", str(seed), "--app", self.app,
                      "--machine", self.machine, "--start", str(self.folder / "start.mapper"), "--out", str(work)]
        if asks_model:
            words += ["--endpoint", options.endpoint, "--temperature", str(options.temperature)]
            words += ["--model", options.model] if options.model else []
        code = run_child(words, folder, output, folder / "output.txt")
        event = parse_event(last_lines(output, 1))
        if event.get("event") != "end" or event["end"] in ("model", "stopped"):
            why = event.get("why") or event.get("message") or last_lines(folder / "output.txt", 3)
            raise InputError(f"`groma tune` ended with {code}: {why}")
        spent = event["spent"]
        return Search(name, seed, options.evaluations, spent["evaluations"], spent["unusable"],
                      spent["model_calls"], spent["tokens"], [tuple(pair) for pair in event["trajectory"]],
                      event.get("best", {}).get("text", ""))


def absolute(text: str) -> str:
    """Returns an application or machine whose file is named by an absolute path."""
    file, colon, parameters = text.partition(":")
    return os.path.abspath(file) + colon + parameters if os.path.isfile(file) else text


def last_lines(path: pathlib.Path, count: int) -> str:
    lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return "\n".join(lines[-count:]) or "it printed nothing"


def parse_event(line: str) -> dict[str, Any]:
    try:
        return json.loads(line)
    except ValueError:
        return {}


def run_child(words: list[str], folder: pathlib.Path, out: pathlib.Path,
              err: pathlib.Path | None = None) -> int:
    """Runs a search with its output in files. Its processes end with it, and with this program."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    errors = err.open("wb") if err else subprocess.STDOUT
    with out.open("wb") as output, subprocess.Popen(
            words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
            start_new_session=True) as child:
        try:
            return child.wait()
        finally:
            try:
                os.killpg(child.pid, signal.SIGTERM if child.poll() is None else signal.SIGKILL)
                child.wait(timeout=10)
                os.killpg(child.pid, signal.SIGKILL)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass


def text_of(seconds: float) -> str:
    """Returns a time with four digits."""
    if math.isinf(seconds):
        return "none runs"
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.4g} {unit}"
    raise AssertionError


def columns_of(options: argparse.Namespace) -> list[int]:
    """Returns the evaluations after which the table shows the best, the last of them among them."""
    return sorted({number for number in options.at if number < options.evaluations} | {options.evaluations})


def table_of(searches: list[Search], options: argparse.Namespace) -> str:
    """Returns the table: for each method the median of its searches, and with several their range."""
    columns = columns_of(options)
    head = ["method", "model", *(f"best after {number}" for number in columns), "evaluations",
            "no new mapping", "questions", "tokens"]
    rows = []
    for name in options.peers:
        own = [search for search in searches if search.name == name]
        cells = [name, "no" if name in WITHOUT_MODEL else "yes"]
        for number in columns:
            best = sorted(search.best_after(number) for search in own)
            cell = text_of(statistics.median_low(best))
            cells.append(cell if len(best) == 1 else f"{cell} ({text_of(best[0])} to {text_of(best[-1])})")
        for field in ("evaluations", "unusable", "questions", "tokens"):
            cells.append(f"{statistics.median_low([getattr(search, field) for search in own])}")
        rows.append(cells)
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def json_of(searches: list[Search], options: argparse.Namespace) -> str:
    document = {
        "app": options.app, "machine": options.machine, "evaluations": options.evaluations,
        "searches": [{
            "name": search.name, "seed": search.seed,
            "best_after": {str(number): best if math.isfinite(best := search.best_after(number)) else None
                           for number in columns_of(options)},
            **{field: getattr(search, field) for field in (
                "evaluations", "unusable", "questions", "tokens", "improvements", "mapping")},
        } for search in searches],
    }
    return json.dumps(document, indent=1) + "\n"


def leave(number: int, _: object) -> None:
    """Ends the program after Ctrl-C or SIGTERM, so that `finally` blocks run."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main() -> None:
    options = parse_arguments()
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    try:
        comparison = Comparison(options)
        comparison.prepare()
        searches = comparison.run_all()
        table, document = table_of(searches, options), json_of(searches, options)
        replace_file(comparison.folder / "table.md", table)
        replace_file(comparison.folder / "results.json", document)
    except (InputError, RunError, OSError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        sys.exit(1)
    print(document if options.json else table, end="")


if __name__ == "__main__":
    main()
