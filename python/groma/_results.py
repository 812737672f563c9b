# The results of Groma's functions: arrays and objects with the library's own texts and JSON.
from __future__ import annotations

import functools
import json
import os
import typing

import numpy as np

from groma import _core

if typing.TYPE_CHECKING:
    from numpy.typing import NDArray

Json = typing.Dict[str, typing.Any]


class Diagnostics(typing.List[_core.Diagnostic]):
    """The messages about a mapping, in the order of the text. ``str()`` is what the command prints."""

    @property
    def errors(self) -> list[_core.Diagnostic]:
        return [each for each in self if each.severity == "error"]

    @property
    def warnings(self) -> list[_core.Diagnostic]:
        return [each for each in self if each.severity == "warning"]

    @property
    def ok(self) -> bool:
        """True if there is no error."""
        return not self.errors

    def __str__(self) -> str:
        return "".join(each.text for each in self)


class Placement(np.ndarray):  # type: ignore[type-arg]
    """Where the points of a launch go: an array of the shape of the launch, with the number of each point's
    processor among all processors of ``kind`` on the machine, counted node by node from 0.

    The array shares the memory in which the library computed the numbers. A slice is a placement, too; the
    result of arithmetic is a plain array.
    """

    facts: _core.PlacementFacts | None = None

    def __array_finalize__(self, obj: typing.Any) -> None:
        if obj is not None:
            self.facts = getattr(obj, "facts", None)

    def __array_wrap__(  # type: ignore[override, unused-ignore]
        self, array: typing.Any, context: typing.Any = None, return_scalar: bool = False
    ) -> typing.Any:
        plain = np.asarray(array)
        return plain[()] if plain.ndim == 0 else plain

    def _facts(self) -> _core.PlacementFacts:
        if self.facts is None:
            raise ValueError("this array was not made by groma.place()")
        return self.facts

    @property
    def task(self) -> str:
        return self._facts().task

    @property
    def function(self) -> str:
        """The mapping function that placed the points."""
        return self._facts().function

    @property
    def kind(self) -> str:
        """The kind of the processors, such as "GPU"."""
        return self._facts().kind

    @property
    def machine(self) -> _core.Machine:
        return self._facts().machine

    @property
    def lower(self) -> tuple[int, ...]:
        """The first point of this array: that of the launch, or zeros for a slice."""
        facts = self._facts()
        return tuple(facts.lower) if list(self.shape) == list(facts.extents) else (0,) * self.ndim

    @property
    def decided_by(self) -> list[_core.Statement]:
        """The statements that chose the kind and the function."""
        return self._facts().decided_by

    @property
    def has_sets(self) -> bool:
        """True if the function returned a set of processors for some point; the number is that of the first."""
        return self._facts().has_sets

    @property
    def diagnostics(self) -> Diagnostics:
        return Diagnostics(self._facts().diagnostics)

    @functools.cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self._facts().processors_per_node)

    @property
    def node(self) -> NDArray[np.int64]:
        """The node of each point."""
        return np.searchsorted(self._ends, np.asarray(self), side="right")

    @property
    def index(self) -> NDArray[np.int64]:
        """The index of each point's processor on its node."""
        starts = self._ends - np.asarray(self._facts().processors_per_node)
        return np.asarray(self) - starts[self.node]

    @property
    def loads(self) -> NDArray[np.int64]:
        """The number of points of each processor of the kind."""
        return np.bincount(np.asarray(self).ravel(), minlength=int(self._ends[-1]))

    def draw(self, columns: int = 80) -> str:
        """Returns the picture of the whole placement that ``groma place`` prints (up to 2^20 points)."""
        return self._facts().picture(False, columns)

    def svg(self) -> str:
        """Returns the same picture as an SVG document. Notebooks show it."""
        return self._facts().picture(True, 80)

    def plot(self, ax: typing.Any = None, **options: typing.Any) -> typing.Any:
        """Draws the placement with Matplotlib; see groma.plot.placement()."""
        from groma import plot

        return plot.placement(self, ax=ax, **options)


class Explanation:
    """Every decision of a mapping about an application. ``str()`` is what ``groma explain`` prints."""

    def __init__(self, data: str, text: str, summary: str, diagnostics: list[_core.Diagnostic]) -> None:
        self._data = data
        self._text = text
        #: A short text about the same decisions.
        self.summary = summary
        self.diagnostics = Diagnostics(diagnostics)

    @functools.cached_property
    def data(self) -> Json:
        """The decisions as docs/commands.md describes them ("JSON of explain")."""
        return typing.cast(Json, json.loads(self._data))

    @property
    def tasks(self) -> dict[str, Json]:
        """The decisions about each task."""
        return {task["task"]: task for task in self.data["tasks"]}

    def __str__(self) -> str:
        return self._text


class RunResult:
    """A simulated run that came to its end. ``str()`` is what ``groma run`` prints."""

    def __init__(self, facts: _core.RunFacts) -> None:
        self._facts = facts

    @property
    def seconds(self) -> float:
        """The simulated time of the part that the application measures."""
        return self._facts.seconds

    @property
    def total_seconds(self) -> float:
        return self._facts.total_seconds

    @property
    def throughput(self) -> float:
        return self._facts.throughput

    @property
    def unit(self) -> str:
        """The unit of the throughput."""
        return self._facts.unit

    @property
    def tasks(self) -> int:
        """The number of tasks that ran."""
        return self._facts.tasks

    @property
    def copies(self) -> int:
        return self._facts.copies

    @property
    def moved_bytes(self) -> int:
        return self._facts.moved_bytes

    @property
    def diagnostics(self) -> Diagnostics:
        return Diagnostics(self._facts.diagnostics)

    @functools.cached_property
    def json(self) -> str:
        """The result as ``groma run --json`` prints it."""
        return self._facts.json()

    @functools.cached_property
    def data(self) -> Json:
        return typing.cast(Json, json.loads(self.json))

    @property
    def profile(self) -> Json:
        """Where the time went, as docs/commands.md describes it ("The profile of a run")."""
        return typing.cast(Json, self.data["profile"])

    @property
    def explain(self) -> list[str]:
        return list(self.data.get("explain", []))

    @property
    def suggest(self) -> list[str]:
        """What to change. With ``advice=True``, each suggestion was tried in the simulator."""
        return list(self.data.get("suggest", []))

    def write_page(self, path: str | os.PathLike[str]) -> None:
        """Writes the profile as an HTML page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._facts.page())

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace for chrome://tracing or ui.perfetto.dev."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._facts.trace())

    def plot(self, ax: typing.Any = None, **options: typing.Any) -> typing.Any:
        """Draws the profile with Matplotlib; see groma.plot.profile()."""
        from groma import plot

        return plot.profile(self, ax=ax, **options)

    def __str__(self) -> str:
        return self._facts.text()

    def __repr__(self) -> str:
        return f"<groma.RunResult {self.seconds:.6g} s>"


class Difference:
    """The decisions in which two mappings differ. ``str()`` is what ``groma diff`` prints."""

    def __init__(
        self, data: str, text: str, a: list[_core.Diagnostic], b: list[_core.Diagnostic]
    ) -> None:
        #: The differences as docs/commands.md describes them.
        self.data: Json = json.loads(data)
        self._text = text
        self.diagnostics_a = Diagnostics(a)
        self.diagnostics_b = Diagnostics(b)

    @property
    def differences(self) -> list[Json]:
        return list(self.data["differences"])

    def __str__(self) -> str:
        return self._text


class Guidance:
    """What the output of a run means, and what to change. ``str()`` is what ``groma guide`` prints."""

    def __init__(self, data: str, text: str) -> None:
        #: The feedback as docs/commands.md describes it.
        self.data: Json = json.loads(data)
        self._text = text

    @property
    def known(self) -> bool:
        """True if the guide knows something in the output."""
        return bool(self.data["known"]) if "known" in self.data else bool(self.explain)

    @property
    def status(self) -> str:
        """ "ok", "error" or "unknown"."""
        return str(self.data["status"])

    @property
    def explain(self) -> list[str]:
        return list(self.data["explain"])

    @property
    def suggest(self) -> list[str]:
        return list(self.data["suggest"])

    def __str__(self) -> str:
        return self._text
