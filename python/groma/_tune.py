# tune(): a search as an iterator of its events.
from __future__ import annotations

import json
import os
import typing
import weakref

from groma import _core
from groma._calls import ApplicationLike, MachineLike, ProgramLike
from groma._results import Diagnostics, Json

#: Measures a text: returns a number, or one for each input. It raises Refused or Failed for a bad text.
Evaluator = typing.Callable[[str], typing.Union[float, typing.Sequence[float]]]
#: Chooses the next texts to try; None ends the search.
Proposer = typing.Callable[
    [_core.Round],
    typing.Union[None, str, typing.Tuple[str, str], typing.Iterable[typing.Union[str, typing.Tuple[str, str]]]],
]


class Event(typing.Dict[str, typing.Any]):
    """An event of a search: a line of ``groma tune --json`` as a dict (docs/commands.md, "JSON of tune")."""

    @property
    def kind(self) -> str:
        """ "proposed", "evaluated", "asking", "rejected", "resumed", "estimating" or "worker"."""
        return str(self["event"])

    @property
    def is_best(self) -> bool:
        """True if this event is the evaluation of the best text so far."""
        return bool(self.get("best", False))


class Outcome:
    """The result of a search. ``str()`` is what ``groma tune`` prints."""

    def __init__(self, data: str, text: str) -> None:
        #: The outcome as docs/commands.md describes it.
        self.data: Json = json.loads(data)
        self._text = text

    @property
    def end(self) -> str:
        """Why the search ended: "budget", "exhausted", "stopped", "rejected" or "model"."""
        return str(self.data["end"])

    @property
    def best(self) -> str | None:
        """The best text; None if no text could be measured."""
        best = self.data.get("best")
        return None if best is None else str(best["text"])

    @property
    def values(self) -> list[float]:
        """The values of the best text, one for each input."""
        return list(self.data["best"]["values"]) if "best" in self.data else []

    def __str__(self) -> str:
        return self._text


class Search:
    """A search that runs while its events are read. Iterate over it, then read ``outcome``.

    Breaking out of the loop does not end the search; ``stop()`` or the end of a ``with`` block does.
    """

    def __init__(self, arguments: dict[str, typing.Any]) -> None:
        self._thread = _core.search(arguments)
        self._ended = False
        # Ends the search at the latest before the interpreter ends: its thread may call Python.
        self._finalizer = weakref.finalize(self, _core.SearchThread.close, self._thread)

    def __iter__(self) -> Search:
        return self

    def __next__(self) -> Event:
        line = None if self._ended else self._thread.next()
        if line is None:
            self._ended = True
            raise StopIteration
        return Event(json.loads(line))

    def stop(self) -> None:
        """Asks the search to end. Read the remaining events to wait for it."""
        self._thread.stop()

    @property
    def notes(self) -> Diagnostics:
        """Notes and warnings about the applications and the start."""
        return Diagnostics(self._thread.notes)

    @property
    def outcome(self) -> Outcome:
        """The result. Waits for the end of the search; events that were not read are dropped."""
        for _ in self:
            pass
        return Outcome(*self._thread.outcome())

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def tune(
    app: ApplicationLike | typing.Sequence[ApplicationLike] | None = None,
    machine: MachineLike = "p100x4",
    *,
    start: ProgramLike | None = None,
    evaluator: Evaluator | None = None,
    proposer: str | Proposer | None = None,
    inputs: typing.Sequence[str] = ("the text",),
    unit: str = "s",
    higher_is_better: bool = False,
    deterministic: bool = False,
    about: str = "",
    evaluations: int = 10,
    seconds: float = 0,
    tokens: int = 0,
    seed: int = 0,
    threads: int = 0,
    feedback: str = "profile",
    least_gain: float | None = None,
    directory: str | os.PathLike[str] = "",
    resume: bool = False,
    fingerprint: str = "",
    endpoint: str = "",
    model: str = "",
    api: str = "openai",
    replay: str | os.PathLike[str] = "",
) -> Search:
    """Searches for a faster mapping of an application, or for a better version of any text.

    * With ``app``, mappings are searched, and measured in the simulator. With an ``evaluator`` as well, the
      evaluator measures them, and the simulator gives estimates and refuses mappings that cannot run.
    * Without ``app``, ``start`` is any text, and the ``evaluator`` measures it.

    ``proposer`` is the name of one that comes with Groma (``groma.proposers()``), or a callable. ``endpoint``,
    ``model`` and ``api`` name the language model of a proposer that asks one. With ``directory``, the search
    is written down as by ``groma tune --out``; ``resume=True`` with the same arguments continues it.
    """
    apps = [] if app is None else list(app) if isinstance(app, (list, tuple)) else [app]
    if proposer is None:
        proposer = "guided" if apps else "marks"
    if start is None and not apps:
        raise TypeError("tune() needs an application, or a start and an evaluator")
    if least_gain is None:
        least_gain = 0.02 if apps else 0.0
    for name, amount in (("evaluations", evaluations), ("tokens", tokens), ("threads", threads), ("seed", seed),
                         ("seconds", seconds), ("least_gain", least_gain)):
        if not 0 <= amount < 2**63:  # also false for a NaN
            raise ValueError(f"{name}={amount} is not a number from 0 on")
    if not inputs or isinstance(inputs, str):
        raise ValueError("inputs must be a list with at least one name")
    if evaluator is not None and not callable(evaluator):
        raise TypeError("the evaluator is not callable")
    if not isinstance(proposer, str) and not callable(proposer):
        raise TypeError("the proposer is neither a name nor callable")
    if api not in ("openai", "anthropic"):
        raise ValueError(f'api="{api}" is not "openai" or "anthropic"')
    return Search(
        {
            "apps": apps,
            "machine": machine,
            "start": start,
            "evaluator": evaluator,
            "proposer": proposer,
            "inputs": list(inputs),
            "unit": unit,
            "higher_is_better": higher_is_better,
            "deterministic": deterministic,
            "about": about,
            "evaluations": evaluations,
            "seconds": seconds,
            "tokens": tokens,
            "seed": seed,
            "threads": threads,
            "feedback": feedback,
            "least_gain": least_gain,
            "directory": os.fspath(directory),
            "resume": resume,
            "fingerprint": fingerprint,
            "endpoint": endpoint,
            "model": model,
            "api": api,
            "replay": os.fspath(replay),
        }
    )
