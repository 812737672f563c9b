"""Runs notebooks from begin to end, in this Python: run_notebook.py FILE... Fails at the first cell that fails."""

import pathlib
import sys

import nbclient
import nbformat

for name in sys.argv[1:]:
    path = pathlib.Path(name).resolve()
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    outputs = sum(len(cell.get("outputs", [])) for cell in notebook.cells)
    pictures = sum("image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    print(f"{name}: {len(notebook.cells)} cells, {outputs} outputs, {pictures} pictures")
    if pictures < 3:
        sys.exit(f"{name}: expected at least 3 pictures")
