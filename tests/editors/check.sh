#!/bin/bash
# Real clients of the language server: pytest-lsp's (which is pygls's), Neovim's, and the VS Code
# extension with a stand-in for VS Code.
#
#   bash tests/editors/check.sh GROMA PYTHON
#
# GROMA is the command, PYTHON a Python with the packages of requirements.txt. Neovim and Node.js are
# Debian's packages neovim and nodejs.
set -euo pipefail
GROMA=$(realpath "$1")
python=$2
export GROMA
cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/groma-editors-XXXXXX")
trap 'rm -rf "$work"' EXIT

echo "-- editors: pytest-lsp's client"
"$python" -m pytest -q -p no:cacheprovider tests/editors/pygls_test.py

echo "-- editors: $(nvim --version | head -n 1)"
timeout 300 nvim --headless --clean -i NONE -c 'luafile tests/editors/neovim.lua'

echo "-- editors: the VS Code extension, under node $(node --version)"
python3 dsl/editors/vscode/pack.py "$work/groma.vsix"
python3 - "$work/groma.vsix" "$work/unpacked" <<'END'
import json, sys, xml.dom.minidom, zipfile
with zipfile.ZipFile(sys.argv[1]) as vsix:
    names = vsix.namelist()
    types = xml.dom.minidom.parseString(vsix.read("[Content_Types].xml"))
    known = {node.getAttribute("Extension") for node in types.getElementsByTagName("Default")}
    assert all("." + name.rpartition(".")[2] in known for name in names if name != "[Content_Types].xml"), names
    manifest = xml.dom.minidom.parseString(vsix.read("extension.vsixmanifest"))
    for asset in manifest.getElementsByTagName("Asset"):
        assert asset.getAttribute("Path") in names
    package = json.loads(vsix.read("extension/package.json"))
    contributes = package["contributes"]
    used = [package["main"], contributes["languages"][0]["configuration"], contributes["grammars"][0]["path"]]
    for name in used:
        assert "extension/" + name.removeprefix("./") in names, name
    vsix.extractall(sys.argv[2])
END
node --check "$work/unpacked/extension/extension.js"
node --check "$work/unpacked/extension/connection.js"
timeout 300 node tests/editors/vscode_test.js "$GROMA" "$work/unpacked/extension"
echo "-- editors: all passed"
