"""Real NumPy programs under mappings: the same numbers as without one, or a refusal with a place.

    python3 check.py GROMA LEGATE [--programs NAME,..] [--mappings N] [--first SEED] [--done FILE]

GROMA is the command, built with the Legion of LEGATE, the launcher of the packages in requirements.txt.
Each program in this folder is run as it is, recorded, tuned with --verify, and run under N drawn mappings
of its tasks. The exit code is 1 if a line differs, a run fails without a diagnostic about a statement, fewer
than half of the drawn mappings run, or the tuner recommends a mapping that computes something else; this script
compares the lines itself, too.

With --done each finished step is appended to a file, with its failures: a program's recording, its tuning,
each drawn mapping. A run with the same file does not do these steps again.
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # a cache beside the sources would change the hash of the sources
sys.path.append(str(HERE.parent / "support"))
from resume import FinishedSteps, exit_on_signals  # noqa: E402

LEGION_MESSAGE = re.compile(r"\[\d+ - [0-9a-f]+\]")
# What Groma itself says on standard error: its own lines, diagnostics and the statements they name.
GROMA_MESSAGE = re.compile(r"groma: |(error|warning|note|help): |\S*\.mapper:|\s*\d* \| ")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\bnan\b|\binf\b)")
FLAGS = ["--cpus", "2", "--gpus", "0", "--sysmem", "1000"]
MACHINE = "nodes=1,gpu=0,cpu=2,omp=0,sysmem=1000,sockmem=0,rdmem=0"
FUNCTIONS = """cpus = Machine(CPU);
def block(Task t) { return cpus[0, t.ipoint[0] * cpus.size[1] / t.ispace[0]]; }
def cyclic(Task t) { return cpus[0, t.ipoint[0] % cpus.size[1]]; }
def last(Task t) { return cpus[0, cpus.size[1] - 1]; }
"""
REFUSAL = re.compile(r"^\S*drawn\.mapper:\d+:\d+: error: .*\[([a-z-]+)\]$", re.MULTILINE)
CATALOGUE = HERE.parents[1] / "include/groma/catalogue.inc"
KNOWN_IDS = set(re.findall(r'GROMA_DIAGNOSTIC\(\s*\w+,\s*"([a-z-]+)"', CATALOGUE.read_text()))


def draw(app, seed):
    """A mapping of a few statements that name the program's tasks and regions."""
    dice = random.Random(seed)
    tasks = ["*"] * 3 + [json.dumps(task["name"]) for task in app["tasks"]]

    def task():
        return dice.choice(tasks)

    def region():
        return dice.choice(["*", "*", "0", "1", "2"])

    def statement():
        kind = dice.randrange(9)
        if kind == 0:
            return f"Task {task()} {dice.choice(['CPU', 'GPU, CPU', 'OMP, CPU'])}"
        if kind in (1, 2):
            memories = dice.choice(["SYSMEM", "RDMEM, SYSMEM", "VIRTUAL, SYSMEM", "ZCMEM, SYSMEM"])
            return f"Region {task()} {region()} {dice.choice(['*', 'CPU'])} {memories}"
        if kind in (3, 4):
            layout = dice.choice(
                ["SOA", "AOS", "C_order", "F_order", "F_order AOS", "Align==64", "Exact", "Compact"]
            )
            return f"Layout {task()} {region()} {dice.choice(['*', 'CPU', 'SYSMEM'])} {layout}"
        if kind == 5:
            return f"InstanceLimit {task()} {dice.choice([1, 2])}"
        if kind == 6:
            return f"CollectMemory {task()} {region()}"
        if kind == 7:
            name = dice.choice(["CPU", task()])
            return f"IndexTaskMap {name} {dice.choice(['block', 'cyclic', 'last'])}"
        return dice.choice(
            [f"SingleTaskMap {task()} last", f"TaskSteal {task()} CPU SAME_NODE"]
        )

    return FUNCTIONS + "".join(statement() + ";\n" for _ in range(dice.randint(1, 3)))


def lines_of(output):
    """What the program printed, without what Legion and Groma say."""
    return [
        line.rstrip()
        for line in output.splitlines()
        if line.strip() and not LEGION_MESSAGE.match(line) and not GROMA_MESSAGE.match(line)
    ]


def same_number(one, other):
    """Whether two numbers are the same: integers exactly, others but for a millionth."""
    if one == other:
        return True
    if one.lstrip("+-").isdigit() and other.lstrip("+-").isdigit():
        return int(one) == int(other)
    return math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-9)


def same_line(one, other):
    """Whether the text between the numbers is the same, and the numbers are."""
    first, second = NUMBER.findall(one), NUMBER.findall(other)
    return (
        NUMBER.split(one) == NUMBER.split(other)
        and len(first) == len(second)
        and all(map(same_number, first, second))
    )


def same_output(expected, output):
    """Whether both have the same lines in the same order. Nothing is not the same as nothing.

    Groma's own comparison is not used, since it is what is tested.
    """
    first, second = lines_of(expected), lines_of(output)
    return len(first) > 0 and len(first) == len(second) and all(map(same_line, first, second))


def is_refusal(err):
    """Whether a failed run gave a diagnostic of Groma about a statement of the drawn mapping."""
    return bool(set(REFUSAL.findall(err)) & KNOWN_IDS)


class Check:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.failures = []
        self.done = FinishedSteps(options.done)
        self.environment = dict(os.environ)
        # legate starts the `python` that PATH finds first, which must be the one of its own packages.
        packages = pathlib.Path(options.legate).parent
        self.environment["PATH"] = f"{packages}:{self.environment.get('PATH', '')}"
        stand_in = pathlib.Path(options.groma).resolve().parents[2] / "lib/groma/no_driver"
        if stand_in.is_dir():
            path = self.environment.get("LD_LIBRARY_PATH", "")
            self.environment["LD_LIBRARY_PATH"] = f"{stand_in}:{path}" if path else str(stand_in)

    def run(self, *words):
        """Returns the exit code, the output and the errors. Ends the whole process group."""
        with subprocess.Popen(
            words,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as child:
            try:
                out, err = child.communicate(timeout=1200)
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        return child.returncode, out, err

    def step(self, name, work):
        """Returns the value of a step, or None if it could not be done.

        Failures of a step that was done in an earlier run count, too.
        """

        def with_failures():
            before = len(self.failures)
            value = work()
            return None if value is None else [value, self.failures[before:]]

        is_new = name not in self.done
        result = self.done.value_of(name, with_failures)
        if result is None:
            return None
        value, failures = result
        if not is_new:
            self.failures += failures
            print("".join(f"{failure} (found before)\n" for failure in failures), end="", flush=True)
        return value

    def fail(self, program, what, *details):
        self.failures.append(f"{program}: {what}")
        print(f"{program}: {what}", *details, sep="\n  ", flush=True)

    def check(self, path):
        name = path.stem
        legate = [self.options.legate, *FLAGS, str(path)]
        recorded = self.folder / f"{name}.json"
        recording = self.step(f"{name}: record", lambda: self.record(name, recorded, legate))
        if recording is None:
            return
        out, text = recording
        recorded.write_text(text)
        app = json.loads(text)
        self.step(f"{name}: tune", lambda: self.tune(name, recorded, legate, out))
        seeds = range(self.options.first, self.options.first + self.options.mappings)
        results = [
            self.step(f"{name}: seed {seed}", lambda: self.run_drawn(name, app, seed, legate, out))
            for seed in seeds
        ]
        same, refused = results.count("same"), results.count("refused")
        print(f"{name}: {len(app['tasks'])} tasks, {same} the same, {refused} refused", flush=True)
        if 2 * same < self.options.mappings:
            self.fail(name, f"only {same} of {self.options.mappings} mappings ran")

    def record(self, name, recorded, legate):
        """Returns what the program prints, and the text of the recorded application; None if it fails."""
        code, out, err = self.run(*legate)
        if code != 0:
            return self.fail(name, "it does not run by itself", out, err)
        code, _, err = self.run(self.options.groma, "record", "--out", str(recorded), "--", *legate)
        if code != 0:
            return self.fail(name, "it cannot be recorded", err)
        return out, recorded.read_text()

    def run_drawn(self, name, app, seed, legate, expected):
        """Runs the program under a drawn mapping; returns "same", "refused" or "failed"."""
        mapping = self.folder / "drawn.mapper"
        mapping.write_text(draw(app, seed))
        code, mapped, err = self.run(
            self.options.groma, "run", "--map", str(mapping), "--checks", "always", "--timeout", "120",
            "--json", "--", *legate,
        )
        said = json.loads(mapped.splitlines()[-1]) if mapped else {}
        if code == 0 and said.get("same_results") is True and same_output(expected, err):
            return "same"
        if code == 1 and is_refusal(err):
            return "refused"
        text = mapping.read_text()[len(FUNCTIONS):]
        self.fail(name, f"seed {seed}, exit code {code}", text, mapped[-2000:], err[-2000:])
        return "failed"

    def tune(self, name, recorded, legate, expected):
        """Tunes the program and runs it under the recommended mapping. Returns whether the tuner ended well."""
        out = self.folder / f"{name}.search"
        code, said, err = self.run(
            self.options.groma, "tune", "--app", str(recorded), "--machine", MACHINE,
            "--evaluations", "50", "--repeats", "1", "--json", "--out", str(out),
            "--verify", "--", *legate,
        )
        events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        verified = [event for event in events if event.get("event") == "verified"]
        if code != 0 or not verified:
            self.fail(name, f"tune --verify, exit code {code}", said[-2000:], err[-2000:])
            return False
        for one in verified[-1]["candidates"]:
            result = one.get("error") or f"{one['value']:.3g} {verified[-1]['unit']}"
            print(f"{name}: verified {one['name']}: {result}", flush=True)
        code, mapped, err = self.run(
            self.options.groma, "run", "--map", str(out / "verified.mapper"), "--json", "--", *legate
        )
        if code != 0 or not same_output(expected, err):
            self.fail(name, f"verified.mapper, exit code {code}", mapped[-2000:], err[-2000:])
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groma")
    parser.add_argument("legate")
    parser.add_argument("--programs", default="", help="names, with commas between them (all)")
    parser.add_argument("--mappings", type=int, default=30, help="drawn for each program (30)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (1)")
    parser.add_argument("--done", type=pathlib.Path, help="the file of the finished steps (none)")
    options = parser.parse_args()
    exit_on_signals()
    options.groma = str(pathlib.Path(options.groma).resolve())
    # Not resolved: the folder of a virtual environment tells legate where its packages are.
    options.legate = os.path.abspath(options.legate)
    programs = sorted(path for path in HERE.glob("*.py") if path.name != "check.py")
    wanted = {name for name in options.programs.split(",") if name}
    if wanted - {path.stem for path in programs}:
        parser.error("no such program: " + ", ".join(sorted(wanted - {p.stem for p in programs})))
    with tempfile.TemporaryDirectory(prefix="groma-numpy-") as folder:
        check = Check(options, pathlib.Path(folder))
        chosen = [path for path in programs if not wanted or path.stem in wanted]
        try:
            for path in chosen:
                check.check(path)
        finally:
            print(f"{len(check.done)} of {len(chosen) * (2 + options.mappings)} steps are done", flush=True)
    print(f"{len(check.failures)} failures")
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
