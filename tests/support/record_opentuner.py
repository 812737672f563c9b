#!/usr/bin/env python3
"""What OpenTuner finds on a few problems: records tests/data/opentuner.json.

The problems are examples of OpenTuner's (rosenbrock.py with its functions rosenbrock and beale,
tsp.py with cities of ours, unitary.py with the goal `fixed`, a loss as `time`), and one of ours
with numbers, switches and failures. unit/propose/opentuner_test.cc has the same ones.

    python3 -m venv venv
    venv/bin/pip install opentuner==0.8.8 'sqlalchemy<1.4' numpy
    venv/bin/python tests/support/record_opentuner.py >tests/data/opentuner.json

Takes half an hour.
"""
import argparse
import json
import logging
import math
import random
import sys

import opentuner
from opentuner import MeasurementInterface, Result
from opentuner.resultsdb.models import DesiredResult
from opentuner.search.manipulator import (BooleanParameter, ConfigurationManipulator, EnumParameter,
                                          FloatParameter, IntegerParameter, PermutationParameter,
                                          SwitchParameter)
from opentuner.tuningrunmain import TuningRunMain

TESTS = 600
CHECKPOINTS = [10, 25, 50, 100, 200, 400, 600]
SEEDS = 30
TECHNIQUES = ["DifferentialEvolutionAlt", "UniformGreedyMutation", "NormalGreedyMutation",
              "RandomNelderMead"]


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (x[0] - 1) ** 2


def beale(x):
    a, b = x
    return ((1.5 - a + a * b) ** 2 + (2.25 - a + a * b ** 2) ** 2 + (2.625 - a + a * b ** 3) ** 2)


CITIES = [((37 * i * i + 11 * i) % 101, (53 * i * i + 29 * i + 7) % 97) for i in range(15)]


def tsp(x):
    tour = x[0]
    return float(sum(math.floor(math.dist(CITIES[a], CITIES[b]) + 0.5)
                     for a, b in zip(tour, tour[1:])))


def rotation(angle, tilt):
    """About the axis in the plane of x and z that is `tilt` from z, as rows."""
    c, s = math.cos(angle / 2), math.sin(angle / 2)
    return [[c - 1j * math.cos(tilt) * s, -math.sin(tilt) * s],
            [math.sin(tilt) * s, c + 1j * math.cos(tilt) * s]]


ROTATIONS = [rotation(sign * math.pi / 10, tilt) for tilt in (0, math.pi / 3) for sign in (1, -1)]
GOAL = [[(-1 - 1j * math.sqrt(3)) / math.sqrt(10), (math.sqrt(2) - 2j) / math.sqrt(10)],
        [(-math.sqrt(2) - 2j) / math.sqrt(10), (-1 + 1j * math.sqrt(3)) / math.sqrt(10)]]


def unitary(x):
    u = [[1, 0], [0, 1]]
    for choice in x:
        if choice < len(ROTATIONS):
            m = ROTATIONS[choice]
            u = [[sum(m[i][k] * u[k][j] for k in range(2)) for j in range(2)] for i in range(2)]
    trace = sum(GOAL[i][k] * complex(u[i][k]).conjugate() for i in range(2) for k in range(2))
    return 1 - abs(trace) / 2


def mixed(x):
    """Two integers, three switches, four choices of six; a third of all fails."""
    a, b, s, c = x[0], x[1], x[2:5], x[5:]
    if (c[0] + 2 * c[1] + (3 if s[0] else 0)) % 3 == 0:
        return math.inf
    loss = abs(a - 37) / 10 + (b - 6) ** 2 / 100
    loss += sum(0 if on == (i != 1) else 1 for i, on in enumerate(s))
    return 1 + loss + sum((0, 3, 1, 4, 2, 5)[(choice + i) % 6] for i, choice in enumerate(c))


PROBLEMS = {
    "rosenbrock": (rosenbrock, lambda: [FloatParameter(f"x{i}", -1000, 1000) for i in range(2)]),
    "beale": (beale, lambda: [FloatParameter(f"x{i}", -4.5, 4.5) for i in range(2)]),
    "tsp": (tsp, lambda: [PermutationParameter("x0", list(range(15)))]),
    "unitary": (unitary, lambda: [SwitchParameter(f"x{i}", 5) for i in range(10)]),
    "mixed": (mixed, lambda: [IntegerParameter("x0", 1, 100), IntegerParameter("x1", -50, 50)] +
              [BooleanParameter(f"x{i}") for i in range(2, 5)] +
              [EnumParameter(f"x{i}", list(range(6))) for i in range(5, 9)]),
}


class Interface(MeasurementInterface):
    def __init__(self, args, problem):
        super().__init__(args)
        self.loss, self.parameters = problem

    def manipulator(self):
        return ConfigurationManipulator(self.parameters())

    def run(self, desired_result, input, limit):
        data = desired_result.configuration.data
        loss = self.loss([data[f"x{i}"] for i in range(len(data))])
        if math.isinf(loss):
            return Result(state="ERROR", time=loss)
        return Result(time=loss)

    def save_final_config(self, configuration):
        pass


def record(problem, seed):
    parser = argparse.ArgumentParser(parents=opentuner.argparsers())
    args = parser.parse_args([f"--test-limit={TESTS}", "--database=sqlite://", "--no-dups",
                              "--quiet"])
    random.seed(seed)
    run = TuningRunMain(Interface(args, problem), args)
    run.init()
    run.session.close = lambda: None  # it is read below
    run.main()
    requests = run.session.query(DesiredResult).order_by(DesiredResult.id).all()
    best, trajectory, seen = math.inf, [], set()
    for number, request in enumerate(requests, 1):
        if request.result is not None:
            best = min(best, request.result.time)
        seen.add(request.configuration_id)
        if number in CHECKPOINTS:
            trajectory.append(None if math.isinf(best) else float(f"{best:.6g}"))
    return {
        "best": trajectory,
        "duplicates": len(requests) - len(seen),
        "requests": [sum(r.requestor == name for r in requests) for name in TECHNIQUES],
    }


def main():
    logging.disable(logging.CRITICAL)
    names = sys.argv[1:] or list(PROBLEMS)
    print('{"version": "0.8.8", "tests": %d, "checkpoints": %s,\n "techniques": %s,\n "problems": {'
          % (TESTS, CHECKPOINTS, json.dumps(TECHNIQUES)))
    for name in names:
        print('  "%s": [' % name)
        for seed in range(1, SEEDS + 1):
            end = "," if seed < SEEDS else "]" + ("," if name != names[-1] else "")
            print("    " + json.dumps(record(PROBLEMS[name], seed)) + end, flush=True)
    print("}}")


if __name__ == "__main__":
    main()
