#!/usr/bin/env python3
"""Draws texts of this project for readers who do not know it, each without its surroundings.

A text that such a reader cannot restate is a defect (CONTRIBUTING.md). The draw of a seed is the same
for the same sources.

    python3 tests/support/strangers.py --seed 1            # 60 comments, 30 names, 20 of each other kind
    python3 tests/support/strangers.py --seed 2 --share 0.2 # a fifth of that
    python3 tests/support/strangers.py --seed 1 --places    # also where each text stands

Kinds: comments (of C++ files in include/, lib/ and examples/), names (of functions and types in headers, with
their namespace and class),
paragraphs (of README.md, CONTRIBUTING.md and docs/), diagnostics (the texts of the catalogue) and the
subjects of the last 100 commits.
"""
import argparse
import pathlib
import random
import re
import subprocess
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTS = {"comment": 60, "name": 30, "paragraph": 20, "diagnostic": 20, "commit": 20}
MIN_WORDS = 4  # of a comment: shorter ones are labels
MAX_COMMITS = 100


class Text(NamedTuple):
    place: str
    text: str


def sources(*patterns: str) -> list[pathlib.Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def comments() -> list[Text]:
    """Whole comments: the lines that stand together, or what stands behind code."""
    found = []
    for path in sources("include/groma/*.h", "lib/**/*.h", "lib/**/*.cc", "examples/**/*.cc"):
        block: list[str] = []
        begin = 0
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() + [""], 1):
            whole = re.match(r"\s*// ?(.*)", line)
            if whole:
                begin = begin if block else number
                block.append(whole.group(1))
                continue
            text = " ".join(block).strip()
            block = []
            behind = re.search(r"[;{,)] +// (.*)", line)
            for place, words in ((begin, text), (number, behind.group(1) if behind else "")):
                is_text = not re.match(r"(@|NOLINT|-{3})", words) and not words.endswith('\\n"')
                if is_text and len(words.split()) >= MIN_WORDS:
                    found.append(Text(f"{path.relative_to(ROOT)}:{place}", words))
    return found


def names() -> list[Text]:
    """Functions and types that headers declare: the line that declares them, and the scope they are in."""
    declared = re.compile(
        r"^ {0,2}(?:struct|class|enum class) (\w+)[^;]*$|^ {0,2}(?! )(?:[\w:<>,&*]+ )+[&*]?(\w+)\([^{}]*")
    found = []
    for path in sources("include/groma/*.h", "lib/**/*.h"):
        lines = path.read_text(encoding="utf-8").splitlines()
        namespace = outer = ""
        for number, line in enumerate(lines, 1):
            if opened := re.match(r"(?:inline )?namespace ([\w:]+) \{", line):
                namespace = opened.group(1)
            match = declared.match(line)
            if match and not re.search(r"\breturn\b|operator", line):
                whole = " ".join(each.strip() for each in lines[number - 1:number + 4])
                scope = "::".join(filter(None, [namespace, outer if line.startswith("  ") else ""]))
                found.append(Text(f"{path.relative_to(ROOT)}:{number}",
                                  f"{re.split(r' ?[;{]', whole)[0]} (in {scope})"))
            if opened := re.match(r"(?:struct|class) (\w+)[^;]*$", line):
                outer = opened.group(1)
    return found


def paragraphs() -> list[Text]:
    """Paragraphs and list items, without tables, headings and code."""
    found = []
    for path in sources("README.md", "CONTRIBUTING.md", "docs/*.md"):
        plain = re.sub(r"```.*?```|<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for block in re.split(r"\n\s*\n|\n(?=[*] |\d+\. )", plain):
            text = " ".join(block.split())
            if text and not re.match(r" *(#|\|)|    ", block.lstrip("\n")) and len(text.split()) >= 8:
                found.append(Text(str(path.relative_to(ROOT)), text))
    return found


def diagnostics() -> list[Text]:
    catalogue = ROOT / "include/groma/catalogue.inc"
    rows = re.findall(r'GROMA_DIAGNOSTIC\(\w+, "([^"]+)", \w+, "(.*)"\)', catalogue.read_text(encoding="utf-8"))
    return [Text(name, message) for name, message in rows if message != "{}"]


def commits() -> list[Text]:
    log = subprocess.run(["git", "-C", str(ROOT), "log", "--no-merges", f"-{MAX_COMMITS}", "--format=%h %s"],
                         check=True, capture_output=True, text=True).stdout
    return [Text(*line.split(" ", 1)) for line in log.splitlines()]


def main() -> None:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--share", type=float, default=1, help="of the numbers of texts (default 1)")
    parser.add_argument("--places", action="store_true", help="say where each text stands")
    options = parser.parse_args()
    all_texts = {"comment": comments(), "name": names(), "paragraph": paragraphs(),
                 "diagnostic": diagnostics(), "commit": commits()}
    dice = random.Random(options.seed)
    for kind, texts in all_texts.items():
        count = min(len(texts), max(1, round(COUNTS[kind] * options.share)))
        for number, drawn in enumerate(dice.sample(texts, count), 1):
            place = f" ({drawn.place})" if options.places else ""
            print(f"{kind} {number}{place}: {drawn.text}\n")


if __name__ == "__main__":
    main()
