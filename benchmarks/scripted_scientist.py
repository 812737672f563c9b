#!/usr/bin/env python3
"""A scripted model for the proposer `scientist`: plays a good sequence of changes to an OpenCL matrix product.

    groma tune --file examples/kernel/opencl/matmul_plain.cl --proposer scientist \\
      --endpoint 'exec:python3 benchmarks/scripted_scientist.py' ...

Reads a request in OpenAI's JSON on standard input and prints the reply. The sequence is written down here: vectors,
sums in registers, a tile of b in local memory, and at last the kernel matmul_by_hand.cl itself. Like a model it knows
nothing but the prompt: it plans and writes only the step that follows the base text which the prompt shows. Two of its
kernels are wrong on purpose, one does not compile and one computes a wrong product. It repairs them only if the prompt
has the compiler's message, or the expected element.
"""
import difflib
import json
import pathlib
import re
import sys

BY_HAND = pathlib.Path(__file__).resolve().parents[1] / "examples/kernel/opencl/matmul_by_hand.cl"

ARGUMENTS = """int rows, int columns, int depth, global const float* restrict a,
            global const float* restrict b, global float* restrict c"""

VECTORS = f"""// A work-item computes 16 neighbouring elements of a row of c.
#define TILE_X 16
kernel void matmul({ARGUMENTS}) {{
  const int i = get_global_id(1), j = get_global_id(0) * TILE_X;
  if (i >= rows || j >= columns) return;
  if (j + TILE_X <= columns) {{
    float16 sum = 0;
    for (int k = 0; k < depth; ++k) sum += a[i * depth + k] * vload16(0, b + k * columns + j);
    vstore16(sum, 0, c + i * columns + j);
    return;
  }}
  for (int x = j; x < columns; ++x) {{
    float sum = 0;
    for (int k = 0; k < depth; ++k) sum += a[i * depth + k] * b[k * columns + x];
    c[i * columns + x] = sum;
  }}
}}
"""

REGISTERS = f"""// A work-item computes a tile of c whose ROWS vectors of sums stay in registers.
#define ROWS 12
#define TILE_X 16
#define TILE_Y ROWS
kernel void matmul({ARGUMENTS}) {{
  const int i = get_global_id(1) * TILE_Y, j = get_global_id(0) * TILE_X;
  if (i >= rows || j >= columns) return;
  if (j + TILE_X <= columns) {{
    float16 sums[ROWS];
#pragma unroll
    for (int y = 0; y < ROWS; ++y) sums[y] = 0;
    for (int k = 0; k < depth; ++k) {{
      const float16 of_b = vload16(0, b + k * columns + j);
#pragma unroll
      for (int y = 0; y < ROWS; ++y) {{
        sums[y] = fma((float16)a[min(i + y, rows - 1) * depth + k], of_b, sums[y]);
      }}
    }}
#pragma unroll
    for (int y = 0; y < ROWS; ++y) {{
      if (i + y < rows) vstore16(sums[y], 0, c + (i + y) * columns + j);
    }}
    return;
  }}
  for (int y = i; y < min(rows, i + TILE_Y); ++y) {{
    for (int x = j; x < columns; ++x) {{
      float sum = 0;
      for (int k = 0; k < depth; ++k) sum += a[y * depth + k] * b[k * columns + x];
      c[y * columns + x] = sum;
    }}
  }}
}}
"""

# The mistakes, and what a prompt must have so that they are repaired.
NOT_COMPILED = ("(float16)a[min(", "(vector16)a[min(", r"error: .*vector16|vector16.*undeclared")
NOT_RIGHT = ("store_row(first > 0,", "store_row(false,", r"expected [-0-9.]+")

AVENUES = ["vectors of neighbouring columns", "sums in registers", "a tile of b in local memory",
           "one copied tile for many rows", "unrolled loops", "restrict", "fused products and sums",
           "other sizes of the tile", "a work-group of one work-item", "prefetches"]


def without_marks(text: str) -> str:
    """A kernel without the comments that Groma reads."""
    return re.sub(r"^// groma: .*\n| *// groma: one of.*", "", text, flags=re.MULTILINE)


def set_number(text: str, name: str, value: int) -> str:
    return re.sub(rf"(#define {name}) \d+", rf"\1 {value}", text)


BEST = without_marks(BY_HAND.read_text(encoding="utf-8"))
TILE = set_number(BEST, "BLOCKS", 1)


def unrolled(text: str) -> str:
    return re.sub(r"\n( *for \(int k = 0;)", r"\n#pragma unroll 4\n\1", text, count=1)


# The words of an experiment; the gain and the innovation that it claims; the text that it makes of the base.
Experiment = tuple[str, tuple[int, int], int, str]


def experiments_on(base: str) -> list[Experiment]:
    """Five experiments on a base text. `scientist` carries out the first three."""
    if "copy_tile" in base:
        best = ("Use a copied tile of b for 8 panels of rows", (20, 90), 60, BEST)
        others = [("Tiles of b with 256 rows", (5, 20), 30, set_number(base, "DEPTH", 256)),
                  ("Panels of 8 rows", (6, 10), 10, set_number(base, "ROWS", 8))]
        if without_marks(base).strip() == BEST.strip():
            best = ("Use a copied tile of b for 16 panels of rows", (2, 9), 60,
                    set_number(base, "BLOCKS", 16))
    elif "ROWS" in base:
        best = ("Copy a tile of b to local memory, where it is read in order", (50, 300), 80, TILE)
        others = [("Unroll the loop over k", (0, 10), 5, unrolled(base)),
                  ("Six rows of sums", (0, 5), 5, set_number(base, "ROWS", 6))]
    elif "vload16" in base:
        best = ("Keep 12 rows of sums in registers", (100, 500), 70, REGISTERS)
        others = [("Unroll the loop over k", (0, 10), 5, unrolled(base)),
                  ("A work-group of one work-item", (0, 5), 5,
                   "#define GROUP_X 1\n#define GROUP_Y 1\n" + base)]
    else:
        best = ("Compute 16 neighbouring columns as a vector", (200, 900), 60, VECTORS)
        others = [("Say that the arrays do not overlap", (0, 5), 5, base.replace("float* ", "float* restrict ")),
                  ("Unroll the loop over k", (0, 10), 5, unrolled(base))]
    idle = [("Prefetch rows of b", (-20, 2), 0, base), ("Products in half precision", (-50, 1), 0, base)]
    return [best, *others, *idle]


def with_mistake(text: str) -> str:
    """The text as the script writes it first."""
    if text == REGISTERS:
        return text.replace(*NOT_COMPILED[:2])
    return text.replace(*NOT_RIGHT[:2]) if text == TILE else text


def edits_between(name: str, base: str, target: str) -> str:
    """SEARCH/REPLACE edits that make the target of the base; the whole file if little stays."""
    whole = f"```{name}\n{target}```\n"
    old, new = base.splitlines(keepends=True), target.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < 0.5:
        return whole
    edits = []
    for tag, begin, end, from_, to in matcher.get_opcodes():
        if tag == "equal":
            continue
        # Lines above and below are added until the SEARCH text occurs once.
        while begin == end or base.count("".join(old[begin:end])) != 1:
            if begin > 0:
                begin, from_ = begin - 1, from_ - 1
            else:
                end, to = end + 1, to + 1
        search, replacement = "".join(old[begin:end]), "".join(new[from_:to])
        edits.append(f"<<<<<<< SEARCH\n{search}=======\n{replacement}>>>>>>> REPLACE\n")
    # Edits whose surroundings overlap would not fit one after the other.
    return "".join(edits) if applied(base, edits) == target else whole


def applied(text: str, edits: list[str]) -> str | None:
    """The text after the edits; None if one of them does not fit."""
    for edit in edits:
        search, replacement = edit.split("\n", 1)[1].rsplit(">>>>>>> REPLACE\n", 1)[0].split("=======\n", 1)
        if text.count(search) != 1:
            return None
        text = text.replace(search, replacement)
    return text


def block_below(prompt: str, title: str) -> tuple[str, str]:
    """The label and the text of the first fenced block below a line that begins with the title."""
    found = re.search(rf"^{title}.*?^(`{{3,}})([^\n]*)\n(.*?)^\1$", prompt, re.MULTILINE | re.DOTALL)
    return (found.group(2), found.group(3)) if found else ("", "")


def select(prompt: str) -> str:
    """The fastest text is the base, and the one before it the reference."""
    rates = [(float(rate), int(number))
             for number, rate in re.findall(r"^ #(\d+) \|[^|]*\| ([0-9.e+-]+) ", prompt, re.MULTILINE)]
    rates.sort(reverse=True)
    numbers = [number for _, number in rates[:2]]
    return json.dumps({"base": numbers[0], "reference": numbers[-1], "reason": "it is the fastest"})


def design(base: str) -> str:
    return json.dumps({"avenues": AVENUES, "experiments": [
        {"description": words, "rubric": "the kernel matmul", "gain": list(gain), "innovation": innovation}
        for words, gain, innovation, _ in experiments_on(base)]})


def write(name: str, base: str, experiment: str) -> str:
    for words, _, _, target in experiments_on(base):
        if words == experiment and target != base:
            return f"PLAN: {words}.\n" + edits_between(name, base, with_mistake(target))
    return "I cannot do that."


def repair(name: str, broken: str, prompt: str) -> str:
    error = prompt[prompt.rfind("WHAT WENT WRONG"):]
    for right, wrong, needed in (NOT_COMPILED, NOT_RIGHT):
        if wrong in broken and re.search(needed, error):
            return "PLAN: mend what the message says.\n" + edits_between(name, broken, broken.replace(wrong, right))
    return "I do not know what is wrong."


def reply_to(messages: list[dict]) -> str:
    system = "\n".join(each["content"] for each in messages if each["role"] == "system")
    user = "\n".join(each["content"] for each in messages if each["role"] == "user")
    if "You select what" in system:
        return select(user)
    if "You design experiments" in system:
        return design(block_below(user, "BASE")[1])
    if "You repair a text" in system:
        return repair(*block_below(user, "THE TEXT THAT FAILED"), user)
    experiment = re.search(r"^EXPERIMENT, to be carried out on the base: (.*)$", user, re.MULTILINE)
    return write(*block_below(user, "BASE"), experiment.group(1) if experiment else "")


if __name__ == "__main__":
    print(reply_to(json.load(sys.stdin)["messages"]), end="")
