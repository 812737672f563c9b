"""What a call from Python costs beside the same call from C++, in one process, one after the other.

    PYTHONPATH=build/release/python python3 benchmarks/python_calls.py

Needs the targets groma_python, groma_python_package and groma_python_benchmark. Prints a table of medians. Fails if the results differ,
or if a placement of 10^7 points was copied.
"""

import pathlib
import statistics
import sys
import time

import numpy as np

import groma

import groma_cpp_calls

HERE = pathlib.Path(__file__).resolve().parent
MACHINE = "p100x4:nodes=4"
APP = "circuit"
TASK = "calculate_new_currents"


def program():
    """A mapping of 60 lines: statements for each task and region of the circuit, and functions."""
    lines = ["Task * GPU, OMP, CPU;", "Region * * GPU FBMEM;", "Layout * * * SOA C_order;", "m = Machine(GPU);"]
    for task in ("calculate_new_currents", "distribute_charge", "update_voltages"):
        lines.append(f"Task {task} GPU, CPU;")
        for region in ("rp_private", "rp_shared", "rp_ghost", "all_wires"):
            for memory in ("GPU FBMEM, ZCMEM", "CPU SYSMEM"):
                lines.append(f"Region {task} {region} {memory};")
    for number in range(6):
        lines += [
            f"def block{number}(Task task) {{",
            "  flat = m.merge(0, 1);",
            f"  return flat[(task.ipoint[0] + {number}) * flat.size[0] / (task.ispace[0] + {number})];",
            "}",
        ]
    lines += [f"IndexTaskMap {task} block0;" for task in ("calculate_new_currents", "distribute_charge")]
    while len(lines) < 60:
        lines.append(f"# line {len(lines) + 1}")
    assert len(lines) == 60, len(lines)
    return "\n".join(lines) + "\n"


def compare(name, cpp, python, repeats):
    """Alternates the two calls, each of which returns its seconds. Prints the medians and the ratio of both."""
    pairs = [(cpp(), python()) for _ in range(repeats)][repeats // 10 :]
    ratios = sorted(p / c for c, p in pairs)
    c, p = (statistics.median(column) for column in zip(*pairs))
    quarter = len(ratios) // 4
    print(
        f"| {name} | {1e6 * c:.1f} | {1e6 * p:.1f} | {statistics.median(ratios):.3f} "
        f"| {ratios[quarter]:.3f} to {ratios[-quarter - 1]:.3f} |"
    )


def timed(call):
    def measure():
        begin = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - begin
        del result  # the C++ calls free their results after the measurement, too
        return seconds

    return measure


def owner_of(array):
    """Returns the object that owns the memory of an array."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


def main():
    text = program()
    machine, app = groma.Machine(MACHINE), groma.Application(APP)
    calls = groma_cpp_calls.Calls(text, MACHINE, APP)
    bound = groma.Program(text).bind(machine)
    assert groma.check(text, machine, app).ok, groma.check(text, machine, app)
    print("| call | C++ (us) | Python (us) | median ratio | middle half of the ratios |")
    print("|---|---|---|---|---|")
    compare("check, text and machine", lambda: calls.check(False), timed(lambda: groma.check(text, machine)), 400)
    compare("check, with circuit", lambda: calls.check(True), timed(lambda: groma.check(text, machine, app)), 60)
    for points, from_text, repeats in (
        (64, True, 1000), (64, False, 2000), (1000, False, 2000), (100_000, False, 400), (10_000_000, False, 20)
    ):
        # From a text, a placement includes compiling and binding it.
        given = (text, machine) if from_text else (bound,)
        placed = groma.place(*given, task=TASK, domain=points)
        assert int(placed.sum(dtype=np.int64)) == calls.place(TASK, [points], from_text)[1], "placements differ"
        compare(
            f"place, {points} points{', from the text' if from_text else ''}",
            lambda: calls.place(TASK, [points], from_text)[0],
            timed(lambda: groma.place(*given, task=TASK, domain=points)),
            repeats,
        )
    # The memory belongs to the vector of the library, which a capsule frees. A copy would own its memory.
    if isinstance(owner_of(placed), np.ndarray):
        sys.exit("the placement was copied")
    print(f"\n{placed.nbytes} bytes of {placed.size} points belong to {type(owner_of(placed)).__name__}")


if __name__ == "__main__":
    main()
