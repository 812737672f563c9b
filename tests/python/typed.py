"""Read by mypy only: the types that a user of the module sees."""

import typing

import numpy as np

import groma

program: groma.Program = groma.Program("Task * GPU;")
bound: groma.BoundProgram = program.bind("p100x4")
found: groma.Diagnostics = groma.check(program, "p100x4", {"name": "a"})
first: groma.Diagnostic = found[0]
line: typing.Optional[int] = first.line
placed: groma.Placement = groma.place(bound, task="a", domain=(2, 2))
total: np.ndarray = placed + 1
seconds: float = groma.run(None, "circuit", groma.Machine("p100x4")).seconds


def measure(text: str) -> float:
    return float(len(text))


def propose(search: groma.Round) -> typing.Optional[str]:
    return None if search.best is None else search.best.text


best: typing.Optional[str] = groma.tune(start="a", evaluator=measure, proposer=propose).outcome.best
