#!/usr/bin/env python3
"""Mutation testing: makes small mistakes in lib/, one at a time, and runs the folder's tests.

A mutant is the library with one small mistake: `<` for `<=`, `&&` for `||`, a negated condition, a
constant off by one, a statement that is missing. A mutant that makes a test fail is killed. One that
no test notices survives: a test is missing, or the mutant does what the original does.

    python3 tests/support/mutants.py --list 20 --seed 1        # only prints 20 mutants
    python3 tests/support/mutants.py --count 50                # in a copy of the tree
    python3 tests/support/mutants.py --count 50 --build build/release --files 'lib/llm/*.cc'

Without --build the script copies the tree to build/mutants/tree, builds the copy and changes only the
copy. With --build it changes the files from which that folder was configured, one at a time, and
restores each, also after Ctrl-C or SIGTERM. It then refuses to start where lib/ has uncommitted
changes. After SIGKILL one mutant is left behind: `git checkout lib` removes it.

With --done the outcome of each mutant is appended to a file. A run with the same file and the same
sources goes on where the run before was broken off.

The mutants of one seed are the same for the same sources. A mutant that does not compile is drawn
anew. Folders without test programs in the build folder are left out (lib/legion without Legion).

Mutants may do anything that you may do. Started by root, the tests run as the user nobody, who has to
be able to read the build folder.

Exit status: 0; 1 if more than --most-survivors survive; 2 if fewer than half of --count were tested.
"""
import argparse
import dataclasses
import fnmatch
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

sys.dont_write_bytecode = True  # a cache beside the sources would change the hash of the sources
from resume import FinishedSteps, exit_on_signals  # noqa: E402

# The test programs of each folder, the quickest first: groma_NAME_test. Folders that are not here have
# one program of their own name.
TESTS = {
    "advise": ["inspect"],
    "base": ["base", "language", "guide"],
    "benchmarks": ["app"],
    "edit": ["inspect", "tune"],
    "emit": ["emit", "emit_dsl"],
    "evaluate": ["mapper", "language", "hooks"],
    "explain": ["inspect", "hostile"],
    "index_map": ["mapper", "hooks"],
    "inspect": ["inspect", "hostile"],
    "io": ["io", "language"],
    "legion_run": ["inspect"],
    "mapper": ["hooks", "mapper", "hooks_allocation", "hooks_by_hand"],
    "model": ["tune"],
    "program": ["program", "language"],
    "propose": ["tune"],
    "recording": ["app"],
    "search": ["tune"],
    "simulate": ["simulate", "simulate_memory"],
    "space": ["tune"],
    "syntax": ["syntax", "language"],
    "legion": ["legion_order", "legion_demands", "legion_sizes", "legion_regions", "legion_adapter",
               "legion_record", "legion_run"],
}
MAX_MEMORY_BYTES = 8 << 30  # of a test program: some mutants allocate without end
MAX_REDRAWS = 20            # for one mutant, of which each did not compile
DEFAULT_FILES = "lib/*/*.cc"


# ------------------------------------------------------------------------------------------ mutants


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of one file: `text` instead of what stands from `begin` to `end` (characters)."""
    path: str
    line: int
    operator: str
    begin: int
    end: int
    text: str
    before: str  # the first line that changes, without its indentation
    after: str

    @property
    def folder(self) -> str:
        return self.path.split("/")[1]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def step(self) -> str:
        """The name of its test among the finished steps."""
        return f"{self.path} {self.begin} {self.end} {self.text}"


_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)


def code_only(text: str) -> str:
    """Returns the text with spaces in place of comments, strings, characters, preprocessor lines,
    static_asserts and GROMA_CHECKs. Offsets and lines stay."""
    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    def blank_string(match: re.Match[str]) -> str:
        found = match.group()
        if found[0] not in "\"'R":
            return blank(match)
        return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[-1]  # still an operand

    code = _NOT_CODE.sub(blank_string, text)
    return re.sub(r"\b(?:static_assert|GROMA_CHECK)\b[^;]*;", blank, code)


def closing(code: str, at: int) -> int:
    """Returns the offset of the parenthesis that closes the one at `at`; -1 where there is none."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    return -1


# (operator, pattern, what may stand there instead). Binary operators have spaces around them, as
# clang-format writes them; those of templates, references and pointers do not.
_SWAPS: list[tuple[str, str, dict[str, list[str]]]] = [
    ("relation", r"(?<= )(?:<=|>=|==|!=|<|>)(?= )",
     {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
      "==": ["!="], "!=": ["=="]}),
    ("logic", r"(?<= )(?:&&|\|\|)(?=\s)", {"&&": ["||"], "||": ["&&"]}),
    ("not", r"(?<=[(\s!])!(?=[\w(])", {"!": [""]}),
    ("arithmetic", r"(?<= )(?:\+|-|\*|/)(?= )", {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"]}),
    ("arithmetic", r"(?<= )(?:\+=|-=)(?= )", {"+=": ["-="], "-=": ["+="]}),
    ("arithmetic", r"\+\+|--(?!>)", {"++": ["--"], "--": ["++"]}),
    ("result", r"(?<=\breturn )(?:true|false)(?=;)", {"true": ["false"], "false": ["true"]}),
    ("choice", r"\b(?:std::min|std::max)\b",
     {"std::min": ["std::max"], "std::max": ["std::min"]}),
]
_CONSTANT = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
_CONDITION = re.compile(r"\b(?:if|while) (?=\()")
_STATEMENT = re.compile(
    r"(?:(?<=[;{}])|(?<=\)))\s+(?P<body>(?:break|continue|return)|"
    r"(?!(?:return|break|continue|else|case|default|using|delete|throw|goto|do|if|for|while|switch)\b)"
    r"\*?[A-Za-z_]\w*(?:(?:\.|->|::)\w+|\[[^\[\];]*\]|\([^();{}]*\)(?=[.\[-]))*"
    r"(?: (?:[-+*/|&^]|<<|>>)?= (?=[^;{}]*;)|\()[^;{}]*);")


def changes(text: str, code: str) -> Iterator[tuple[str, int, int, str]]:
    """Gives (operator, begin, end, new) for every change of the text; `code` is its code_only."""
    for operator, pattern, others in _SWAPS:
        for match in re.finditer(pattern, code):
            for new in others[match.group()]:
                yield operator, match.start(), match.end(), new
    for match in _CONSTANT.finditer(code):
        value = int(match.group())
        for number in {value + 1, max(value - 1, 0)} - {value}:
            yield "constant", match.start(), match.end(), str(number)
    for match in _CONDITION.finditer(code):
        begin, end = match.end(), closing(code, match.end()) + 1
        condition = code[begin:end]
        if end > 0 and ";" not in condition and " = " not in condition:
            yield "negation", begin, end, f"(!{text[begin:end]})"
    for match in _STATEMENT.finditer(code):
        if code.count("(", *match.span()) == code.count(")", *match.span()):
            yield "removal", match.start("body"), match.end(), "{}"


def mutants_of(path: str, text: str) -> list[Mutant]:
    """Returns all mutants of one file."""
    found = []
    for operator, begin, end, new in changes(text, code_only(text)):
        first = text.rfind("\n", 0, begin) + 1
        last = text.find("\n", end)
        last = len(text) if last < 0 else last
        before, after = text[first:last], text[first:begin] + new + text[end:last]
        found.append(Mutant(path, text.count("\n", 0, begin) + 1, operator, begin, end, new,
                            " ".join(before.split()), " ".join(after.split())))
    return found


class Draw:
    """Draws mutants evenly over folders and over operators, each mutant once."""

    def __init__(self, root: pathlib.Path, pattern: str, seed: int) -> None:
        self._random = random.Random(seed)
        self._left: dict[str, dict[str, list[Mutant]]] = {}
        files = sorted(p.relative_to(root).as_posix() for p in (root / "lib").rglob("*.*"))
        for path in files:
            if not fnmatch.fnmatch(path, pattern) or path.count("/") < 2:
                continue
            for mutant in mutants_of(path, (root / path).read_text(encoding="utf-8")):
                self._left.setdefault(mutant.folder, {}).setdefault(mutant.operator, []).append(mutant)

    def folders(self) -> list[str]:
        return sorted(self._left)

    def size(self) -> int:
        return sum(len(some) for by in self._left.values() for some in by.values())

    def next_of(self, folder: str) -> Mutant | None:
        """Takes a mutant of the folder; None when all were taken."""
        by_operator = {name: some for name, some in self._left[folder].items() if some}
        if not by_operator:
            return None
        some = by_operator[self._random.choice(sorted(by_operator))]
        return some.pop(self._random.randrange(len(some)))


# -------------------------------------------------------------------------------- building and tests


def kill_group(leader: int, number: int = signal.SIGKILL) -> None:
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        pass


NOBODY = 65534


def run(words: list[str], timeout_s: float, folder: pathlib.Path, bounded: bool) -> tuple[int | None, str]:
    """Returns the exit status (None: out of time) and the output. Ends the whole process group.

    What is bounded has a mistake in it, so root runs it as the user nobody: it might remove or replace
    any file (one replaced /dev/null).
    """
    def limit() -> None:
        if bounded:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit) as child:
        try:
            output, _ = child.communicate(timeout=timeout_s)
            status: int | None = child.returncode
        except subprocess.TimeoutExpired:
            kill_group(child.pid)
            output, _ = child.communicate()
            status = None
        except SystemExit:
            # Ninja then ends its compilers, which are in process groups of their own.
            kill_group(child.pid, signal.SIGTERM)
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                pass
            raise
        finally:
            kill_group(child.pid)
    return status, output.decode(errors="replace")


class Killer(NamedTuple):
    """The first test that fails on a mutant, or does not end in time."""
    test: str
    timed_out: bool


class Bench:
    """A tree, its build folder and what the tests of each folder take without a mutant."""

    def __init__(self, root: pathlib.Path, build: pathlib.Path, jobs: int, done: FinishedSteps) -> None:
        self.root, self.build, self._jobs, self._done = root, build, jobs, done
        status, listed = run(["ninja", "-C", str(build), "-t", "targets", "all"], 600, root, False)
        if status != 0:
            stop(f"{build} is not a build folder of Ninja:\n{listed}")
        if os.geteuid() == 0:  # where tests write that run as the user nobody
            for folder in (build / "Testing" / "Temporary", build / "tests" / "legion"):
                folder.mkdir(parents=True, exist_ok=True)
                for path in (folder.parent, folder, *folder.glob("*")):
                    if not path.is_symlink():
                        os.chown(path, NOBODY, NOBODY)
        self._targets = set(re.findall(r"^(groma_\w+_test): phony$", listed, re.MULTILINE))
        self._limits_s: dict[str, float] = {}

    def tests_of(self, folder: str) -> list[str]:
        names = [f"groma_{name}_test" for name in TESTS.get(folder, [folder])]
        return [name for name in names if name in self._targets]

    def builds(self, folder: str) -> str | None:
        """Builds the test programs of the folder; returns the compiler's words if it fails."""
        status, output = run(["ninja", "-C", str(self.build), f"-j{self._jobs}", *self.tests_of(folder)],
                             3600, self.root, False)
        return None if status == 0 else output

    def must_build(self, folder: str) -> None:
        """Ends the check if the tests do not build without a mutant."""
        words = self.builds(folder)
        if words is not None:
            stop(f"without a mutant the tests of {folder} do not build:\n{words[-4000:]}")

    def killer_of(self, folder: str) -> Killer | None:
        """Runs the test programs of the folder until a test fails."""
        for target in self.tests_of(folder):
            status, output = self._test(target, self._limits_s[target])
            if status == 0:
                continue
            failed = re.findall(r"^\[  FAILED  \] (\S+?),? ", output + " ", re.MULTILINE)
            begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
            name = (failed or begun[-1:] or ["no test"])[0]
            why = "" if failed else (" timed out" if status is None else f" ended with {status}")
            program = target.removeprefix("groma_").removesuffix("_test")
            return Killer(f"{program}.{name}{why}", status is None and not failed)
        return None

    def measure(self, folder: str) -> None:
        """Sets the limits of time of the folder's tests. Tests that fail without a mutant are left out:
        those of Legion, where the user nobody cannot read it."""
        for target in self.tests_of(folder):
            if target in self._limits_s:
                continue
            limit_s = self._done.value_of(f"limit of {target}", lambda: self._limit_s(folder, target))
            if limit_s == 0:
                self._targets.discard(target)
            else:
                self._limits_s[target] = limit_s

    def _limit_s(self, folder: str, target: str) -> float:
        """Builds and runs a test without a mutant; returns 0 if the test fails."""
        self.must_build(folder)
        begin = time.monotonic()
        status, output = self._test(target, 3600)
        if status != 0:
            print(f"{target} is left out: it fails without a mutant:\n{output[-2000:]}", flush=True)
            return 0
        return 60 + 5 * (time.monotonic() - begin)

    def _test(self, target: str, timeout_s: float) -> tuple[int | None, str]:
        if target.startswith("groma_legion_"):  # ctest knows the flags of Legion that each needs
            name = target.removeprefix("groma_legion_").removesuffix("_test")
            # `legion.NAME.2` is a program inside Legion; `legion_NAME.Suite.Test` starts Legion programs.
            words = ["ctest", "--test-dir", str(self.build), "--stop-on-failure", "--output-on-failure",
                     "--no-tests=error", "-R", rf"^legion[._]{name}\."]
            return run(words, timeout_s, self.build, True)
        words = [str(self.build / "tests" / target), "--gtest_fail_fast", "--gtest_color=no"]
        return run(words, timeout_s, self.build / "tests", True)


class Restored:
    """Restores a file at the end of a `with` block, whatever happens in the block."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path, self._original = path, path.read_bytes()

    def __enter__(self) -> "Restored":
        return self

    def write(self, mutant: Mutant) -> None:
        text = self._original.decode()
        self._path.write_bytes((text[:mutant.begin] + mutant.text + text[mutant.end:]).encode())

    def __exit__(self, *_: object) -> None:
        signals = {signal.SIGINT, signal.SIGTERM}  # neither may come while the file is half written
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        self._path.write_bytes(self._original)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


# ------------------------------------------------------------------------------------------ the tree


def stop(why: str) -> NoReturn:
    print(f"mutants.py: {why}", file=sys.stderr)
    raise SystemExit(2)


def git(root: pathlib.Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def source_of(build: pathlib.Path) -> pathlib.Path:
    """Returns the tree from which CMake configured the folder."""
    try:
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    except OSError as error:
        stop(f"{build} is not a build folder: {error.strerror}")
    found = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE)
    if found is None:
        stop(f"{build}/CMakeCache.txt names no source folder")
    return pathlib.Path(found.group(1))


def copy_tree(root: pathlib.Path, to: pathlib.Path) -> None:
    """Makes `to` what git knows or would take of `root`; keeps what is the same, and to/build."""
    names = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    wanted = {name for name in names if name and (root / name).is_file()}
    for path in sorted(to.rglob("*")) if to.exists() else []:
        name = path.relative_to(to).as_posix()
        if path.is_file() and not name.startswith("build/") and name not in wanted:
            path.unlink()
    for name in wanted:
        source, target = root / name, to / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def made_bench(root: pathlib.Path, jobs: int, done: FinishedSteps) -> Bench:
    """Copies the tree and configures the copy; warnings of a mutant do not make it invalid."""
    tree = root / "build" / "mutants" / "tree"
    copy_tree(root, tree)
    status, output = run(["cmake", "--preset", "release", "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF",
                          "-DCMAKE_UNITY_BUILD=OFF",  # a mutant changes one file
                          "-DGROMA_BUILD_BENCHMARKS=OFF", "-DGROMA_BUILD_DRIVER=OFF"], 3600, tree, False)
    if status != 0:
        stop(f"cannot configure {tree}:\n{output[-4000:]}")
    return Bench(tree, tree / "build" / "release", jobs, done)


# ---------------------------------------------------------------------------------------------- main


@dataclasses.dataclass
class Outcome:
    mutant: Mutant
    killer: Killer | None  # None: it survived
    seconds: float


def show(mutant: Mutant, fate: str) -> None:
    print(f"{mutant.place}: {mutant.operator}: {fate}\n  - {mutant.before}\n  + {mutant.after}", flush=True)


class Tried(NamedTuple):
    """What the tests say about a mutant."""
    compiles: bool
    killer: Killer | None
    seconds: float


def try_mutant(bench: Bench, mutant: Mutant) -> Tried:
    begin = time.monotonic()
    with Restored(bench.root / mutant.path) as file:
        file.write(mutant)
        compiles = bench.builds(mutant.folder) is None
        killer = bench.killer_of(mutant.folder) if compiles else None
    if not compiles:
        bench.must_build(mutant.folder)
    return Tried(compiles, killer, time.monotonic() - begin)


def test_mutants(bench: Bench, draw: Draw, done: FinishedSteps,
                 options: argparse.Namespace) -> tuple[list[Outcome], int]:
    """Returns what became of each mutant, and how many did not compile."""
    outcomes: list[Outcome] = []
    invalid = 0
    began = time.monotonic()
    for mutant_number in range(options.count):
        folders = [folder for folder in draw.folders() if bench.tests_of(folder)]
        if not folders:
            stop("no folder of the files has a test program in the build folder")
        folder = folders[mutant_number % len(folders)]
        for _ in range(MAX_REDRAWS):
            if time.monotonic() - began > options.seconds:
                return outcomes, invalid
            bench.measure(folder)
            if not bench.tests_of(folder):
                break
            mutant = draw.next_of(folder)
            if mutant is None:
                break
            is_new = mutant.step not in done
            compiles, killer, seconds = done.value_of(mutant.step, lambda: try_mutant(bench, mutant))
            if not compiles:
                invalid += 1
                continue
            killer = Killer(*killer) if killer else None
            outcomes.append(Outcome(mutant, killer, seconds))
            if is_new:
                print(f"{mutant_number + 1} of {options.count}: ", end="")
                show(mutant, f"killed by {killer.test}" if killer else "SURVIVED")
            break
    return outcomes, invalid


def summary_of(outcomes: list[Outcome], asked: int) -> str:
    killers = [outcome.killer for outcome in outcomes if outcome.killer is not None]
    timed_out = sum(killer.timed_out for killer in killers)
    return (f"{len(outcomes)} of {asked} mutants tested: {len(killers) - timed_out} killed by a failing test, "
            f"{timed_out} by a time-out, {len(outcomes) - len(killers)} survived")


def parsed_options() -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="mutants to test (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--list", type=int, metavar="N", help="print N mutants and test nothing")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR",
                        help="a configured build folder; its sources are changed in place")
    parser.add_argument("--files", default=DEFAULT_FILES, metavar="GLOB",
                        help=f"files to change, from the root of the tree (default '{DEFAULT_FILES}')")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1,
                        help="compilers at a time (default: one per processor)")
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="begin no mutant after so long (default: no limit)")
    parser.add_argument("--most-survivors", type=int, default=sys.maxsize, metavar="N",
                        help="exit with 1 if more mutants survive (default: any number may)")
    parser.add_argument("--json", type=pathlib.Path, metavar="OUT", help="write all outcomes there")
    parser.add_argument("--done", type=pathlib.Path, metavar="FILE",
                        help="append each outcome to FILE, and go on after those that are there")
    return parser.parse_args()


def main() -> int:
    options = parsed_options()
    exit_on_signals()
    own = pathlib.Path(__file__).resolve().parents[2]
    build = options.build.resolve() if options.build else None
    root = source_of(build) if build else own
    draw = Draw(root, options.files, options.seed)
    if not draw.folders():
        stop(f"no mutant in files like '{options.files}'")
    if options.list is not None:
        folders = draw.folders()
        for number in range(options.list):
            mutant = draw.next_of(folders[number % len(folders)])
            if mutant is not None:
                show(mutant, "would be tested")
        print(f"{draw.size()} further mutants in {len(folders)} folders")
        return 0
    if build and git(root, "status", "--porcelain", "--", "lib").strip():
        stop(f"{root}/lib has uncommitted changes: commit them, or go without --build")
    done = FinishedSteps(options.done)
    bench = Bench(root, build, options.jobs, done) if build else made_bench(root, options.jobs, done)
    for folder in draw.folders():
        if not bench.tests_of(folder):
            print(f"lib/{folder} is left out: the build folder has no test program of it")
    outcomes, invalid = test_mutants(bench, draw, done, options)
    survivors = [outcome.mutant for outcome in outcomes if outcome.killer is None]
    print(f"\n{summary_of(outcomes, options.count)}; {invalid} more did not compile")
    for mutant in survivors:
        show(mutant, "SURVIVED")
    if options.json:
        rows = [{**dataclasses.asdict(o.mutant), "killer": o.killer.test if o.killer else None,
                 "timed_out": o.killer is not None and o.killer.timed_out, "seconds": round(o.seconds, 1)}
                for o in outcomes]
        options.json.write_text(json.dumps({"seed": options.seed, "invalid": invalid, "mutants": rows},
                                           indent=1) + "\n", encoding="utf-8")
    if 2 * len(outcomes) < options.count or not outcomes:
        return 2
    return 1 if len(survivors) > options.most_survivors else 0


if __name__ == "__main__":
    sys.exit(main())
