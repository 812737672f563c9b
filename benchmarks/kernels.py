#!/usr/bin/env python3
"""Compares versions of the OpenCL kernels of examples/kernel: the start, the best text that `groma tune` finds without
a model or with a scripted one, the version by hand, and CLBlast.

All versions are timed in rounds, one after the other in each round (A B C A B C ...), so that a computer that becomes
slower during the measurement slows all of them. A ratio compares the rates of one round. Prints a Markdown table:
the median rate and, as ratios to the start, the median and the quartiles over the rounds.
"""
import argparse
import json
import math
import pathlib
import shlex
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent / "examples" / "kernel" / "opencl"
SCRIPTED = "scripted"

EXAMPLES = """examples:
  python3 benchmarks/kernels.py --out build/kernels
  python3 benchmarks/kernels.py --out build/kernels --evaluations 200 --proposers marks --problems stencil

A finished search in the folder of --out is not made again. The proposer `scripted` is `scientist` with the scripted
model of scripted_scientist.py. It begins with matmul_plain.cl, and searches only for `matmul`.
exit codes: 0: done; 1: a program failed; 2: wrong usage; 3: there is no OpenCL device
"""


class RunError(Exception):
    """A program failed; has its exit code."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what)
        self.code = code


def time_once(driver: str, arguments: list[str]) -> float | None:
    """The rate of a version in GFLOP/s, or None if the program was built without the library."""
    run = subprocess.run([driver, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         check=False)
    if run.returncode != 0:
        raise RunError(f"{' '.join(arguments)}: {run.stderr.strip()[-2000:]}", run.returncode)
    return json.loads(run.stdout).get("gflops")


def search(options: argparse.Namespace, problem: str, proposer: str) -> pathlib.Path | str:
    """The best text of a search, or why there is none."""
    start, chosen = f"{problem}.cl", ["--proposer", proposer]
    if proposer == SCRIPTED:
        if problem != "matmul":
            return "it has no sequence for this kernel"
        model = shlex.join(["exec", sys.executable, str(HERE / "scripted_scientist.py")])
        start, chosen = "matmul_plain.cl", ["--proposer", "scientist", "--endpoint", f"exec:{model}"]
    out = options.out / f"{problem}_{proposer}"
    best = out / "best.txt"
    if best.is_file():
        return best
    quoted = f"'{options.driver}'"
    run = subprocess.run(
        [options.groma, "tune", "--file", str(KERNELS / start), *chosen,
         "--evaluations", str(options.evaluations), "--seed", str(options.seed), "--time", str(options.time),
         "--check-command", f"{quoted} --check --kernel {{file}}",
         "--command", f"{quoted} --time --seconds 0.1 --json --kernel {{file}}",
         "--metric-json", "/gflops", "--unit", "GFLOP/s", "--higher-is-better", "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    (options.out / f"{problem}_{proposer}.log").write_text(run.stdout)
    if best.is_file():
        return best
    return run.stdout.strip().splitlines()[0] if run.stdout.strip() else f"exit code {run.returncode}"


def title_of(proposer: str) -> str:
    return "best of `scientist`, scripted" if proposer == SCRIPTED else f"best of `{proposer}`"


def quartiles(values: list[float]) -> tuple[float, float, float]:
    ordered = sorted(values)
    if len(ordered) == 1:
        return ordered[0], ordered[0], ordered[0]
    low, middle, high = statistics.quantiles(ordered, n=4, method="inclusive")
    return low, middle, high


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def measure(options: argparse.Namespace, problem: str) -> None:
    notes: list[str] = []
    versions: dict[str, list[str]] = {"start": ["--time", "--kernel", str(KERNELS / f"{problem}.cl")]}
    for proposer in options.proposers:
        best = search(options, problem, proposer)
        if isinstance(best, str):
            notes.append(f"`{proposer}` did not search: {best}")
        else:
            versions[title_of(proposer)] = ["--time", "--kernel", str(best)]
    versions["by hand"] = ["--time", "--kernel", str(KERNELS / f"{problem}_by_hand.cl")]
    if problem == "matmul":
        versions["CLBlast"] = ["--library"]

    rates: dict[str, list[float]] = {name: [] for name in versions}
    for _ in range(options.rounds + 1):  # the first round warms up the caches of compiled kernels
        for name in list(versions):
            rate = time_once(options.driver, versions[name])
            if rate is None or not math.isfinite(rate):
                notes.append(f"the program was built without {name}")
                del versions[name], rates[name]
            else:
                rates[name].append(rate)

    print(f"\n| `{problem}` | GFLOP/s | times the start | quartiles |\n|---|---|---|---|")
    for name in versions:
        own, start = rates[name][1:], rates["start"][1:]
        low, middle, high = quartiles([a / b for a, b in zip(own, start)])
        print(f"| {name} | {number(statistics.median(own))} | {number(middle)} | {number(low)} to {number(high)} |")
    scripted = title_of(SCRIPTED)
    if scripted in rates:
        low, middle, high = quartiles([a / b for a, b in zip(rates[scripted][1:], rates["by hand"][1:])])
        notes.append(f"The best text of the scripted model is {number(middle)} times as fast as the version by hand "
                     f"(quartiles {number(low)} to {number(high)}).")
    for note in notes:
        print(f"\n{note}")
    sys.stdout.flush()


def main() -> int:
    build = HERE.parent / "build" / "release"
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groma", default=str(build / "examples/driver/groma"), help="the command")
    parser.add_argument("--driver", default=str(build / "examples/kernel/groma_kernel_opencl"),
                        help="the driver program of the kernels")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder for the searches")
    parser.add_argument("--problems", default="matmul,stencil", help="(default: %(default)s)")
    parser.add_argument("--proposers", default="marks,opentuner,scripted", help="(default: %(default)s)")
    parser.add_argument("--evaluations", type=int, default=100, help="of each search (default: %(default)s)")
    parser.add_argument("--time", type=float, default=1800, help="limit of each search in s (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    options = parser.parse_args()
    options.problems, options.proposers = options.problems.split(","), options.proposers.split(",")
    if not set(options.problems) <= {"matmul", "stencil"} or options.rounds < 1:
        parser.error("the problems are matmul and stencil, and there is at least one round")
    options.driver = str(pathlib.Path(options.driver).resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        for problem in options.problems:
            measure(options, problem)
    except (RunError, OSError) as error:
        print(f"kernels.py: {error}", file=sys.stderr)
        return 3 if isinstance(error, RunError) and error.code == 3 else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
