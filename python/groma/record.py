"""Describes what a Legate or cuPyNumeric script does as an application, for groma.tune() and `groma tune`:

    python -m groma.record [--out app.json] [--blocks] [--map my.mapper] [LEGATE OPTIONS] script.py [ARGUMENTS]

With --blocks, only the blocks `with groma.record():` of the script are described. Other OPTIONS are those of
`groma record` (`groma help record`); they come before the options of `legate`, such as --cpus 2. It needs the
command `groma`, built with the Legion of this Python's legate (docs/python.md).

    python -m groma.record --out app.json --cpus 2 --gpus 0 --sysmem 1000 script.py
"""
from __future__ import annotations

import sys
import types
import typing

from groma import _legion
from groma._errors import GromaError

_WITH_VALUE = "--out --map --timeout --library --checks".split()
_FLAGS = ["--blocks", "--override-layouts"]


def _words(arguments: typing.Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Returns the command that records the script, and what it needs in the environment."""
    options, rest = _legion.split_options(arguments, _WITH_VALUE, _FLAGS)
    if not rest:
        raise GromaError("no script is given", help="python -m groma.record --out app.json script.py")
    environment = {"GROMA_RECORD_BLOCKS": "1"} if "--blocks" in options else {}
    options = [option for option in options if option != "--blocks"]
    return [_legion.find_command(), "record", *options, "--", *_legion.program_words(rest)], environment


class _Callable(types.ModuleType):
    """Keeps `groma.record()` a context manager after `import groma.record`."""

    def __call__(self, *arguments: typing.Any, **options: typing.Any) -> _legion.record:
        return _legion.record(*arguments, **options)


if __name__ == "__main__":
    sys.exit(_legion.main(sys.argv[1:], (__doc__ or "").strip(), _words))
sys.modules[__name__].__class__ = _Callable
