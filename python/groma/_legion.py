# Legion programs in Python (Legate, cuPyNumeric): the command `groma` runs and records them.
from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
import typing

from groma._errors import GromaError

#: The function with which the recorder of a program learns where a block begins and ends.
_BLOCK_FUNCTION = "groma_record_block"


def find_command() -> str:
    """Returns the path of the command ``groma``: $GROMA_COMMAND, or the first in PATH."""
    given = os.environ.get("GROMA_COMMAND")
    found = shutil.which(given or "groma")
    if found is None:
        raise GromaError(
            f"there is no command `{given}` (GROMA_COMMAND)" if given else "there is no command `groma` in PATH",
            "unknown",
            "build it with the Legion of your legate (docs/legion.md, \"Build\"), and put its folder into PATH or"
            " its path into GROMA_COMMAND",
        )
    return found


def program_words(words: typing.Sequence[str]) -> list[str]:
    """Returns the command line for a script with the launcher's options before it.

    The launcher is the ``legate`` of this Python; without one, this Python starts the script.
    """
    folder = os.path.dirname(sys.executable)
    legate = os.path.join(folder, "legate")
    if os.access(legate, os.X_OK):
        return [legate, *words]
    return [sys.executable, *words]


def split_options(
    words: typing.Sequence[str], with_value: typing.Collection[str], flags: typing.Collection[str]
) -> tuple[list[str], list[str]]:
    """Splits a command line into Groma's options, which come first, and the rest."""
    at = 0
    while at < len(words):
        name, equals, _ = words[at].partition("=")
        # A flag may have a value behind `=`, such as `--override-layouts=TASK`.
        if name in flags or (equals and name in with_value):
            at += 1
        elif words[at] in with_value:
            if at + 1 == len(words):
                raise GromaError(f"`{words[at]}` needs a value")
            at += 2
        else:
            break
    rest = list(words[at:])
    if rest[:1] == ["--"]:
        rest = rest[1:]
    return list(words[:at]), rest


def execute(words: typing.Sequence[str], environment: typing.Mapping[str, str]) -> typing.NoReturn:
    """Replaces this process by a command. The first ``python`` in PATH is then this Python."""
    folder = os.path.dirname(sys.executable)
    path = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(words[0], list(words), {**os.environ, "PATH": path, **environment})


def main(
    arguments: typing.Sequence[str],
    usage: str,
    words: typing.Callable[[typing.Sequence[str]], tuple[list[str], dict[str, str]]],
) -> int:
    """Runs `python -m groma.run` or `python -m groma.record`. Returns the exit code if it does not start."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    try:
        command, environment = words(arguments)
        execute(command, environment)
    except GromaError as error:
        print(f"groma: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"groma: cannot start `{error.filename}`: {error.strerror}", file=sys.stderr)
        return 1


def _block_function() -> typing.Callable[[int], None] | None:
    """Returns the recorder's function, or None if Legion did not start with the recorder."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if path.endswith("libgroma_preload_mapper.so"):
                library = ctypes.CDLL("/" + path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
                function = getattr(library, _BLOCK_FUNCTION, None)
                if function is not None:
                    function.argtypes, function.restype = [ctypes.c_int], None
                return typing.cast("typing.Callable[[int], None] | None", function)
    return None


def _wait_for_launches() -> None:
    """Waits until every launch that the program made so far has run, if Legate runs in this process."""
    if "legate" not in sys.modules:
        return
    from legate.core import get_legate_runtime  # type: ignore[import-not-found, unused-ignore]

    get_legate_runtime().issue_execution_fence(block=True)


class record(contextlib.ContextDecorator):
    """Records what the program launches in this block, and nothing outside of such blocks.

        with groma.record():
            step(arrays)

    The recorder has to be in the process before Legion starts, so the script is started by
    ``python -m groma.record --blocks --out app.json script.py``. In any other run a block does nothing, except
    with ``required=True``, which raises GromaError. Entering and leaving a block waits for the launches before.
    """

    def __init__(self, *, required: bool = False) -> None:
        self._required = required
        self._function: typing.Callable[[int], None] | None = None

    def __enter__(self) -> record:
        if "GROMA_RECORD_BLOCKS" in os.environ:
            _wait_for_launches()  # starts Legate, if the script has not
            self._function = _block_function()
        if self._function is None:
            if self._required:
                raise GromaError(
                    "this process is not recorded by blocks", "unknown",
                    "start it with `python -m groma.record --blocks --out app.json SCRIPT`, and begin the block after"
                    " the first `import cupynumeric` or `import legate`",
                )
            return self
        self._function(1)
        return self

    def __exit__(self, *_: object) -> None:
        if self._function is None:
            return
        _wait_for_launches()
        self._function(0)
