# Checks the site in the folder SITE: every link and anchor leads somewhere, nothing is loaded from elsewhere, the
# search knows every page of docs/, and pages have the lists, tables and code that CommonMark reads in their sources.
#
#   build/site_tools/bin/python docs/site/check.py build/site
import collections
import html.parser
import json
import os
import re
import sys
import urllib.parse

import markdown_it

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}
COUNTED = ("li", "table", "tr", "pre", "h1", "h2", "h3", "h4", "p", "code")


class Page(html.parser.HTMLParser):
    """The links of a page, its anchors, and how often each element of its article occurs."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.counts = collections.Counter()
        self.lists, self.deepest, self.in_article = 0, 0, 0
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        self.anchors.add(attributes.get("id"))
        self.links.append(attributes.get("href") if tag in ("a", "link") else None)
        if tag == "link" and attributes.get("rel") not in ("canonical", "prev", "next", "edit"):
            self.loaded.append(attributes.get("href"))
        for name in ("src", "data"):
            if (tag, name) in LOADED:
                self.loaded.append(attributes.get(name))
                self.links.append(attributes.get(name))
        self.in_article += tag == "article"
        if not self.in_article:
            return
        self.counts[tag] += tag in COUNTED
        self.lists += tag in ("ul", "ol")
        self.deepest = max(self.deepest, self.lists)

    def handle_endtag(self, tag):
        self.in_article -= tag == "article"
        self.lists -= bool(self.in_article) and tag in ("ul", "ol")


def html_files(site):
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                yield os.path.relpath(os.path.join(folder, name), site)


def elsewhere(address):
    return bool(address) and urllib.parse.urlsplit(address).netloc != ""


def check_links(site, pages):
    for name, page in pages.items():
        for address in filter(None, page.loaded):
            if elsewhere(address):
                yield f"{name}: loads {address}"
        for address in filter(None, page.links):
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            path = urllib.parse.unquote(parts.path)
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if os.path.isdir(os.path.join(site, target)):
                target = os.path.normpath(os.path.join(target, "index.html"))
            if not os.path.exists(os.path.join(site, target)):
                yield f"{name}: {address} leads nowhere"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: {address} has no such anchor"
    for folder, _, names in os.walk(site):
        for name in (name for name in names if name.endswith(".css")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for address in re.findall(r"url\(\s*[\"']?([^)\"']+)", file.read()):
                    if elsewhere(address):
                        yield f"{name}: loads {address}"


def check_reading(pages):
    parser = markdown_it.MarkdownIt("commonmark").enable("table")
    documents = {"README.md": "index.html"}
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        for name in (name for name in names if name.endswith(".md")):
            path = os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "docs"))
            where = path[:-3] + "/index.html"
            documents["docs/" + path] = re.sub(r"(^|/)(README|index)/index.html$", r"\1index.html", where)
    for path, where in sorted(documents.items()):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            wanted = Page("<article>" + parser.render(file.read()) + "</article>")
        if where not in pages:
            yield f"{path} is not in the site"
            continue
        found = pages[where]
        for tag in COUNTED:
            if tag not in ("p", "code") and wanted.counts[tag] != found.counts[tag]:
                yield f"{where}: {found.counts[tag]} <{tag}>, but {path} has {wanted.counts[tag]}"
        if wanted.deepest != found.deepest:
            yield f"{where}: lists {found.deepest} deep, but {path} has {wanted.deepest}"


def check_search(site, pages):
    with open(os.path.join(site, "search", "search_index.json"), encoding="utf-8") as file:
        known = {entry["location"].split("#")[0] for entry in json.load(file)["docs"]}
    for name in pages:
        place = name.removesuffix("index.html")
        if name != "404.html" and not place.startswith("repository/") and place not in known:
            yield f"the search does not know {name}"


def main():
    site = sys.argv[1]
    pages = {}
    for name in html_files(site):
        with open(os.path.join(site, name), encoding="utf-8") as file:
            pages[name] = Page(file.read())
    faults = [*check_links(site, pages), *check_reading(pages), *check_search(site, pages)]
    print("\n".join(faults) or f"{len(pages)} pages, all links lead somewhere, nothing is loaded from elsewhere")
    return 1 if faults else 0


sys.exit(main())
