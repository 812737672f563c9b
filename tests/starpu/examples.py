"""Runs examples of StarPU (Debian: starpu-examples) with and without Groma's policy. Compares what they
compute, and where their tasks ran with `groma place`.

    python3 examples.py GROMA PRELOAD [FOLDER]

GROMA is the command, PRELOAD the library for LD_PRELOAD, FOLDER that of the examples. Exit status 1 if
something differs, 77 if there are no examples."""

import glob
import os
import re
import sys
import tempfile

import compare
import programs

MAPPING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "examples.mapper")

# The command of each example, and a pattern of the lines with its results. A number that changes from run
# to run is in a group; it must be below 1e-12.
EXAMPLES = (
    ("axpy", r"(?:BEFORE|AFTER) .*"),
    ("spmv", r"\d+\.\d\d\t\d+\.\d\d"),
    ("dgemm -xy 256 -nblocks 4 -check", r"Results are OK"),
    ("cholesky_implicit -size 512 -nblocks 8 -check", r"comparing results \.\.\."),
    ("lu_implicit_example_double -size 512 -nblocks 8 -check", r"\|\|A-LU\|\| / \(\|\|A\|\|\*N\) : (.*)"),
    ("cg -n 1024 -nblocks 8", r"Delta .*|iter .* DELTA .*"),
)


def results(output, pattern):
    """Returns the lines with results, without the numbers that change."""
    lines = []
    for line in output.splitlines():
        found = re.fullmatch(pattern, line.strip())
        if not found:
            continue
        line = found.group(0)
        for small in found.groups():
            assert abs(float(small)) < 1e-12, line
            line = line.replace(small, "small")
        lines.append(line)
    return lines


def check(groma, preload, folder, command, pattern, log):
    """Runs one example in both ways. Returns the number of mistakes."""
    words = command.split()
    words[0] = os.path.join(folder, words[0])
    plain = programs.run(words)
    mapped = programs.run_mapped(words, preload, MAPPING, log)
    wanted, got = results(plain[1] + plain[2], pattern), results(mapped[1] + mapped[2], pattern)
    if plain[0] != 0 or mapped[0] != 0 or not wanted or wanted != got:
        print(f"{command}: exit status {plain[0]} and {mapped[0]}, results {wanted} and {got}\n{mapped[2]}")
        return 1
    agree, wrong, lines = compare.compare(groma, MAPPING, log)
    print(f"{command}: {len(wanted)} lines of results are equal, {agree} placements agree")
    for line in lines + wrong:
        print(f"  {line}")
    return len(wrong) + (agree == 0)


def check_accelerator(preload, folder, log):
    """Runs an example on a worker of OpenCL, if there is one: pocl makes one of the CPUs."""
    if not glob.glob("/etc/OpenCL/vendors/*.icd"):
        print("vector_scal on OpenCL: not run, there is no OpenCL")
        return 0
    more = {"STARPU_NOPENCL": "1", "STARPU_OPENCL_ON_CPUS": "1", "STARPU_OPENCL_ONLY_ON_CPUS": "1"}
    code, out, error = programs.run_mapped(
        [os.path.join(folder, "vector_scal")], preload,
        "gpu.mapper\nTask * GPU, CPU;\nRegion * * GPU FBMEM;\n", log, **more)
    head, tasks = compare.read_log(log)
    if all(worker["kind"] != "GPU" for worker in head["workers"]):
        print("vector_scal on OpenCL: not run, StarPU found no device")
        return 0
    places = [(task["kind"], task["memories"]) for task in tasks]
    right = code == 0 and "Computation is correct" in out + error and places == [("GPU", ["FBMEM"])]
    print(f"vector_scal on OpenCL: {places} {'and the results are correct' if right else out + error}")
    return 0 if right else 1


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    groma, preload = sys.argv[1:3]
    folders = sys.argv[3:] or glob.glob("/usr/lib/*/starpu/examples")
    if not folders:
        print("there are no examples of StarPU (Debian: starpu-examples)", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        log = os.path.join(temporary, "log")
        mistakes = sum(check(groma, preload, folders[0], command, pattern, log)
                       for command, pattern in EXAMPLES)
        mistakes += check_accelerator(preload, folders[0], log)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
