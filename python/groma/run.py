"""Runs a Legate or cuPyNumeric script under a mapping:

    python -m groma.run --map my.mapper [OPTIONS] [LEGATE OPTIONS] script.py [ARGUMENTS]

OPTIONS are those of `groma run --map` (`groma help run`), such as --profile, --log FILE or --report FILE. They
come before the options of `legate`, such as --cpus 2. It needs the command `groma`, built with the Legion of this
Python's legate (docs/python.md).

    python -m groma.run --map my.mapper --profile --cpus 2 --gpus 0 --sysmem 1000 script.py
"""
from __future__ import annotations

import sys
import types
import typing

from groma import _legion
from groma._calls import run as _run
from groma._errors import GromaError

_WITH_VALUE = "--map --trace --report --log --timeout --checks --library --same --tolerance".split()
_FLAGS = ["--profile", "--json", "--override-layouts"]


def _words(arguments: typing.Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Returns the command that runs the script, and what it needs in the environment."""
    options, rest = _legion.split_options(arguments, _WITH_VALUE, _FLAGS)
    if not any(option == "--map" or option.startswith("--map=") for option in options):
        raise GromaError("no mapping is given", help="python -m groma.run --map my.mapper script.py")
    if not rest:
        raise GromaError("no script is given", help="python -m groma.run --map my.mapper script.py")
    return [_legion.find_command(), "run", *options, "--", *_legion.program_words(rest)], {}


class _Callable(types.ModuleType):
    """Keeps `groma.run(...)` a function after `import groma.run`."""

    def __call__(self, *arguments: typing.Any, **options: typing.Any) -> typing.Any:
        return _run(*arguments, **options)


if __name__ == "__main__":
    sys.exit(_legion.main(sys.argv[1:], (__doc__ or "").strip(), _words))
sys.modules[__name__].__class__ = _Callable
