"""A run of OpenEvolve: python run_openevolve.py SETTINGS.json

OpenEvolve loads this file as its evaluator, too, and calls `evaluate` in a process of its own.
"""
import asyncio
import functools
import hashlib
import itertools
import multiprocessing
import os
import pathlib
import shutil
import sys
import uuid

from openevolve.config import Config, LLMModelConfig
from openevolve.controller import EvolutionFailedError, OpenEvolve
from openevolve.evaluation_result import EvaluationResult
from openevolve.llm.base import LLMInterface

from peer_run import (OBJECTIVE, SPARE_SECONDS, Evaluator, Model, RunError, RunLog, Settings, entries_of,
                      start_run)


@functools.cache
def settings_and_log(path: str) -> tuple[Settings, RunLog]:
    settings = Settings.of(path)
    return settings, RunLog(settings.log())


def evaluate(program_path: str, settings_path: str) -> EvaluationResult:
    """Judges the mapping in a file."""
    settings, log = settings_and_log(settings_path)
    mapping = pathlib.Path(program_path).read_text(encoding="utf-8")
    result = Evaluator(settings, log).evaluate(mapping)
    return EvaluationResult(metrics={"combined_score": result.score}, artifacts={"feedback": result.feedback})


class Client(LLMInterface):
    """Asks the model for OpenEvolve."""

    def __init__(self, settings_path: str) -> None:
        self._model = Model(*settings_and_log(settings_path))

    async def generate(self, prompt: str, **kwargs) -> str:
        return self._model.ask([{"role": "user", "content": prompt}])

    async def generate_with_context(self, system_message: str, messages: list, **kwargs) -> str:
        return self._model.ask([{"role": "system", "content": system_message}, *messages])


def make_ids_repeatable(seed: int) -> None:
    """Makes OpenEvolve's ids depend on the seed only, so that a run can repeat its steps.

    The ids decide the order of OpenEvolve's sets and thereby what it draws from them.
    """
    numbers = itertools.count()

    def next_id() -> uuid.UUID:
        process = "worker" if multiprocessing.parent_process() else "main"
        name = f"{seed} {process} {next(numbers)}"
        return uuid.UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4)

    uuid.uuid4 = next_id


def config_of(settings: Settings, settings_path: str) -> Config:
    """Returns OpenEvolve's defaults with our endpoint, evaluator and seed."""
    config = Config()
    config.random_seed = settings.seed
    config.language = "text"
    config.file_suffix = ".mapper"
    config.llm.models = [LLMModelConfig(
        name=settings.model or "first", init_client=lambda _: Client(settings_path))]
    config.llm.evaluator_models = []
    config.prompt.system_message = f"{OBJECTIVE}\n\n{settings.background_text()}"
    config.evaluator.cascade_evaluation = False
    config.evaluator.parallel_evaluations = 1
    config.evaluator.timeout = int(settings.run_seconds) + 4 * SPARE_SECONDS  # the evaluator ends before
    config.evaluator.evaluator_args = {"settings_path": settings_path}
    return config


def main() -> None:
    settings, _ = start_run()
    settings_path = os.path.abspath(sys.argv[1])
    make_ids_repeatable(settings.seed)
    work = pathlib.Path(settings.folder) / "openevolve"
    shutil.rmtree(work, ignore_errors=True)  # of an attempt that was broken off
    controller = OpenEvolve(settings.start, __file__, config_of(settings, settings_path), str(work))
    try:
        asyncio.run(controller.run(iterations=settings.evaluations - 1))
    except EvolutionFailedError:
        pass  # no reply was usable
    last = entries_of(settings.log())[-1]
    if last["event"] == "failure":
        raise RunError(last["why"])


if __name__ == "__main__":
    try:
        main()
    except RunError as error:
        sys.exit(str(error))
