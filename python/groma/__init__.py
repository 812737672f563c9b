"""Groma decides where the tasks and the data of a parallel program go.

    import groma
    print(groma.check("Task * GPUS;"))
    placement = groma.place(mapping, "p100x4:nodes=2", task="dgemm", domain=(8, 8))

A mapping is a text (str), a file (pathlib.Path) or a Program. docs/python.md is the manual.
"""
from groma._calls import (
    ApplicationLike,
    MachineLike,
    ProgramLike,
    check,
    default_mapping,
    diff,
    explain,
    guide,
    place,
    place_single_task,
    run,
)
from groma._core import (
    Application,
    BoundProgram,
    Diagnostic,
    Edit,
    Fix,
    Machine,
    Note,
    Program,
    Round,
    Statement,
    Step,
    __version__,
    applications,
    fix,
    machines,
    proposers,
)
from groma._errors import Failed, GromaError, MappingError, Refused
from groma._legion import record
from groma._results import Diagnostics, Difference, Explanation, Guidance, Placement, RunResult
from groma._tune import Event, Outcome, Search, tune

__all__ = [
    "Application",
    "ApplicationLike",
    "BoundProgram",
    "Diagnostic",
    "Diagnostics",
    "Difference",
    "Edit",
    "Event",
    "Explanation",
    "Failed",
    "Fix",
    "GromaError",
    "Guidance",
    "Machine",
    "MachineLike",
    "MappingError",
    "Note",
    "Outcome",
    "Placement",
    "Program",
    "ProgramLike",
    "Refused",
    "Round",
    "RunResult",
    "Search",
    "Statement",
    "Step",
    "__version__",
    "applications",
    "check",
    "default_mapping",
    "diff",
    "explain",
    "fix",
    "guide",
    "machines",
    "place",
    "place_single_task",
    "proposers",
    "record",
    "run",
    "tune",
]
