"""Runs programs of StarPU with and without Groma's policy."""

import os
import subprocess
import tempfile


def environment(**more):
    """Returns the environment of a run: four CPU workers, no other policy, StarPU's files in a folder of
    their own."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("STARPU_", "GROMA_", "HWLOC_"))}
    env.update(STARPU_NCPU="4", STARPU_NOPENCL="0", STARPU_NCUDA="0", STARPU_SILENT="1", OMPI_MCA_btl="self",
               OPENBLAS_NUM_THREADS="1",
               STARPU_HOME=os.path.join(tempfile.gettempdir(), f"groma-starpu-{os.getuid()}"))
    env.update(more)
    os.makedirs(env["STARPU_HOME"], exist_ok=True)
    return env


def run(command, **more):
    """Runs a program of StarPU. Returns its exit status, its output and its standard error."""
    done = subprocess.run(command, env=environment(**more), capture_output=True, text=True, timeout=120,
                          check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def run_mapped(command, preload, mapping=None, log=None, **more):
    """Runs a program under the policy "groma"."""
    more = {"LD_PRELOAD": preload, "STARPU_SCHED": "groma", **more}
    if mapping is not None:
        more["GROMA_MAPPING"] = mapping
    if log is not None:
        more["GROMA_LOG"] = log
    return run(command, **more)
