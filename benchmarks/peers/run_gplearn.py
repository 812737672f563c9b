"""Symbolic regression by gplearn on the task of `groma domain derive --table`.

    python run_gplearn.py --groma build/release/examples/driver/groma --out gplearn.json

For each of six domains and for 20, 50 and 100 samples, gplearn fits a function of k for each coordinate. The
functions are rounded and compared with the first --points points, in order and in any order. The file is
written after each fit; the same command goes on where it was broken off.
"""
import argparse
import json
import pathlib
import subprocess
import time

import numpy
from gplearn.functions import make_function
from gplearn.genetic import SymbolicRegressor

# As `groma domain derive --table` has them, with parameters for a million points.
DOMAINS = {"triangle": "n=1500", "tetrahedron": "n=200", "gasket": "r=13", "carpet": "r=7",
           "sierpinski3": "r=10", "menger": "r=5"}
STAGES = (20, 50, 100)
LARGEST = 1 << 20  # of a coordinate; what is further out is wrong in any case


def protected_remainder(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    safe = numpy.where(numpy.abs(b) > 0.001, b, 1.0)
    return numpy.where(numpy.abs(b) > 0.001, numpy.mod(a, safe), 0.0)


FUNCTIONS = ("add", "sub", "mul", "div", "sqrt", make_function(function=numpy.floor, name="floor", arity=1),
             make_function(function=protected_remainder, name="mod", arity=2))


def points_of(groma: str, domain: str, count: int) -> numpy.ndarray:
    """Returns the first points of a known domain, a row for each."""
    out = subprocess.run([groma, "domain", "show", f"{domain}:{DOMAINS[domain]}", "--points", str(count), "--json"],
                         check=True, capture_output=True, text=True).stdout
    return numpy.array(json.loads(out)["points"], dtype=numpy.int64)


def codes(points: numpy.ndarray) -> numpy.ndarray:
    """Returns a number for each point. Different points within LARGEST have different numbers."""
    code = numpy.zeros(len(points), dtype=numpy.int64)
    for column in points.T:
        code = code * LARGEST + column
    return code


def fit(truth: numpy.ndarray, samples: int, options: argparse.Namespace) -> dict:
    begin = time.perf_counter()
    programs = []
    index = numpy.arange(samples, dtype=float).reshape(-1, 1)
    for column in truth[:samples].T:
        program = SymbolicRegressor(population_size=options.population, generations=options.generations,
                                    function_set=FUNCTIONS, const_range=(-10.0, 10.0), metric="mean absolute error",
                                    parsimony_coefficient=0.001, random_state=options.seed, n_jobs=1)
        programs.append(program.fit(index, column.astype(float)))
    seconds = time.perf_counter() - begin
    every = numpy.arange(len(truth), dtype=float).reshape(-1, 1)
    with numpy.errstate(all="ignore"):
        given = numpy.stack([program.predict(every) for program in programs], axis=1)
    # Values that are not points become a point that no domain has.
    given = numpy.rint(numpy.nan_to_num(given, nan=-1, posinf=-1, neginf=-1)).clip(-1, LARGEST - 1)
    given = given.astype(numpy.int64)
    given[(given < 0).any(axis=1)] = LARGEST - 1
    return {"samples": samples, "points": len(truth), "in_order": int((given == truth).all(axis=1).sum()),
            "in_any_order": len(numpy.intersect1d(codes(given), codes(truth))), "seconds": round(seconds, 3),
            "programs": [str(program._program) for program in programs]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--groma", default="groma", help="the command")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the file with the results")
    parser.add_argument("--points", type=int, default=1_000_000, help="how many points are compared")
    parser.add_argument("--population", type=int, default=1000)
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--domains", default=",".join(DOMAINS), help="only these domains")
    options = parser.parse_args()
    settings = {name: getattr(options, name) for name in ("points", "population", "generations", "seed")}
    done = {"settings": settings, "results": []}
    if options.out.exists():
        done = json.loads(options.out.read_text())
        if done["settings"] != settings:
            parser.error(f"{options.out} was made with other settings: {done['settings']}")
    known = {(each["domain"], each["samples"]) for each in done["results"]}
    for domain in options.domains.split(","):
        truth = None
        for samples in STAGES:
            if (domain, samples) in known:
                continue
            if truth is None:
                truth = points_of(options.groma, domain, options.points)
            result = {"domain": domain, **fit(truth, samples, options)}
            done["results"].append(result)
            options.out.write_text(json.dumps(done, indent=1) + "\n")
            print(f"{domain} from {samples}: {result['in_order']} in order, {result['in_any_order']} in any order, "
                  f"{result['seconds']} s", flush=True)


if __name__ == "__main__":
    main()
