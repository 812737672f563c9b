# The hook of mkdocs.yml. Makes pages of the files outside docs/ that pages link to, so that README.md and docs/
# are the site without a change of their links. Also reads lists as GitHub does, and colours mappings.
import json
import os
import posixpath
import re

import pygments.lexers
from mkdocs.structure.files import File
from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, String, Text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The path in the repository of each page, by its path in the site, and the reverse.
repository_path = {}
site_path = {}

FENCE = re.compile(r" *(```+|~~~+)")
# Code in a line, or the target of a link. Only targets are replaced.
CODE_OR_LINK = re.compile(r"(`+).+?(?<!`)\1(?!`)|(?<=\]\()([^)\s#]+)((?:#[^)\s]*)?)(?=\))")
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".cu": "cuda", ".py": "python", ".sh": "sh", ".json": "json"}
PICTURES = (".svg", ".png", ".jpg")


def is_local(target):
    return "://" not in target and not target.startswith(("mailto:", "/"))


def map_links(text, replace):
    """Returns the Markdown text with replace(target) in place of each local target outside code."""

    def of_match(match):
        if match[1] or not is_local(match[2]):
            return match[0]
        return replace(match[2]) + match[3]

    lines, fence = [], None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and line.strip() == fence:
            fence = None
        elif fence is None and not line.startswith("    "):
            line = CODE_OR_LINK.sub(of_match, line)
        lines.append(line)
    return "\n".join(lines)


def resolved(page, target):
    """Returns the path in the repository of a link's target in the page with this path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), target))


def page_of(path):
    """Returns for a path in the repository: the file to read, the path of its page in the site, and the text of the
    page if it is not the file's."""
    if os.path.exists(os.path.join(ROOT, path, "README.md")):
        path += "/README.md"
    full = os.path.join(ROOT, path)
    where = path[5:] if path.startswith("docs/") else "repository/" + path
    if path == "README.md":
        return path, "index.md", None
    if path.endswith((".md", *PICTURES)):
        return path, where, None
    if os.path.isdir(full):
        names = sorted(name for name in os.listdir(full) if os.path.isfile(os.path.join(full, name)))
        items = "".join(f"* [{name}]({posixpath.basename(path)}/{name})\n" for name in names)
        return path, f"repository/{path}.md", f"# {path}\n\n{items}"
    with open(full, encoding="utf-8") as file:
        code = file.read()
    language = LANGUAGES.get(os.path.splitext(path)[1], "text")
    return path, f"repository/{path}.md", f"# {path}\n\n````{language}\n{code}\n````\n"


def on_files(files, config):
    """Adds the files outside docs/ to which a page links, and those to which they link."""
    repository_path.clear()
    site_path.clear()
    for file in files:
        if file.src_uri.endswith((".md", *PICTURES)):
            repository_path[file.src_uri] = "docs/" + file.src_uri
            site_path["docs/" + file.src_uri] = file.src_uri
    texts = [(path, None) for path in sorted(site_path) if path.endswith(".md")]

    def add(path):
        if path in site_path or not os.path.exists(os.path.join(ROOT, path)) or path.startswith(".."):
            return
        source, where, text = page_of(path)
        site_path[path] = where
        if where in repository_path:
            return
        repository_path[where] = source
        if text is None:
            files.append(File.generated(config, where, abs_src_path=os.path.join(ROOT, source)))
        else:
            files.append(File.generated(config, where, content=text))
        if where.endswith(".md"):
            texts.append((source, text))

    for path in ("README.md", "CONTRIBUTING.md", "dsl/README.md", "benchmarks/results/README.md"):
        add(path)
    for path, text in texts:
        if text is None:
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read()

        def visit(target, page=path):
            add(resolved(page, target))
            return target

        map_links(text, visit)
    return files


def on_page_markdown(markdown, page, config, files):
    """Returns the page with links between pages of the site in place of links between files of the repository."""
    here = page.file.src_uri
    path = repository_path[here]
    if here.startswith("repository/") and not path.endswith(".md"):
        page.meta["search"] = {"exclude": True}  # sources: their readers come by a link

    def to_site(target):
        found = site_path.get(resolved(path, target))
        return posixpath.relpath(found, posixpath.dirname(here) or ".") if found else target

    return as_python_markdown(map_links(markdown, to_site))


ITEM = re.compile(r" *([*+-]|\d{1,9}[.)]) +(?=\S)")
CODE = re.compile(r"(`+).+?(?<!`)\1(?!`)")


def as_python_markdown(text):
    """Returns GitHub's Markdown as Python-Markdown wants it: four spaces for each level of lists (in CommonMark, what
    belongs to an item begins below the first letter of its text), a blank line before a list, and a plain | in code
    in tables."""
    made = []
    starts = []  # of each open item: the column where its text begins
    fence = None
    after_blank = True
    after_item = False  # whether the line before is the first paragraph of an item
    for line in text.split("\n"):
        if not line.strip():
            made.append("")
            after_blank, after_item = True, False
            continue
        column = len(line) - len(line.lstrip(" "))
        mark = FENCE.match(line)
        item = ITEM.match(line) if fence is None else None
        # Left of an item's text, a line ends the item, except the next line of the item's paragraph.
        while fence is None and starts and column < starts[-1] and (after_blank or item or mark):
            starts.pop()
        inside = starts[-1] if starts else 0
        indent = "    " * len(starts)
        if item and column - inside < 4:
            if not after_blank and not after_item:
                made.append("")
            made.append(f"{indent}{item[1]} {line[item.end():]}")
            starts.append(item.end())
            after_item = True
        else:
            if fence is None and line.lstrip().startswith("|"):
                line = CODE.sub(lambda code: code[0].replace("\\|", "|"), line)
            made.append(indent + line[min(column, inside):])
        if mark and fence is None:
            fence = mark[1]
        elif mark and line.strip() == fence:
            fence = None
        after_blank = False
    return "\n".join(made)


COLOURS = {"comment": Comment, "string": String, "keyword": Keyword, "constant.language": Name.Constant,
           "storage": Keyword.Type, "constant.numeric": Number, "entity.name": Name.Function}


def mapper_tokens():
    """Returns the rules that colour mappings. The words are those of the editor file, which a test writes."""
    with open(ROOT + "/dsl/editors/vscode/syntaxes/groma.tmLanguage.json", encoding="utf-8") as file:
        groups = json.load(file)["repository"].values()
    rules = [(r'"(\\.|[^"\\\n])*"', String)]
    for rule in (rule for group in groups for rule in group["patterns"]):
        kind = next((kind for name, kind in COLOURS.items() if rule.get("name", "").startswith(name)), None)
        if kind and "match" in rule:
            rules.append((rule["match"].replace(".*$", "[^\\n]*"), kind))
    return rules + [(r"[A-Za-z_]\w*", Name), (r"\s+|.", Text)]


class MapperLexer(RegexLexer):
    name, aliases, tokens = "Mapper", ["mapper"], {"root": mapper_tokens()}


pygments.lexers.LEXERS["MapperLexer"] = (__name__, "Mapper", ("mapper",), ("*.mapper",), ())
pygments.lexers._lexer_cache["Mapper"] = MapperLexer  # mkdocs loads this file without a module's name
