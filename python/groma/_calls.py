# The functions of Groma: check, place, explain, run, diff and guide.
from __future__ import annotations

import operator
import os
import typing

import numpy as np

from groma import _core
from groma._results import Diagnostics, Difference, Explanation, Guidance, Placement, RunResult

Path = typing.Union["os.PathLike[str]"]
#: A mapping: its text (str), a file (os.PathLike), a Program, or one that is bound to a machine.
ProgramLike = typing.Union[str, "os.PathLike[str]", _core.Program, _core.BoundProgram]
#: A machine: a preset or line of counts (str), a description (dict), a file, or a Machine.
MachineLike = typing.Union[str, typing.Dict[str, typing.Any], "os.PathLike[str]", _core.Machine]
#: An application: a benchmark or file (str), a description (dict), a file, or an Application.
ApplicationLike = typing.Union[
    str, typing.Dict[str, typing.Any], "os.PathLike[str]", _core.Application
]


def check(
    program: ProgramLike,
    machine: MachineLike | None = None,
    app: ApplicationLike | None = None,
    *,
    max_steps: int = 1 << 20,
) -> Diagnostics:
    """Finds everything that is wrong with a mapping, as ``groma check`` does.

    Returns the messages; ``check(...).ok`` is true if none is an error. With a machine and an application,
    errors that a run would have are found, too. ``max_steps`` limits that part of the work.
    """
    return Diagnostics(_core.check(program, machine, app, max_steps))


def _coordinates(given: int | typing.Sequence[int]) -> list[int]:
    """Returns a number, or several, as a list of Python's integers."""
    if isinstance(given, int):
        return [given]
    return [operator.index(given)] if hasattr(given, "__index__") else [operator.index(each) for each in given]


def place(
    program: ProgramLike,
    machine: MachineLike | None = None,
    *,
    task: str = "",
    function: str = "",
    domain: int | typing.Sequence[int],
    lower: int | typing.Sequence[int] | None = None,
    kind: str | None = None,
) -> Placement:
    """Finds where every point of an index launch goes, as ``groma place`` does.

    ``domain`` has the extents of the launch and ``lower`` its first point. Name the task whose mapping the
    statements choose, or a function. ``kind`` is the kind of processor on which the task runs, if no Task
    statement decides it. Raises MappingError if a point fails. Up to 2^28 points.
    """
    extents = _coordinates(domain)
    corner = None if lower is None else _coordinates(lower)
    facts = _core.place(program, machine, task, function, extents, corner, kind)
    placement = Placement(extents, np.int32, facts)  # type: ignore[arg-type, unused-ignore]
    placement.facts = facts
    return placement


def place_single_task(
    program: ProgramLike,
    machine: MachineLike | None = None,
    *,
    task: str,
    parent: tuple[int, int],
    kind: str | None = None,
) -> tuple[str, int, int]:
    """Finds where a single task goes whose parent is on processor ``(node, index)``.

    Returns the kind, the node and the index of its processor.
    """
    node, index = parent
    return _core.place_single_task(program, machine, task, node, index, kind)


def explain(
    program: ProgramLike | None,
    app: ApplicationLike,
    machine: MachineLike | None = None,
    *,
    task: str = "",
    region: str | int = "",
) -> Explanation:
    """Returns every decision about an application with the statement that made it, as ``groma explain`` does.

    ``task`` and ``region`` (a name, or a position among the region requirements) select decisions.
    """
    return Explanation(*_core.explain(program, app, machine, task, str(region)))


def default_mapping(app: ApplicationLike, machine: MachineLike) -> str:
    """Returns the decisions of the default mapper as a mapping, as ``groma explain --as-mapping`` does."""
    return _core.explain_default_mapper(app, machine)


def run(
    program: ProgramLike | None,
    app: ApplicationLike,
    machine: MachineLike | None = None,
    *,
    seed: int = 0,
    noise: float = 0.0,
    advice: bool = False,
    max_bytes: int = 1 << 31,
) -> RunResult:
    """Runs an application under a mapping in the embedded runtime (a simulator), as ``groma run`` does.

    ``None`` stands for the default mapper. With ``advice``, changes of the mapping are tried for
    ``RunResult.suggest``. Raises MappingError, with the advice of the guide, if the application cannot run.
    """
    return RunResult(_core.run(program, app, machine, seed, noise, advice, max_bytes))


def diff(
    a: ProgramLike | None,
    b: ProgramLike | None,
    app: ApplicationLike,
    machine: MachineLike | None = None,
) -> Difference:
    """Finds the decisions about an application that differ between two mappings, and what each costs."""
    return Difference(*_core.diff(a, b, app, machine))


def guide(
    log: str | bytes = b"",
    *,
    program: ProgramLike | None = None,
    profile: RunResult | str = "",
    exit_code: int | None = None,
    timed_out: bool = False,
    detail: str = "profile",
) -> Guidance:
    """Explains the output of a run and names the statement to change, as ``groma guide`` does.

    ``log`` is the output itself (read a file with ``path.read_bytes()``); ``profile`` is the result of run(),
    or its JSON.
    """
    output = log.encode("utf-8", "surrogateescape") if isinstance(log, str) else bytes(log)
    facts = profile.json if isinstance(profile, RunResult) else profile
    return Guidance(*_core.guide(output, program, facts, exit_code, timed_out, detail))
