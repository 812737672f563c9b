"""Runs `groma tune --proposer scientist` with models that are shell scripts, and checks how it uses their replies.

    python3 scientist.py GROMA [CXX [TESTS...]]

GROMA is the command. CXX is a C++ compiler (default: c++). The measured commands are tiny, so no accelerator is needed.
"""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROMA = sys.argv[1] if len(sys.argv) > 1 else "groma"
CXX = sys.argv[2] if len(sys.argv) > 2 else "c++"

START = "value 4\nsame line\nsame line\n"
VALUE = ["--command", "cat {file}", "--metric", r"value (\d+)", "--unit", "points", "--higher-is-better",
         "--repeats", "1"]
CRASHES = 126  # exit codes from here on are those of a shell that saw a signal; negative ones are signals
ROLES = {"select": "You select what", "design": "You design experiments", "repair": "You repair a text"}


def plan(*names: str) -> str:
    """A reply of the designer with these experiments."""
    return json.dumps({"avenues": [f"avenue {i}" for i in range(10)], "experiments": [
        {"description": name, "rubric": "the first line", "gain": [1, 9 - i], "innovation": i}
        for i, name in enumerate(names)]})


def edit(search: str, replacement: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replacement}\n>>>>>>> REPLACE\n"


class Folder:
    """A new folder with the files of a search and the model that replies."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="groma-scientist-")
        self.path = pathlib.Path(self._folder.name)
        self.write("kernel.txt", START)

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def write(self, name: str, text: str | bytes) -> str:
        path = self.path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def read(self, name: str) -> str:
        return (self.path / name).read_text(encoding="utf-8")

    def model(self, **replies: str | bytes) -> list[str]:
        """The options for a model that gives each role its reply: a text, or a shell command after "sh:".

        The command has the request in `$request`, and in `$value` the number in the first line of the base (or of the
        last member of the population). The last request to a role is kept in the file `asked.ROLE`.
        """
        script = ['cd "$(dirname "$0")" || exit 1', "request=$(cat)", "case $request in"]
        script += [f"*{shlex.quote(words)}*) role={role} ;;" for role, words in ROLES.items()]
        script += ["*) role=write ;;", "esac", r"value=${request##*kernel.txt\\nvalue }",
                   '[ $role = select ] && value=${request##*| }', "value=${value%%[!0-9]*}",
                   'printf "%s" "$request" >"asked.$role.$$"', 'mv "asked.$role.$$" "asked.$role"',
                   'echo "$role" >>asked', '. "./reply.$role"']
        for role in (*ROLES, "write"):
            reply = replies.get(role, b"")
            if isinstance(reply, str) and reply.startswith("sh:"):
                self.write(f"reply.{role}", reply[3:] + "\n")
            else:
                self.write(f"text.{role}", reply)
                self.write(f"reply.{role}", f"cat text.{role}\n")
        self.write("model.sh", "\n".join(script) + "\n")
        return ["--proposer", "scientist", "--endpoint", f"exec:sh {shlex.quote(str(self.path / 'model.sh'))}"]

    def asked(self, role: str) -> str:
        """The last prompt for a role, or an empty text."""
        path = self.path / f"asked.{role}"
        if not path.exists():
            return ""
        return "\n".join(each["content"] for each in json.loads(path.read_text(encoding="utf-8"))["messages"])

    def questions(self) -> int:
        path = self.path / "asked"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def command(self, *words: str) -> list[str]:
        return [GROMA, "tune", *words]

    def tune(self, *words: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "TMPDIR": str(self.path)}
        return subprocess.run(self.command(*words), cwd=self.path, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=120)

    def search(self, *words: str) -> subprocess.CompletedProcess:
        return self.tune("--file", "kernel.txt", *VALUE, "--out", "found", *words)

    def journal(self, name: str = "found") -> list[dict]:
        """The whole lines of a journal."""
        text = (self.path / name / "journal.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def steps(self, name: str = "found") -> list[dict]:
        """What a search did in its steps, without times."""
        kept = ("number", "text", "why", "status", "values", "parents")
        return [{key: line["step"].get(key) for key in kept} for line in self.journal(name) if "step" in line]


class Case(unittest.TestCase):
    def expect_sound(self, folder: Folder, outcome: subprocess.CompletedProcess, what: str,
                     evaluations: int) -> None:
        """Checks what holds for every search, whatever the model replied."""
        said = f"{what}: exit code {outcome.returncode}\n{(outcome.stdout + outcome.stderr)[-2000:]!r}"
        self.assertTrue(0 <= outcome.returncode < CRASHES, said)
        for output in (outcome.stdout, outcome.stderr):
            self.assertNotIn(b"\x1b", output, said)
            self.assertNotIn(b"\x00", output, said)
        steps = folder.steps()
        self.assertLessEqual(len(steps), evaluations, said)
        best = max((step for step in steps if step["status"] == "ok"), key=lambda step: step["values"][0])
        self.assertGreaterEqual(best["values"][0], 4, said)
        # A step that was within the noise, of which there is none here, would not be the best.
        self.assertEqual((folder.path / "found/best.txt").read_bytes(), best["text"].encode(), said)
        for name in ("report.txt", "steps.txt", "findings.txt"):
            path = folder.path / "found" / name
            if path.exists():
                self.assertNotIn(b"\x1b", path.read_bytes(), f"{what}: {name}")


# What a model may reply, whatever it was asked for.
NONSENSE: dict[str, str | bytes] = {
    "empty": "",
    "white space": " \n\t\n" * 1000,
    "a megabyte": "word " * 200_000,
    "ten megabytes": "sh:head -c 10000000 /dev/zero | tr '\\0' x",
    "without end": "sh:yes '<think> hmm'",
    "silence": "sh:[ $role != write ] || sleep 100",
    "a failure": "sh:printf 'no \\033[31mmodel' >&2; exit 3",
    "a crash": "sh:kill -SEGV $$",
    "binary": bytes(range(256)) * 40,
    "UTF-8 that is not": b"```kernel.txt\nvalue 2 \xff\xfe\xc3\n```\n",
    "JSON that is cut off": plan("one", "two")[:-30],
    "an edit that is cut off": "<<<<<<< SEARCH\nvalue \n=======\nvalue 9\n",
    "a block that is cut off": "```kernel.txt\nvalue 999\n",
    "JSON of other types": '{"avenues": {"a": 1}, "experiments": {"description": [[5]], "gain": "much"}, "base": []}',
    "edits that fit nowhere": edit("value none", "value 999"),
    "edits that fit twice": edit("same line", "value 999"),
    "many edits": edit("same line\nsame line", "same line\nsame line") * 70,
    "marks": "```kernel.txt\n# groma: begin a\nvalue 999\n# groma: end\n```\n",
    "half a mark": edit("same line\nsame line", "value 999\n# groma: begin a"),
    "another file": "```kernel.txt\ngroma: file kernel.txt\nvalue 999\ngroma: file ../../passwd\nx\n```\n",
    "a file of its own": edit("same line\nsame line", "value 999\ngroma: file stolen.txt"),
    "thoughts without end": "<think>" + "hmm, " * 50_000,
    "thoughts": "<think>value 999</think>",
    "a page": "<!DOCTYPE html><html><head><title>502</title></head><body><h1>Bad Gateway</h1></body></html>",
    "a refusal": "I'm sorry, but I cannot help with that.",
    "another language": "申し訳ありませんが、値は 9 です。«значение 9»\n",
    "deep JSON": '{"experiments":' * 50_000 + "[" * 50_000,
    "gains that are not numbers": '{"avenues": [], "experiments": [{"description": "a", "gain": [NaN, Infinity]}, '
                                  '{"description": "b", "gain": [1e999, null]}], "base": NaN}',
    "a hundred experiments without a gain": json.dumps({"experiments": [{"description": str(i)} for i in range(100)]}),
    "negative numbers": '{"base": -1, "reference": -9223372036854775808, "experiments": [{"description": "a", '
                        '"gain": [-1e308], "innovation": -7}]}',
    "ids that do not exist": '{"base": 99999999999999999999999, "reference": 4.5, "reason": 7}',
    "text for a terminal": "PLAN: \x1b]0;title\x07\x1b[2J\n```kernel.txt\nvalue 3 \x1b[31m\u202e\n```\n",
    "zeros": b"```kernel.txt\nvalue 1\0\0\n```\n",
    "an empty file": "```kernel.txt\nNONE\n```\n",
    "the same file": "sh:printf '```kernel.txt\\nvalue %s\\nsame line\\nsame line\\n```\\n' $value",
    "fences": "`" * 100_000 + "\n" + "~~~\n```\n" * 1000,
}
# Without any reply there is no remark in the next prompt, so the designer would be asked the same again.
MUTE = ("empty", "white space", "ten megabytes", "without end", "silence", "a failure", "a crash")
FIRST = 4  # the value of the start
HUNDRED = plan(*(f"idea {i}" for i in range(100)))


def nonsensical(folder: Folder, first: int, last: int) -> list[str]:
    """The options for a model whose replies to a text with the value FIRST + N are the N-th nonsense of NONSENSE.

    But the designer's second reply about a text (the first, where the nonsense is none at all: MUTE) is a plan of two
    experiments, and the writer carries out `raise`,
    which adds 1 to the value, in earnest. From `last` on there are a hundred experiments, and no nonsense. A reply
    depends only on the request.
    """
    for number, (name, reply) in enumerate(NONSENSE.items(), FIRST):
        if isinstance(reply, str) and reply.startswith("sh:"):
            folder.write(f"nonsense.{number}", reply[3:] + "\n")
        else:
            folder.write(f"said.{number}", reply)
            folder.write(f"nonsense.{number}", f"cat said.{number}\n")
    folder.write("hundred", HUNDRED)
    folder.write("plan", plan("raise", "a change"))
    folder.write("kernel.txt", START.replace(str(FIRST), str(first)))
    folder.write("mute", "".join(f"{n}\n" for n, name in enumerate(NONSENSE, FIRST) if name in MUTE))
    nonsense = "if [ -e nonsense.$value ]; then . ./nonsense.$value; fi"
    return folder.model(
        select=f"sh:{nonsense}", repair=f"sh:{nonsense}",
        design=f"sh:if [ $value -ge {last} ]; then cat hundred; else case $request in "
               f"*'YOUR LAST'*) cat plan ;; *) if grep -qx $value mute; then cat plan; else {nonsense}; fi ;; esac; fi",
        write="sh:case $request in *'on the base: raise'*) printf '<<<<<<< SEARCH\\nvalue %s\\n=======\\nvalue %s\\n"
              f">>>>>>> REPLACE\\n' $value $((value + 1)) ;; *) {nonsense} ;; esac")


class Nonsense(Case):
    """A model that replies nonsense costs its budget and nothing else."""

    LIMITS = ["--reply-timeout", "3", "--tokens", "100000000"]

    def test_every_nonsense_from_every_role(self) -> None:
        with Folder() as folder:
            last = FIRST + len(NONSENSE)
            model = nonsensical(folder, FIRST, last)
            outcome = folder.search(*model, *self.LIMITS, "--evaluations", "60")
            self.expect_sound(folder, outcome, "nonsense", 60)
            said = outcome.stdout.decode() + outcome.stderr.decode()
            # Each nonsense was followed by a better text, and at last there were a hundred experiments.
            self.assertIn(f"value {last}\n", folder.read("found/best.txt"), said[-2000:])
            findings = folder.read("found/findings.txt")
            self.assertIn("experiment: idea 0;", findings)
            self.assertNotIn("idea 8", findings)
            # A better model goes on from there.
            model = folder.model(select="", design=plan("a leap"), write="```kernel.txt\nvalue 990\n```\n")
            before = folder.steps()
            outcome = folder.tune("--resume", "found", "--trust", "--evaluations", "99", *model[2:])
            self.expect_sound(folder, outcome, "resumed", 99)
            self.assertEqual(folder.steps()[:len(before)], before)
            self.assertEqual("value 990\n", folder.read("found/best.txt"))
            report = subprocess.run([GROMA, "report", "found"], cwd=folder.path, capture_output=True, check=False)
            self.assertEqual(report.returncode, 0, report.stderr)

    def test_a_model_of_nothing_but_nonsense_ends_the_search(self) -> None:
        for name in ("a crash", "JSON that is cut off", "an edit that is cut off"):
            with self.subTest(reply=name), Folder() as folder:
                reply = NONSENSE[name]
                model = folder.model(select=reply, design=plan("a change"), write=reply, repair=reply)
                outcome = folder.search(*model)
                self.expect_sound(folder, outcome, name, 1)
                self.assertEqual(folder.questions(), 10, outcome.stdout)  # five rounds of a plan and a text
                self.assertEqual(folder.read("found/best.txt"), START)

    def test_the_budget_of_tokens_is_kept(self) -> None:
        with Folder() as folder:
            model = nonsensical(folder, FIRST + list(NONSENSE).index("negative numbers"), 10**6)
            outcome = folder.search(*model, "--tokens", "10000", "--evaluations", "0", "--json")
            end = json.loads(outcome.stdout.splitlines()[-1])
            self.assertEqual((end["end"], end.get("budget")), ("budget", "tokens"), outcome.stdout[-2000:])
            self.assertLessEqual(end["spent"]["tokens"], 10000)

    def test_a_text_for_terminals_may_be_the_best(self) -> None:
        with Folder() as folder:
            text = "value 90 \x1b[31m\u202e\n"
            model = folder.model(design=plan("\x1b[2Ja change"), write=f"```kernel.txt\n{text}```\n")
            outcome = folder.search(*model)
            self.expect_sound(folder, outcome, "escapes", 10)
            self.assertEqual(folder.read("found/best.txt"), text)


class Killed(Case):
    """`kill -9` of a search loses nothing: resumed, it makes the same steps as one that was not killed."""

    FIRST = FIRST + list(NONSENSE).index("negative numbers")
    LIMITS = ["--evaluations", "12"]

    def kill_at(self, folder: Folder, lines: int, *words: str) -> bool:
        """Begins a search and kills it when its journal has so many lines. Returns whether it was still running."""
        journal = folder.path / "found/journal.jsonl"
        environment = {**os.environ, "TMPDIR": str(folder.path)}
        with subprocess.Popen(folder.command("--file", "kernel.txt", *VALUE, "--out", "found", *words), cwd=folder.path,
                              env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                if journal.exists() and journal.read_bytes().count(b"\n") >= lines:
                    process.kill()
                    break
                time.sleep(0.001)
        return process.returncode == -signal.SIGKILL

    def test_resumed_at_many_lines(self) -> None:
        with Folder() as folder:
            model = nonsensical(folder, self.FIRST, self.FIRST + 4)
            whole = folder.search(*model, *self.LIMITS)
            self.expect_sound(folder, whole, "not killed", 12)
            expected, best = folder.steps(), folder.read("found/best.txt")
            lines = len(folder.journal())
        self.assertGreater(lines, 20)
        self.assertGreater(len(expected), 6)
        for at in range(1, lines, max(1, lines // 5)):
            with self.subTest(lines=at), Folder() as folder:
                model = nonsensical(folder, self.FIRST, self.FIRST + 4)
                if not self.kill_at(folder, at, *model, *self.LIMITS):
                    continue  # it was faster
                before = len(folder.steps())
                outcome = folder.tune("--resume", "found", "--trust", *model[2:])
                self.expect_sound(folder, outcome, f"killed at line {at}", 12)
                self.assertEqual(folder.steps(), expected, f"killed at line {at}, after {before} steps")
                self.assertEqual(folder.read("found/best.txt"), best)


class SeveralFiles(Case):
    """A program of two files, both of which the model changes."""

    KERNEL = '#include "tile.h"\n#include <cstdio>\nint main() { std::printf("rate %d\\n", kTile * 3); }\n'
    TILE = "constexpr int kTile = 2;\n"

    def test_the_model_changes_both(self) -> None:
        with Folder() as folder:
            folder.write("kernel.cc", self.KERNEL)
            folder.write("tile.h", self.TILE)
            both = ("PLAN: both files.\n" +
                    edit("constexpr int kTile = 2;", "constexpr int kTile = 20;\nconstexpr int kBy = 5;") +
                    edit('int main() { std::printf("rate %d\\n", kTile * 3); }',
                         'int main() { std::printf("rate %d\\n", kTile * kBy); }'))
            blocks = ("PLAN: blocks.\n```tile.h\nconstexpr int kTile = 30;\n```\n"
                      f"```kernel.cc\n{self.KERNEL.replace('* 3', '* 4')}```\n")
            header = "```tile.h\nconstexpr int kTile = 7\n```\n"  # does not compile
            model = folder.model(
                design=plan("edits", "blocks", "a header"), repair="```tile.h\nconstexpr int kTile = 9;\n```\n",
                select='{"base": 1}', write="sh:case $request in *'base: edits'*) cat edits ;; "
                                            "*'base: blocks'*) cat blocks ;; *) cat header ;; esac")
            for name, text in (("edits", both), ("blocks", blocks), ("header", header)):
                folder.write(name, text)
            outcome = folder.tune(
                "--file", "kernel.cc", "--file", "tile.h", "--out", "found", "--repeats", "1", "--evaluations", "5",
                "--command", f"{CXX} {{file}} -o {{file}}.out && {{file}}.out", "--metric", r"rate (\d+)",
                "--unit", "points", "--higher-is-better", *model)
            said = f"{outcome.stdout.decode()}\n{outcome.stderr.decode()}"
            self.assertEqual(outcome.returncode, 0, said)
            rates = {step["why"]: (step["values"] or [None])[0] for step in folder.steps()}
            self.assertEqual(rates, {"the start": 6, "edits": 100, "blocks": 120, "a header": None,
                                     "repaired: a header": 27}, said)
            self.assertEqual(folder.read("found/best.tile.h"), "constexpr int kTile = 30;\n")
            self.assertEqual(folder.read("found/best.kernel.cc"), self.KERNEL.replace("* 3", "* 4"))
            self.assertIn("tile.h", folder.asked("repair"))
            self.assertIn("error", folder.asked("repair"))


class Documents(Case):
    """`--knowledge` and `--probe`."""

    DOCUMENT = "# Values\n\n" + "Nothing of interest stands here.\n" * 40 + \
               "\n## Zweeble\n\nThe first line of kernel.txt likes the zweeble, which doubles each value. It is " \
               "the device's own instruction, and costs nothing when the value is even.\n"

    def test_prompts_have_the_quotation_and_what_the_probe_prints(self) -> None:
        with Folder() as folder:
            folder.write("notes.md", self.DOCUMENT)
            model = folder.model(select='{"base": 1}', design=plan("use the zweeble on the value"),
                                 write="```kernel.txt\nvalue 8\n```\n")
            probe = ["--probe", "echo two cores of a test; echo $((40 + 2)) caches"]
            outcome = folder.search(*model, "--knowledge", "notes.md", *probe, "--evaluations", "2")
            self.expect_sound(folder, outcome, "knowledge", 2)
            for role in ("design", "write"):
                self.assertIn("likes the zweeble, which doubles", folder.asked(role), role)
                self.assertIn("notes.md", folder.asked(role))
                self.assertIn("two cores of a test\n42 caches", folder.asked(role), role)
            # Without the documents the prompts of a resumed search would be others.
            resumed = ["--resume", "found", "--trust", "--evaluations", "4", *model[2:]]
            before = folder.read("found/journal.jsonl")
            for wrong in ([], ["--knowledge", "kernel.txt"], ["--knowledge", "notes.md", "--knowledge", "kernel.txt"]):
                outcome = folder.tune(*resumed, *wrong)
                self.assertEqual(outcome.returncode, 1, outcome.stdout)
                self.assertIn(b"notes.md", outcome.stderr)
                self.assertEqual(folder.read("found/journal.jsonl"), before)
            folder.write("notes.md", self.DOCUMENT + "More.\n")
            outcome = folder.tune(*resumed, "--knowledge", "notes.md")
            self.assertEqual(outcome.returncode, 1, "another document of the same name")
            folder.write("notes.md", self.DOCUMENT)
            outcome = folder.tune(*resumed, "--knowledge", "notes.md")
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            self.assertIn("two cores of a test\n42 caches", folder.asked("design"))

    def test_a_search_without_documents_takes_none_when_it_is_resumed(self) -> None:
        with Folder() as folder:
            folder.write("notes.md", self.DOCUMENT)
            model = folder.model(select='{"base": 1}', design=plan("a change"), write="```kernel.txt\nvalue 8\n```\n")
            folder.search(*model, "--evaluations", "2")
            outcome = folder.tune("--resume", "found", "--trust", "--knowledge", "notes.md", *model[2:])
            self.assertEqual(outcome.returncode, 1, outcome.stdout)
            self.assertIn(b"--knowledge", outcome.stderr)

    def test_documents_that_are_no_text_are_refused(self) -> None:
        with Folder() as folder:
            model = folder.model()
            documents = {"manual.pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\nstream\n\x00\x01\x02\nendstream\n",
                         "program": b"\x7fELF\x02\x01\x01\0\0\0", "missing.md": None, "folder": None,
                         "large.md": b"x" * ((4 << 20) + 1)}
            (folder.path / "folder").mkdir()
            for name, content in documents.items():
                if content is not None:
                    folder.write(name, content)
                with self.subTest(document=name):
                    outcome = folder.search(*model, "--knowledge", name)
                    self.assertEqual(outcome.returncode, 1, outcome.stdout)
                    self.assertIn(name.encode(), outcome.stderr)
                    self.assertFalse((folder.path / "found").exists())
            self.assertEqual(folder.questions(), 0)

    def test_a_pdf_without_zero_bytes_is_refused(self) -> None:
        with Folder() as folder:
            folder.write("manual.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\nstream\nx\x9c\xed\x8b\xff\nendstream\n")
            outcome = folder.search(*folder.model(), "--knowledge", "manual.pdf")
            self.assertIn(b"manual.pdf", outcome.stderr)
            self.assertEqual(folder.questions(), 0)

    def test_a_probe_that_fails_is_an_error(self) -> None:
        with Folder() as folder:
            model = folder.model()
            for probe, words in (("echo 'no \x1b[31mdevice' >&2; exit 3", b"no \\u001b[31mdevice"),
                                 ("true", b"printed nothing"), ("echo a device; kill -9 $$", b"--probe"),
                                 ("no_such_program", b"no_such_program")):
                with self.subTest(probe=probe):
                    outcome = folder.search(*model, "--probe", probe)
                    self.assertEqual(outcome.returncode, 1, outcome.stdout)
                    self.assertIn(words, outcome.stderr)
                    self.assertNotIn(b"\x1b", outcome.stderr)
                    self.assertFalse((folder.path / "found").exists())
            self.assertEqual(folder.questions(), 0)

    def test_the_probe_does_not_get_the_key_and_its_output_is_limited(self) -> None:
        with Folder() as folder:
            model = folder.model(design=plan("a change"), write="```kernel.txt\nvalue 8\n```\n")
            os.environ["GROMA_API_KEY"] = "sk-test-1234567890"
            try:
                probe = ("echo key:${GROMA_API_KEY-none}; printf 'a\\033[31mb\\n'; "
                         "yes '\u2014\u2014 many words' | head -c 100000")
                outcome = folder.search(*model, "--evaluations", "2", "--probe", probe)
            finally:
                del os.environ["GROMA_API_KEY"]
            self.expect_sound(folder, outcome, "probe", 2)
            asked = folder.asked("design")
            self.assertIn("key:none", asked)
            self.assertLess(len(asked), 8000)


class Scripted(Case):
    """The scripted model of benchmarks/ turns the plain OpenCL matrix product into the version by hand."""

    # Stands for the compiler and the driver program of the kernels, without OpenCL.
    DRIVER = r"""
case $1 in
--check)
  if grep -n vector16 "$2"; then echo "$2:17:24: error: use of undeclared identifier 'vector16'" >&2; exit 1; fi
  if grep -q 'store_row(false' "$2"; then echo 'error: 96x261x300: c[0][0] is -1.04, expected 0.922' >&2; exit 1; fi ;;
*)
  rate=1
  for words in vload 'ROWS 12' copy_tile 'BLOCKS 8'; do grep -q "$words" "$2" && rate=$((5 * rate)); done
  echo "rate $rate" ;;
esac
"""

    def test_the_sequence_ends_with_the_version_by_hand(self) -> None:
        kernels = ROOT / "examples/kernel/opencl"
        with Folder() as folder:
            driver = shlex.quote(folder.write("driver.sh", self.DRIVER))
            model = shlex.join([sys.executable, str(ROOT / "benchmarks/scripted_scientist.py")])
            outcome = folder.tune(
                "--file", str(kernels / "matmul_plain.cl"), "--out", "found", "--evaluations", "16", "--repeats", "1",
                "--check-command", f"sh {driver} --check {{file}}", "--command", f"sh {driver} --time {{file}}",
                "--metric", r"rate (\d+)", "--unit", "GFLOP/s", "--higher-is-better",
                "--proposer", "scientist", "--endpoint", f"exec:{model}")
            said = f"{outcome.stdout.decode()}\n{outcome.stderr.decode()}"
            self.assertEqual(outcome.returncode, 0, said)
            by_hand = [line.split(" // groma: ")[0].split("  // groma: ")[0].rstrip()
                       for line in (kernels / "matmul_by_hand.cl").read_text().splitlines()
                       if not line.startswith("// groma: ")]
            best = [line.rstrip() for line in folder.read("found/best.txt").splitlines()]
            self.assertEqual(best, by_hand, said)
            steps = folder.steps()
            self.assertEqual(sum(step["why"].startswith("repaired: ") for step in steps), 2, said)
            # The family tree leads from the best text to the start.
            number = max((step for step in steps if step["values"]), key=lambda step: step["values"][0])["number"]
            line = [number]
            while parents := steps[line[-1] - 1]["parents"]:
                line.append(parents[0])
            self.assertEqual(line[-1], 1, line)
            self.assertGreaterEqual(len(line), 6, line)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
