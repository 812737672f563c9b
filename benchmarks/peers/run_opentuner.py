"""A run of OpenTuner on the search space of `groma sample`: python run_opentuner.py SETTINGS.json

Each decision of the space is an enum parameter. The number of an evaluation is the number of OpenTuner's
request, so that a request for a known configuration counts, as in `groma tune --compare`.
"""
import argparse
import json
import logging
import math
import random
import sys

import opentuner
from opentuner import MeasurementInterface, Result
from opentuner.search.manipulator import ConfigurationManipulator, EnumParameter
from opentuner.tuningrunmain import TuningRunMain

from peer_run import SPARE_SECONDS, Evaluator, RunError, Settings, run_command, start_run


def sample(settings: Settings, *options: str) -> str:
    """Returns what `groma sample` prints."""
    code, out, err = run_command([settings.groma, "sample", "--app", settings.app,
                                  "--machine", settings.machine, *options], "", SPARE_SECONDS)
    if code != 0:
        raise RunError(f"`groma sample` failed: {err.strip()}")
    return out


class Interface(MeasurementInterface):
    def __init__(self, args, settings: Settings, evaluator: Evaluator) -> None:
        super().__init__(args)
        self.settings, self.evaluator = settings, evaluator
        decisions = json.loads(sample(settings, "--json"))["decisions"]
        self.counts = [len(decision["options"]) for decision in decisions]

    def manipulator(self):
        return ConfigurationManipulator(
            [EnumParameter(f"decision{i}", list(range(count))) for i, count in enumerate(self.counts)])

    def run(self, desired_result, input, limit):
        number = 1 + desired_result.id  # 1 is the start
        if number > self.settings.evaluations:  # OpenTuner finishes its last generation of four
            return Result(state="ERROR", time=math.inf)
        chosen = desired_result.configuration.data
        choice = ",".join(str(chosen[f"decision{i}"]) for i in range(len(self.counts)))
        mapping = sample(self.settings, "--choice", choice)
        result = self.evaluator.evaluate(mapping, number)
        if result.seconds is None:
            return Result(state="ERROR", time=math.inf)
        return Result(time=result.seconds)

    def save_final_config(self, configuration):
        pass


def main() -> None:
    settings, log = start_run()
    evaluator = Evaluator(settings, log)
    evaluator.evaluate(settings.start_text())
    if settings.evaluations < 2:
        return
    logging.disable(logging.CRITICAL)
    parser = argparse.ArgumentParser(parents=opentuner.argparsers())
    args = parser.parse_args([f"--test-limit={settings.evaluations - 1}", "--database=sqlite://",
                              "--no-dups", "--quiet"])
    random.seed(settings.seed)
    TuningRunMain(Interface(args, settings, evaluator), args).main()
    log.append({"event": "counted", "number": settings.evaluations})


if __name__ == "__main__":
    try:
        main()
    except RunError as error:
        sys.exit(str(error))
