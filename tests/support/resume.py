"""What checks that take hours share: a file of finished steps, and an orderly end after a signal."""
import json
import pathlib
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn


class FinishedSteps:
    """Remembers the values of the finished steps of a check, in a file if a path is given.

    A finished step is appended at once as one line. A step with a line in the file is not done again. An
    incomplete line is ignored, so its step is done again.
    """

    def __init__(self, path: pathlib.Path | None) -> None:
        self._known: dict[str, Any] = {}
        self._file = None
        if path is None:
            return
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in text.split("\n"):
            try:
                step, value = json.loads(line)
            except ValueError:
                continue
            self._known[step] = value
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        if text and not text.endswith("\n"):
            self._file.write("\n")

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, step: str) -> bool:
        return step in self._known

    def value_of(self, step: str, work: Callable[[], Any]) -> Any:
        """Returns the remembered value of the step, or what work() returns.

        The value must fit JSON. None says that the step could not be done, and is not remembered.
        """
        if step not in self._known:
            value = work()
            if value is None:
                return None
            self._known[step] = value
            if self._file is not None:
                self._file.write(json.dumps([step, value]) + "\n")
                self._file.flush()
        return self._known[step]


def exit_on_signals() -> None:
    """Makes the first Ctrl-C or SIGTERM raise SystemExit. Ignores later ones, so that `finally` blocks run."""
    signals = (signal.SIGINT, signal.SIGTERM)

    def leave(number: int, _: object) -> NoReturn:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for each in signals:
        signal.signal(each, leave)
