#!/usr/bin/env python3
"""Packs this folder as an extension that VS Code can install:

    python3 pack.py groma.vsix
    code --install-extension groma.vsix

A .vsix file is a zip file with two lists of its contents. Packing needs neither npm nor a network.
"""
import json
import pathlib
import sys
import zipfile
from xml.sax.saxutils import escape, quoteattr

FOLDER = pathlib.Path(__file__).resolve().parent
FILES = ["package.json", "extension.js", "connection.js", "language-configuration.json",
         "syntaxes/groma.tmLanguage.json"]
TYPES = {".json": "application/json", ".js": "application/javascript", ".vsixmanifest": "text/xml"}
TIME = (2020, 1, 1, 0, 0, 0)  # the same for every file, so that the same sources give the same package


def content_types() -> str:
    types = "".join(f"<Default Extension={quoteattr(name)} ContentType={quoteattr(kind)}/>"
                    for name, kind in TYPES.items())
    return ('<?xml version="1.0" encoding="utf-8"?>\n'
            f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{types}</Types>\n')


def manifest(package: dict) -> str:
    engine = quoteattr(package["engines"]["vscode"])
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={quoteattr(package["name"])} Version={quoteattr(package["version"])} Publisher={quoteattr(package["publisher"])}/>
    <DisplayName>{escape(package["displayName"])}</DisplayName>
    <Description xml:space="preserve">{escape(package["description"])}</Description>
    <Tags>groma,mapper</Tags>
    <Categories>{escape(",".join(package["categories"]))}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    contents = {"[Content_Types].xml": content_types(), "extension.vsixmanifest": manifest(package)}
    for name in FILES:
        contents["extension/" + name] = (FOLDER / name).read_text(encoding="utf-8")
    with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as vsix:
        for name, text in contents.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            vsix.writestr(entry, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
