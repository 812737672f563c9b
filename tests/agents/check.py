"""Uses `groma serve` with the protocol's own Python client, and checks what it gets.

    PYTHON check.py GROMA

PYTHON has the package of requirements.txt. GROMA is the command. The exit code is 1 if a check fails. Takes about a
minute.
"""
import asyncio
import contextlib
import os
import pathlib
import sys
import tempfile
import time

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROMA = sys.argv[1]
GOOD = "Task * GPU,OMP,CPU;\n"
CALLS = 200
failures: list[str] = []


def expect(condition: bool, what: str, *details: object) -> None:
    print(("ok    " if condition else "WRONG ") + what, flush=True)
    if not condition:
        failures.append(what)
        print(*(str(each)[:2000] for each in details), sep="\n", flush=True)


def parameters(root: str, *options: str) -> StdioServerParameters:
    return StdioServerParameters(command=GROMA, args=["serve", "--root", root, *options],
                                 env={"TMPDIR": str(temporary_folder(pathlib.Path(root)))})


def temporary_folder(root: pathlib.Path) -> pathlib.Path:
    """The folder for the temporary files of a server, which no other program uses."""
    folder = root.parent / "temporary"
    folder.mkdir(exist_ok=True)
    return folder


@contextlib.asynccontextmanager
async def session_of(root: str, *options: str):
    async with stdio_client(parameters(root, *options)) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            yield session


def text_of(result: types.CallToolResult) -> str:
    return "".join(each.text for each in result.content if isinstance(each, types.TextContent))


def server_process() -> int:
    """The process id of the server that this process has started last."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = stat.read_text().rpartition(")")
            if int(rest.split()[1]) == os.getpid() and rest.split()[0] != "Z":
                found.append(int(stat.parent.name))
    return max(found)


def usage(process: int, root: pathlib.Path) -> dict[str, int]:
    """The memory in KiB, the open files, the threads, the processes below the process, and its temporary files."""
    folder = pathlib.Path(f"/proc/{process}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    below = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            below += int(stat.read_text().rpartition(")")[2].split()[1]) == process
    return {"KiB": int(status["VmRSS"].split()[0]), "files": len(os.listdir(folder / "fd")),
            "threads": int(status["Threads"]), "children": below,
            "temporary files": len(list(temporary_folder(root).rglob("*")))}


async def every_tool(root: pathlib.Path) -> None:
    (root / "write.jsonl").write_bytes((ROOT / "docs/examples/write.jsonl").read_bytes())
    sentence = "Place ghost/shared regions (rp_shared and rp_ghost) onto GPU zero-copy memory"
    block = (ROOT / "dsl/mappers/block2d.mapper").read_text()
    calls = {
        "reference": ({"app": "cannon"}, "REFERENCE CARD"),
        "check": ({"mapping": "Task * GPUS;"}, "unknown processor kind"),
        "format": ({"mapping": "Task *  GPU ;"}, "Task * GPU;"),
        "place": ({"mapping": block, "task": "dgemm", "domain": "4x4"}, "points on each of"),
        "explain": ({"mapping": GOOD, "app": "cannon"}, "kind GPU"),
        "run": ({"mapping": GOOD, "app": "cannon"}, "critical path"),
        "diff": ({"b": GOOD, "app": "cannon"}, ""),
        "guide": ({"log": "Achieved throughput = 4877 GFLOPS\n"}, "4877"),
        "tune": ({"app": "cannon", "evaluations": 3}, "The search is in `tune`"),
        "write": ({"sentence": sentence, "app": "circuit", "replay_file": "write.jsonl"}, "rp_ghost GPU ZCMEM"),
    }
    async with session_of(str(root)) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        expect(set(tools) == set(calls), "the tools are the documented ones", sorted(tools))
        for name, (arguments, expected) in calls.items():
            result = await session.call_tool(name, arguments)
            expect(not result.is_error and expected in text_of(result) and result.structured_content is not None,
                   f"{name} works", result)
        for name, arguments in [("check", {}), ("check", {"mapping_file": "../x"}), ("run", {"app": "no"}),
                                ("explain", {"mapping": 7, "app": "cannon"}), ("tune", {"resume": "no"}),
                                ("run", {"mapping": GOOD, "program": ["true"]}), ("write", {"sentence": "x"})]:
            result = await session.call_tool(name, arguments)
            expect(result.is_error and bool(text_of(result)), f"{name} {arguments} is an error that says why", result)
        try:
            await session.call_tool("no_such_tool", {})
            expect(False, "an unknown tool is an error of the protocol")
        except MCPError as error:
            expect(error.code == -32602, "an unknown tool is an error of the protocol", error)
        large = await session.call_tool("place", {"mapping": block, "task": "dgemm", "domain": "512x512"})
        expect(not large.is_error and len(text_of(large)) <= 110_000 and large.structured_content is None,
               "a large result is cut", len(text_of(large)))
        for resource in (await session.list_resources()).resources:
            contents = (await session.read_resource(str(resource.uri))).contents
            expect(bool(contents) and bool(contents[0].text), f"{resource.uri} can be read")
        templates = (await session.list_resource_templates()).resource_templates
        expect(len(templates) == 3, "there are templates of resources", templates)
    async with session_of(str(root), "--max-result", "65536") as session:
        large = await session.call_tool("place", {"mapping": block, "task": "dgemm", "domain": "512x512"})
        points = (large.structured_content or {}).get("points", [])
        expect(len(points) == 1 << 18, "a large result arrives as a whole if the user allows it", len(points))


async def cancellation(root: pathlib.Path) -> None:
    seen: list[float] = []

    async def progress(value: float, total: float | None, message: str | None) -> None:
        seen.append(value)

    search = {"app": "circuit", "evaluations": 100_000, "proposer": "random", "out": "cancelled"}
    async with session_of(str(root)) as session:
        server = server_process()
        with anyio.move_on_after(4):
            await session.call_tool("tune", search, progress_callback=progress)
            expect(False, "the search is cancelled")
        expect(len(seen) > 1 and seen == sorted(set(seen)), "progress grows", seen)
        end = time.monotonic() + 15
        while usage(server, root)["children"] > 1 and time.monotonic() < end:
            await asyncio.sleep(0.1)
        # The one that is left watches over the temporary folder.
        expect(usage(server, root)["children"] == 1, "the cancelled search has ended", usage(server, root))
        result = await session.call_tool("tune", {"resume": "cancelled", "evaluations": 1})
        expect(not result.is_error, "the cancelled search can be resumed", result)
        spent = (result.structured_content or {})["search"]["spent"]["evaluations"]
        expect(spent >= max(seen), "nothing that was found is lost", spent, seen[-1:])


async def a_long_session(root: pathlib.Path) -> None:
    async with session_of(str(root)) as session:
        server = server_process()
        kinds = [("check", {"mapping": GOOD, "app": "cannon", "machine": "p100x4"}), ("format", {"mapping": GOOD}),
                 ("explain", {"mapping": GOOD, "app": "cannon"}), ("run", {"mapping": GOOD, "app": "cannon:n=4000"}),
                 ("check", {"mapping_file": "no"}), ("reference", {"app": "circuit"}),
                 ("tune", {"app": "cannon", "evaluations": 2}),
                 ("place", {"mapping": GOOD, "task": "task_5", "app": "cannon"})]
        for i in range(40):
            await session.call_tool(*kinds[i % len(kinds)])
        before = usage(server, root)
        begin = time.monotonic()
        for i in range(0, CALLS, 4):
            await asyncio.gather(*(session.call_tool(*kinds[(i + k) % len(kinds)]) for k in range(4)))
        seconds = time.monotonic() - begin
        await asyncio.sleep(0.5)
        after = usage(server, root)
        print(f"      {CALLS} calls in {seconds:.1f} s; before {before}, after {after}", flush=True)
        for what in ["files", "threads", "children", "temporary files"]:
            expect(after[what] == before[what], f"no {what} are left over", before, after)
        expect(after["KiB"] - before["KiB"] < 4096, "the memory does not grow", before, after)


async def two_clients(root: pathlib.Path) -> None:
    for mode in ["auto", "legacy"]:
        async with Client(stdio_client(parameters(str(root))), mode=mode) as client:
            result = await client.call_tool("check", {"mapping": GOOD})
            expect(not result.is_error, f"a client that connects in the mode `{mode}` is served", result)
    left = list(temporary_folder(root).iterdir())
    expect(not left, "a server leaves no temporary files", left)


async def main() -> int:
    for part in [every_tool, cancellation, a_long_session, two_clients]:
        print(f"---- {part.__name__}", flush=True)
        with tempfile.TemporaryDirectory(prefix="agents-") as folder:
            root = pathlib.Path(folder) / "root"
            root.mkdir()
            await part(root)
    print(f"{len(failures)} checks failed" if failures else "all checks passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
