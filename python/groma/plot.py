# Pictures of placements and profiles with Matplotlib, which is imported only here.
from __future__ import annotations

import typing

import numpy as np

from groma._results import Placement, RunResult

try:
    import matplotlib.pyplot as plt
except ImportError as error:
    raise ImportError(
        "groma.plot needs Matplotlib: pip install matplotlib (or pip install 'groma[plot]')"
    ) from error

#: Up to this number of rows and columns, each point shows its processor.
_MAX_LABELLED = 16
#: The causes of a profile's critical path that are shown; the others are joined.
_MAX_CAUSES = 8


def placement(
    placed: Placement, ax: typing.Any = None, *, layer: typing.Sequence[int] | None = None, by: str = "processor"
) -> typing.Any:
    """Draws a placement as a grid of points, and returns the axes.

    A launch of one dimension is one row. ``layer`` chooses the coordinates in the dimensions before the last two
    (default: the first). ``by`` is "processor" or "node", for the colours.
    """
    if by not in ("processor", "node"):
        raise ValueError(f'by="{by}" is not "processor" or "node"')
    # The whole placement keeps its facts; a plain array is drawn.
    values = placed.node if by == "node" else np.asarray(placed)
    ahead = values.ndim - 2
    if ahead > 0:
        chosen = tuple(layer) if layer is not None else (0,) * ahead
        if len(chosen) != ahead:
            raise ValueError(f"layer has {len(chosen)} numbers, not {ahead}")
        values = values[chosen]
    else:
        chosen = ()
    values = np.atleast_2d(values)
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    count = int(placed.machine.node_count if by == "node" else len(placed.loads))
    colors = plt.get_cmap("tab20" if count <= 20 else "viridis")
    first = placed.lower[-2:] if placed.ndim > 1 else (0, placed.lower[0])
    rows, columns = values.shape
    extent = (first[1] - 0.5, first[1] + columns - 0.5, first[0] + rows - 0.5, first[0] - 0.5)
    image = ax.imshow(
        values, cmap=colors, vmin=0, vmax=max(19 if count <= 20 else count - 1, 1), extent=extent,
        interpolation="nearest", aspect="equal" if placed.ndim > 1 else "auto",
    )
    if rows <= _MAX_LABELLED and columns <= _MAX_LABELLED:
        for row in range(rows):
            for column in range(columns):
                ax.text(first[1] + column, first[0] + row, str(values[row, column]), ha="center", va="center")
    else:
        ax.figure.colorbar(image, ax=ax, label=by if by == "node" else f"{placed.kind} number")
    title = f"{placed.task or placed.function} by {placed.function} on {placed.kind}"
    ax.set_title(title + (f", layer {chosen}" if chosen else ""))
    ax.set_xlabel(f"dimension {placed.ndim - 1}")
    if placed.ndim > 1:
        ax.set_ylabel(f"dimension {placed.ndim - 2}")
    else:
        ax.set_yticks([])
    return ax


def _cause(cause: dict[str, typing.Any], moves: list[dict[str, typing.Any]]) -> str:
    """Returns the words for a cause of time on the critical path."""
    if cause.get("task"):
        return f"{cause['doing']} {cause['task']}"
    if cause.get("move") is not None:
        move = moves[cause["move"]]
        return f"{cause['doing']} of {move['region']}, {move['from']} to {move['to']}"
    return str(cause["doing"])


def profile(run: RunResult, ax: typing.Any = None) -> typing.Any:
    """Draws what the critical path of a run consists of, as bars, and returns the axes."""
    facts = run.profile
    times: dict[str, float] = {}
    for cause in facts["path"]["causes"]:
        name = _cause(cause, facts["moves"])
        times[name] = times.get(name, 0.0) + cause["time_ps"] * 1e-9
    named = sorted(times.items(), key=lambda each: -each[1])
    rest = named[_MAX_CAUSES:]
    named = named[:_MAX_CAUSES]
    if rest:
        named.append((f"{len(rest)} other causes", sum(time for _, time in rest)))
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    ax.barh(range(len(named)), [time for _, time in named])
    ax.set_yticks(range(len(named)), [name for name, _ in named])
    ax.invert_yaxis()
    ax.set_xlabel("simulated ms on the critical path")
    ax.set_title(str(facts["title"]))
    return ax


def loads(run: RunResult, ax: typing.Any = None) -> typing.Any:
    """Draws for how much of the run each processor worked, and returns the axes."""
    facts = run.profile
    processors = facts["by_processor"]
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    total = max(facts["time_ps"], 1)
    names = ["{} {}.{}".format(*each["processor"]) for each in processors]
    ax.bar(range(len(names)), [each["busy_ps"] / total for each in processors])
    if len(names) <= 64:
        ax.set_xticks(range(len(names)), names, rotation=90)
    ax.set_ylabel("share of the run")
    ax.set_ylim(0, 1)
    ax.set_title(str(facts["title"]))
    return ax
