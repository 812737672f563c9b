#!/usr/bin/env python3
"""Draws how the time and the memory of simulated runs grow with their tasks and with the GPUs.

    build/release/benchmarks/groma_simulate_benchmark --benchmark_filter='points|scaling' \\
        --benchmark_format=json > growth.json
    python3 benchmarks/plot_growth.py growth.json benchmarks/results/simulator_speed.svg

Needs Matplotlib. A run is one line of the benchmark: its number of point tasks, its GPUs, its processor
time and the largest memory at any time.
"""
import argparse
import json
import pathlib
import re
from typing import NamedTuple

GPUS_PER_NODE = 4


class Run(NamedTuple):
    kind: str
    gpus: int
    tasks: int
    seconds: float
    megabytes: float


def runs_of(document: dict) -> list[Run]:
    runs = []
    for entry in document["benchmarks"]:
        if entry.get("error_occurred"):
            continue
        name = entry["name"]
        scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[entry["time_unit"]]
        nodes = re.search(r"nodes:(\d+)", name)
        kind = "two launches" if name.startswith("points") else name.split("/")[1]
        runs.append(Run(kind, GPUS_PER_NODE * int(nodes[1]) if nodes else GPUS_PER_NODE, round(entry["tasks"]),
                        entry["cpu_time"] * scale, entry["MB"]))
    return runs


def main() -> None:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, help="the benchmark's output, as JSON")
    parser.add_argument("picture", type=pathlib.Path, help="the picture to write (.svg or .png)")
    options = parser.parse_args()

    import matplotlib  # here, so that --help works without it

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"  # text as text
    matplotlib.rcParams["svg.hashsalt"] = "groma"  # the same results give the same file
    from matplotlib import pyplot

    runs = runs_of(json.loads(options.results.read_text(encoding="utf-8")))
    figure, panels = pyplot.subplots(1, 3, figsize=(13, 4), layout="constrained")
    series: dict[str, list[Run]] = {}
    for run in runs:
        label = run.kind if run.kind == "two launches" else f"{run.kind}, {run.gpus:,} GPUs"
        series.setdefault(label, []).append(run)
    for label, members in series.items():
        if len(members) < 2:
            continue
        members.sort(key=lambda run: run.tasks)
        tasks = [run.tasks for run in members]
        panels[0].plot(tasks, [run.seconds for run in members], "o-", label=label)
        panels[1].plot(tasks, [run.megabytes for run in members], "o-", label=label)
    for kind in sorted({run.kind for run in runs if run.kind != "two launches"}):
        by_gpus: dict[int, Run] = {}
        for run in runs:  # of each number of GPUs, the run with the fewest iterations
            if run.kind == kind and (run.gpus not in by_gpus or run.tasks < by_gpus[run.gpus].tasks):
                by_gpus[run.gpus] = run
        gpus = sorted(by_gpus)
        panels[2].plot(gpus, [1e6 * by_gpus[g].seconds / by_gpus[g].tasks for g in gpus], "o-", label=kind)
    for panel, across, up in zip(panels, ("point tasks", "point tasks", "GPUs"),
                                 ("processor time, s", "memory, MB", "us a point task")):
        panel.set(xscale="log", xlabel=across, ylabel=up)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    panels[0].set_yscale("log")
    panels[1].set_yscale("log")
    panels[2].set_ylim(bottom=0)
    figure.savefig(options.picture, metadata={"Date": None} if options.picture.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
