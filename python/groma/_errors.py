# The exceptions of Groma. The extension module raises them.
from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from groma._core import Diagnostic


class GromaError(Exception):
    """An operation failed: a file, a machine, an application or an argument is wrong."""

    def __init__(
        self, message: str, code: str = "malformed", help: str = "", more: typing.Sequence[GromaError] = ()
    ) -> None:
        text = message + (f"\nhelp: {help}" if help else "")
        super().__init__("\n".join([text, *map(str, more)]))
        #: The message without the cure.
        self.message = message
        #: "unreadable", "too-large", "unknown", "malformed" or "stopped".
        self.code = code
        #: What to do instead; may be empty.
        self.help = help
        #: Other mistakes in the same file.
        self.more = list(more)


class MappingError(GromaError):
    """A mapping has errors, or cannot run. ``str()`` is the text that the command prints."""

    def __init__(self, text: str, diagnostics: typing.Sequence[Diagnostic], advice: str = "") -> None:
        super().__init__(text.rstrip("\n") + (f"\n{advice.rstrip()}" if advice.strip() else ""))
        #: The messages with their places, in the order of the text.
        self.diagnostics = list(diagnostics)
        #: What the guide says about a run that failed; may be empty.
        self.advice = advice


class Refused(Exception):
    """Raised by an evaluator: the text is wrong, and was not measured."""


class Failed(Exception):
    """Raised by an evaluator: a run of the text failed."""
