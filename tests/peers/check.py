"""Runs benchmarks/peers/compare.py with real HTTP on loopback, and checks what it prints and writes.

    python3 check.py GROMA PYTHON [LLAMA_PYTHON]

GROMA is the command. PYTHON has the packages of benchmarks/peers/requirements.txt. If LLAMA_PYTHON, which has
those of tests/support/llama.txt, is given, llama.cpp's server with a model of random weights replies in one
comparison; in all others a scripted server does. The exit code is 1 if a check fails. Takes some two minutes.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
COMPARE = HERE.parents[1] / "benchmarks/peers/compare.py"
SUPPORT = HERE.parent / "support"
KEY = "peers-test-key"
ALL = ["openevolve", "gepa", "opentuner", "trace", "evolve", "hybrid", "guided"]
MODEL_PEERS = ["openevolve", "gepa", "trace"]
failures: list[str] = []


def expect(condition: bool, what: str, *details: object) -> None:
    print(("ok    " if condition else "WRONG ") + what, flush=True)
    if not condition:
        failures.append(what)
        print(*details, sep="\n", flush=True)


class Server:
    """A server process that prints its address and ends with its input."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def questions(self) -> int:
        with urllib.request.urlopen(self.address + "/count") as reply:
            return json.load(reply)


def stand_in(seconds: float = 0) -> Server:
    return Server(sys.executable, str(HERE / "stand_in.py"), KEY, str(seconds))


class Check:
    def __init__(self, groma: str, python: str, folder: pathlib.Path) -> None:
        self.words = [python, str(COMPARE), "--groma", groma, "--app", "cannon:size=small"]
        self.folder = folder

    def start(self, *options: str, key: str = KEY) -> subprocess.Popen[str]:
        environment = {**os.environ, "GROMA_API_KEY": key}
        return subprocess.Popen([*self.words, *options], env=environment, cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *options: str, key: str = KEY) -> tuple[int, str, str]:
        child = self.start(*options, key=key)
        out, err = child.communicate(timeout=600)
        return child.returncode, out, err

    def expect_searches(self, out: pathlib.Path, names: list[str], evaluations: int) -> None:
        document = json.loads((out / "results.json").read_text())
        for name, search in zip(names, document["searches"], strict=True):
            expect(search["name"] == name and search["evaluations"] == evaluations,
                   f"{name} used its {evaluations} evaluations", search)
            expect(all(search["best_after"].values()), f"{name} has a mapping that runs", search)

    def all_methods(self) -> None:
        out = self.folder / "all"
        with stand_in() as server:
            options = ["--endpoint", server.address, "--out", str(out), "--at", "3"]
            code, table, err = self.run(*options, "--evaluations", "8")
            expect(code == 0, "all methods run", code, table, err)
            lines = table.splitlines()
            expect(lines[0].startswith("| method | model | best after 3 | best after 8 |"), "the table's head", table)
            expect([line.split(" | ")[0][2:] for line in lines[2:]] == ALL, "the table's rows", table)
            self.expect_searches(out, ALL, 8)
            asked = server.questions()
            code, again, err = self.run(*options, "--evaluations", "8")
            expect((code, again) == (0, table), "a second call prints the same table", again, err)
            expect(server.questions() == asked, "a second call asks nothing", server.questions(), asked)
            code, table, err = self.run(*options, "--evaluations", "10", "--json", "--peers", "openevolve,gepa")
            expect(code == 0 and json.loads(table)["evaluations"] == 10, "a larger budget", table, err)
            self.expect_searches(out, ["openevolve", "gepa"], 10)
            expect(server.questions() == asked + 4, "a larger budget repeats no question", server.questions(), asked)
            code, _, err = self.run(*options, "--model", "another")
            expect(code == 1 and "another model" in err, "another model needs another folder", code, err)
        leaks = [path for path in out.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
        expect(not leaks, "no file has the key", leaks)

    def broken_off(self, name: str) -> None:
        out = self.folder / f"broken_{name}"
        with stand_in(seconds=0.2) as server:
            options = ["--endpoint", server.address, "--out", str(out), "--peers", name, "--evaluations", "12"]
            child = self.start(*options)
            deadline = time.monotonic() + 60
            while server.questions() < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            if name == "gepa":
                code, _, err = self.run(*options)
                expect(code == 1 and "another process" in err, "a search that still runs is locked", code, err)
            child.send_signal(signal.SIGTERM)
            child.communicate(timeout=60)
            time.sleep(0.5)
            before = server.questions()
            expect(child.returncode == 143 and before < 11, f"{name} is broken off", child.returncode, before)
            code, table, err = self.run(*options)
            expect(code == 0, f"{name} goes on", table, err)
            self.expect_searches(out, [name], 12)
            # The question that was open when the search was broken off is asked again.
            expect(server.questions() <= 12, f"{name} asks no question twice", server.questions())

    def mistakes(self) -> None:
        with stand_in() as server:
            options = ["--endpoint", server.address, "--evaluations", "3"]
            out = ["--out", str(self.folder / "mistakes")]
            for name in MODEL_PEERS:
                code, _, err = self.run(*options, *out, "--peers", name, key="another-secret")
                expect(code == 1 and "401" in err, f"{name} with a wrong key", code, err)
            code, _, err = self.run(*options, *out, "--peers", "gepa")
            expect(code == 0, "the right key afterwards", code, err)
            start = self.folder / "start.mapper"
            start.write_text("Task * GPU, CPU;\n")
            other = ["--out", str(self.folder / "start")]
            code, _, err = self.run(*options, *other, "--start", str(start), "--peers", "guided")
            expect(code == 1 and "[no-variant]" in err, "a start that does not run", code, err)
            code, _, err = self.run(*options, *out, "--peers", "nosuch")
            expect(code == 2 and "nosuch" in err, "an unknown peer", code, err)
        code, _, err = self.run("--evaluations", "3", *out, "--peers", "gepa")
        expect(code == 2 and "--endpoint" in err, "no endpoint", code, err)
        code, _, err = self.run("--endpoint", "http://192.0.2.1/v1", *out, "--peers", "gepa")
        expect(code == 2 and "plain http" in err, "a key over plain http", code, err)

    def llama(self, python: str) -> None:
        model, out = self.folder / "tiny.gguf", self.folder / "llama"
        subprocess.run([python, str(SUPPORT / "tiny_model.py"), str(model)], check=True)
        with Server(python, str(SUPPORT / "serve_llama.py"), str(model), KEY, "60000") as server:
            code, table, err = self.run("--endpoint", server.address, "--out", str(out), "--peers",
                                        ",".join(ALL), "--evaluations", "3", "--reply-tokens", "60")
            expect(code == 0, "llama.cpp's server", code, table, err)
            print(table)
            self.expect_searches(out, ALL, 3)

    def gplearn(self, groma: str, python: str) -> None:
        """Runs symbolic regression twice, and puts its results into the table of derivations."""
        out = self.folder / "gplearn.json"
        words = [python, str(COMPARE.with_name("run_gplearn.py")), "--groma", groma, "--out", str(out), "--points",
                 "2000", "--population", "50", "--generations", "2", "--domains", "triangle"]
        first = subprocess.run(words, capture_output=True, text=True)
        expect(first.returncode == 0, "gplearn runs", first.stdout, first.stderr)
        again = subprocess.run(words, capture_output=True, text=True)
        expect(again.returncode == 0 and again.stdout == "", "gplearn repeats no fit", again.stdout, again.stderr)
        table = subprocess.run([groma, "domain", "derive", "--table", "--points", "2000", "--generations", "1",
                                "--gplearn", str(out), "--json"], capture_output=True, text=True)
        expect(table.returncode == 0, "the table is printed", table.stderr)
        rows = json.loads(table.stdout)["rows"]
        fits = [row["gplearn"] for row in rows if row["domain"] == "triangle"]
        expect(len(fits) == 3 and all(fit and fit["points"] == 2000 for fit in fits), "the table has gplearn's fits",
               rows)


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="groma-peers-") as folder:
        # Not resolved: the folder of a virtual environment tells Python where its packages are.
        check = Check(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), pathlib.Path(folder))
        check.all_methods()
        for name in MODEL_PEERS:
            check.broken_off(name)
        check.mistakes()
        check.gplearn(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
        if len(sys.argv) > 3:
            check.llama(os.path.abspath(sys.argv[3]))
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
