"""Compares where the tasks of a run under StarPU's policy "groma" ran with what `groma place` says.

    python3 compare.py GROMA MAPPING LOG

GROMA is the command, LOG the file that GROMA_LOG named. Prints one line for each launch; exit status 1
if a point ran elsewhere, or if the log has no point of a launch that a function places."""

import collections
import json
import subprocess
import sys


def read_log(path):
    """Returns the first line of a log and the list of its tasks."""
    with open(path, encoding="ascii") as file:
        lines = [json.loads(line) for line in file]
    assert lines and lines[0]["log"] == "groma starpu 1", f"{path} is no log of groma"
    return lines[0], lines[1:]


def place(groma, mapping, machine, task, domain):
    """Returns for each point of a launch the processors of `groma place`; None if no function places it."""
    run = subprocess.run(
        [groma, "place", mapping, "--machine", machine, "--task", task, "--json",
         "--domain", "x".join(map(str, domain))],
        stdout=subprocess.PIPE, text=True, check=False)
    answer = json.loads(run.stdout)
    if run.returncode != 0:
        ids = [each["id"] for each in answer["diagnostics"]]
        assert "no-mapping-function" in ids, f"groma place: {run.stdout}"
        return None, None
    return answer["kind"], answer.get("sets", [[point] for point in answer["points"]])


def index_of(point, domain):
    """Returns the place of a point in row-major order."""
    index = 0
    for coordinate, extent in zip(point, domain):
        index = index * extent + coordinate
    return index


def compare(groma, mapping, log):
    """Returns (points that agree, messages about those that do not, lines about each launch)."""
    head, tasks = read_log(log)
    launches = collections.defaultdict(list)
    for task in tasks:
        if "point" in task:
            launches[task["task"], tuple(task["domain"])].append(task)
    agree, wrong, lines = 0, [], []
    for (name, domain), runs in sorted(launches.items()):
        kind, places = place(groma, mapping, head["machine"], name, domain)
        shape = "x".join(map(str, domain))
        if kind is None:
            lines.append(f"{name} {shape}: {len(runs)} tasks, no function places them")
            continue
        here = 0
        for run in runs:
            wanted = places[index_of(run["point"], domain)]
            if run["kind"] == kind and [0, run["index"]] in wanted:
                here += 1
            else:
                wrong.append(f"{name} {run['point']} of {shape} ran on {run['kind']} {run['index']}, "
                             f"groma place says {kind} {wanted}")
        lines.append(f"{name} {shape}: {here} of {len(runs)} tasks ran where groma place says")
        agree += here
    return agree, wrong, lines


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        agree, wrong, lines = compare(*sys.argv[1:])
    except OSError as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines + wrong))
    return 1 if wrong or agree == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
