#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: site.py BUILD. The site of the documentation (tools/site) builds, and is complete.

Its links lead somewhere, its pages load nothing from elsewhere, its reference has all public names,
and pages fit on small and large screens.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from html.parser import HTMLParser

from tap import ROOT, Tap, faults_of, run, text_of, tracked

sys.path.insert(0, os.path.join(ROOT, "tests/report"))
from browser import Browser  # pylint: disable=wrong-import-position

GENERATOR = ["sphinx", "myst_parser", "furo", "sphinx_copybutton"]
LIBRARIES = ["lightnet/liblightnet.so", "tensorlight/libtensorlight.so"]
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
WIDTHS = [400, 1400]
SHOWN = ["index.html", "docs/performance.html", "docs/c-api.html", "reference/c/ln_context.html",
         "reference/python/lightnet.html", "reference/command/lightnet.html", "search.html?q=session"]
LOADED = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("link", "href"), ("use", "href")}
NOT_LOADED = {"index", "search", "next", "prev", "canonical", "author"}  # of <link rel=..>: for navigation


class Page(HTMLParser):
    """Anchors, links and what a page loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.title, self.description = set(), [], [], "", ""
        self.in_title = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids |= {values[key] for key in ("id", "name") if values.get(key)}
        self.in_title = tag == "title" and not self.title
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag == "meta" and values.get("name") == "description":
            self.description = values.get("content", "")
        for key, value in attrs:
            if (tag, key) in LOADED and value and values.get("rel") not in NOT_LOADED:
                self.loads.append(value)

    def handle_data(self, data):
        if self.in_title:
            self.title += data

    def handle_endtag(self, tag):
        self.in_title = self.in_title and tag != "title"


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def files_of(folder, ending):
    return sorted(os.path.relpath(os.path.join(parent, name), folder) for parent, _, names in os.walk(folder)
                  for name in names if name.endswith(ending))


def pages_of(site):
    return {path: Page(read(site, path)) for path in files_of(site, ".html")}


def dead_links(site, pages):
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme and not parts.netloc and parts.scheme not in ("mailto", "data"):
                yield f"{path}: links to {link}, which is no address"
            if parts.scheme or parts.netloc:
                continue
            named = os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))
            target = os.path.normpath(named) if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not os.path.isfile(os.path.join(site, target)):
                yield f"{path}: links to {link}, which is not there"
            elif anchor and target in pages and anchor not in pages[target].ids:
                yield f"{path}: links to {link}, but {target} has no such anchor"


def requests(site, pages):
    """What a page would load from elsewhere."""
    for path, page in pages.items():
        yield from (f"{path}: loads {link}" for link in page.loads if re.match(r"(\w+:)?//", link))
    for path in files_of(site, ".css"):
        for link in re.findall(r"""url\(\s*("[^"]*"|'[^']*'|[^)]*)\s*\)|@import\s+["']([^"']*)""", read(site, path)):
            target = (link[0] or link[1]).strip("\"'")
            file = os.path.join(site, os.path.dirname(path), target.split("?")[0])
            if not target.startswith(("data:", "#")) and (target.startswith("/") or not os.path.isfile(file)):
                yield f"{path}: loads {target}"


def nameless(pages):
    """Pages without a title or a description; pages that Sphinx makes need none."""
    made = {"genindex.html", "search.html", "py-modindex.html"}
    titles = {}
    for path, page in pages.items():
        if not page.title.strip():
            yield f"{path}: no title"
        if path not in made and len(page.description) < 15:
            yield f"{path}: the description is '{page.description}'"
        titles.setdefault(page.title, []).append(path)


def lost_words(site):
    """Words of a page of the tree that the site does not show, as of a line that is taken for a comment."""
    for path in tracked("*.md"):
        shown = os.path.join(site, "index.html" if path == "README.md" else path[:-len(".md")] + ".html")
        if os.path.exists(shown):
            # A link whose text is the name of a page has its title.
            text = re.sub(r"<!--.*?-->|!\[[^]]*\]\([^)]*\)|\[`?[\w./-]+\.md`?\]\([^)]*\)|\]\([^)]*\)", " ", text_of(path), flags=re.S)
            there = set(re.findall(r"[A-Za-z]{4,}", text_of_page(site, os.path.relpath(shown, site))))
            lost = sorted({word for line in text.splitlines() if not line.startswith("```")
                           for word in re.findall(r"[A-Za-z]{4,}", line)} - there)
            if lost:
                yield f"{path}: the site lacks {' '.join(lost[:8])}"


def exported(library):
    status, text = run(["nm", "-D", "--defined-only", "--format=posix", library])
    assert status == 0, text
    return {line.split()[0] for line in text.splitlines()}


def missing_c(build, pages):
    ids = {name for path, page in pages.items() if path.startswith("reference/c/") for name in page.ids}
    for library in LIBRARIES:
        names = exported(os.path.join(build, library))
        assert len(names) > 300, names
        yield from (f"{library}: {name}" for name in sorted(names) if f"c.{name}" not in ids)


def missing_cpp(site):
    """Structs and functions of the header of C++, which is shown as it is."""
    text = text_of("lightnet/include/lightnet/lightnet.hpp")
    names = set(re.findall(r"^(?:template <.*> )?(?:struct|class) (\w+)|^(?:inline|template <.*>) .*?(\w+)\(", text, re.M))
    shown = text_of_page(site, "reference/c/lightnet-cpp.html")
    yield from (name for name in sorted({first or second for first, second in names}) if not re.search(rf"\b{name}\b", shown))
    if len(names) < 8 or "The exception of all calls" not in shown:
        yield f"only {len(names)} names, or a docstring is missing"


def words(text):
    return re.findall(r"\w+", text)


def wrong_docstrings(site):
    """Functions below a docstring of their own, whose entry does not begin with its first words."""
    n = 0
    for path in tracked("*/include/*/*.h"):
        page = os.path.join(site, "reference/c", os.path.basename(path)[:-len(".h")] + ".html")
        shown = read(page) if os.path.exists(page) else ""
        for doc, name in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\n(?:LN|TL)_API [^;(]*?\b(\w+)\(", text_of(path), re.S):
            n += 1
            first = words(re.sub(r"^ \*", "", doc, flags=re.M))[:6]
            entry = re.search(rf'id="c\.{name}"(.*?)</dl>', shown, re.S)
            text = html.unescape(re.sub(r"<[^>]*>", "", (entry and entry[1].partition("<dd>")[2]) or ""))
            if words(text)[:len(first)] != first:
                yield f"{path}: {name} begins with {' '.join(words(text)[:6])}, not {' '.join(first)}"
    if n < 500:
        yield f"only {n} docstrings"


def missing_structs(pages):
    """abi.txt lists the structs and constants of the public headers."""
    ids = {name for path, page in pages.items() if path.startswith("reference/c/") for name in page.ids}
    ends = {name.split(".")[-1] for name in ids}
    text = read(ROOT, "tests/structure/abi.txt")
    names = {*re.findall(r"^(\w+) \d+$", text, re.M), *re.findall(r"^    -?\d+ ([LT][NL]_\w+)$", text, re.M)}
    assert len(names) > 100, names
    yield from (name for name in sorted(names) if f"c.{name}" not in ids and name not in ends)


# Prints the public names of the package, and those of the members of its classes, as a program finds them.
NAMES = """
import importlib, inspect, json
found = []
for module_name in ("lightnet", "lightnet.quantization", "lightnet.onnx_backend"):
    module = importlib.import_module(module_name)
    for name in getattr(module, "__all__", [n for n in dir(module) if not n.startswith("_")
                        and getattr(getattr(module, n), "__module__", "") == module_name]):
        found.append([module_name, name, ""])
        value = getattr(module, name)
        for member, kind in (vars(value) if inspect.isclass(value) else {}).items():
            is_method = inspect.isfunction(kind) or isinstance(kind, (property, classmethod, staticmethod))
            if is_method and not member.startswith("_"):
                found.append([module_name, name, member])
print(json.dumps(found))
"""


def missing_python(build, pages):
    status, text = run([sys.executable, "-c", NAMES], env=dict(os.environ, PYTHONPATH=os.path.join(build, "python")))
    if status:
        yield text
        return
    ids = {name for path, page in pages.items() if path.startswith("reference/python/") for name in page.ids}
    names = json.loads(text.splitlines()[-1])
    assert len(names) > 150, names
    for module, name, member in names:
        entry = ".".join(filter(None, [module, name, member]))
        # A name that packages share has one entry, and a link where it occurs again.
        if entry not in ids and not any(i.endswith(f".{name}{'.' + member if member else ''}") for i in ids):
            yield entry


def text_of_page(site, path):
    text = re.sub(r"<(script|style)\b.*?</\1>", "", read(site, path), flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", text))


def missing_commands(build, site):
    """Options in the help of commands, operators, and environment variables."""
    lightnet = os.path.join(build, "cli/lightnet")
    page = text_of_page(site, "reference/command/lightnet.html")
    _, text = run([lightnet, "--help"])
    for command in re.findall(r"^  lightnet (\w+)", text, re.M):
        for option in re.findall(r"^ {2,6}(?:-\w, )?(--[a-z][a-z-]*)", run([lightnet, command, "--help"])[1], re.M):
            if option not in page:
                yield f"reference/command/lightnet.html: no {option} of {command}"
    variables = json.loads(run([lightnet, "env", "--json"])[1])
    names = re.findall(r"LIGHTNET_\w+", json.dumps(variables))
    page = text_of_page(site, "reference/environment.html")
    yield from (f"reference/environment.html: no {name}" for name in names or ["variables"] if name not in page)


def missing_operators(site):
    described = {name for path in files_of(os.path.join(ROOT, "lightnet/arch"), ".op")
                 for name in re.findall(r"\boptype: *\"(\w+)\"", read(ROOT, "lightnet/arch", path))}
    shown = {name for path in files_of(os.path.join(site, "reference/operators"), ".html")
             for name in re.findall(r"<h2>(\w+)", read(site, "reference/operators", path))}
    assert len(shown) > 200, shown
    yield from (f"no operator {name}" for name in sorted(described - shown))


# Opens pages in frames of each width, one after the other, and writes what overflows.
FRAMES = """<!DOCTYPE html><body><pre id="out">[]</pre><script>
const jobs = JOBS, found = [];
function next() {
  if (!jobs.length) {
    document.getElementById("out").textContent = JSON.stringify(found) + "END";
    return;
  }
  const [page, width] = jobs.shift();
  const frame = document.createElement("iframe");
  frame.style.cssText = `border:0;width:${width}px;height:900px`;
  frame.onload = () => setTimeout(() => {
    const root = frame.contentDocument.documentElement;
    const inner = frame.contentWindow.innerWidth;
    const isStyled = getComputedStyle(frame.contentDocument.body).fontFamily.length > 0;
    const name = frame.contentDocument.title;
    found.push([page, width, inner, root.scrollWidth, isStyled, name]);
    frame.remove();
    next();
  }, 300);
  frame.src = page;
  document.body.append(frame);
}
next();
</script></body>"""


def browse(browser, folder, pages):
    """[page, width, inner width, width of the content] of each page and width, and messages of the console."""
    jobs = [[f"file://{urllib.parse.quote(path.split('?')[0])}{path[len(path.split('?')[0]):]}", width]
            for path in pages for width in WIDTHS]
    frames = os.path.join(folder, "frames.html")
    with open(frames, "w", encoding="utf-8") as file:
        file.write(FRAMES.replace("JOBS", json.dumps(jobs)))
    # The profile stays in the folder; no name of a host is known.
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                           f"--user-data-dir={os.path.join(folder, 'profile')}",
                           "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--window-size=1500,1000", "--virtual-time-budget=60000",
                           "--dump-dom", f"file://{frames}"], capture_output=True, text=True, timeout=240, check=False)
    match = re.search(r'<pre id="out">(.*?)END</pre>', done.stdout, re.S)
    assert match, f"{done.stdout[:400]}\n{done.stderr[-2000:]}"
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(match[1])), console, len(jobs)


def bad_views(browser, folder, site):
    found, console, n = browse(browser, folder, [os.path.join(site, page) for page in SHOWN])
    yield from console
    if len(found) != n:
        yield f"{len(found)} of {n} views were measured"
    for page, width, inner, content, _, title in found:
        if inner != width or not title:
            yield f"{page}: shown at {inner} instead of {width} pixels, title '{title}'"
        if content > inner:
            yield f"{page}: {content} pixels wide at {width}"


def unseen_errors(browser, folder, site):
    """A page that is too wide and one whose script fails are found."""
    wide, wrong = (os.path.join(site, name) for name in ("too-wide.html", "wrong.html"))
    shutil.copy(os.path.join(site, "index.html"), wide)
    with open(wide, "a", encoding="utf-8") as file:
        file.write('<div style="width:3000px">wide</div>')
    shutil.copy(os.path.join(site, "index.html"), wrong)
    with open(wrong, "a", encoding="utf-8") as file:
        file.write("<script>no_such_function()</script>")
    found, console, _ = browse(browser, folder, [wide, wrong])
    if not all(content > inner for page, _, inner, content, *_ in found if "too-wide" in page):
        yield f"a page of 3000 pixels is not found: {found}"
    if not any("no_such_function" in line for line in console):
        yield f"an error of a script is not found: {console}"
    os.remove(wide)
    os.remove(wrong)


def named_by_files(site, pages):
    """Links whose text is the name of a file of the tree, which is no page of the site."""
    for path in pages:
        yield from (f"{path}: a link has the text {text}" for text in re.findall(r"<a [^>]*>(?:<[^>]*>)*([\w./-]+\.md)(?:<[^>]*>)*</a>", read(site, path)))


def missing_words_of_types(site):
    """Comments beside opaque types."""
    text = text_of_page(site, "reference/c/ln_session.html")
    for name, comment in re.findall(r"^typedef struct \w+ (\w+); +// (.*)", text_of("lightnet/include/lightnet/ln_session.h"), re.M):
        if comment[1:] not in text:
            yield f"{name}: {comment}"


# What a reader looks for, and the first result.
SEARCHES = {"quantize": "Quantization to 8 bits", "report": "Reports", "troubleshooting": "Troubleshooting"}
RESULTS = "[...document.querySelectorAll('#search-results li')]"
COVERED = """[...document.querySelectorAll('div.highlight')].filter(block => {
    const button = block.querySelector('button.copybtn'), code = block.querySelector('pre');
    return button && code && button.getBoundingClientRect().left < code.getBoundingClientRect().right - 1;
}).length"""
BROKEN = "[...document.querySelectorAll('article code .short')].filter(word => word.getClientRects().length > 1).map(word => word.textContent).join(' ')"


def wrong_results(chromium, site):
    """Searches whose first result is another page, is there twice, or does not show the place."""
    for query, title in SEARCHES.items():
        page = chromium.open(os.path.join(site, f"search.html?q={query}"), 1400)
        page.wait("document.querySelector('.search-summary').textContent.startsWith('Search finished') && typeof TEXTS === 'object'")
        titles = json.loads(page.value(f"JSON.stringify({RESULTS}.map(item => item.querySelector('a').textContent))"))
        marked = page.value(f"(item => (item.querySelector('mark') || item).textContent)({RESULTS}[0])").lower()
        if titles[0] != title or titles.count(title) != 1 or not marked.startswith(query[:4]):
            yield f"{query}: {titles[:5]}, {titles.count(title)} times {title}, marked '{marked[:40]}'"
        page.close()
    page = chromium.open(os.path.join(site, "search.html?q=xyzzyx"), 1400)
    page.wait("document.querySelector('.search-summary').textContent.startsWith('No page')")


def hidden_code(chromium, site):
    """Code below buttons, and short words of code that break."""
    for path in ("index.html", "docs/cli.html", "reference/operators/cpu/lowbit.html"):
        for width in WIDTHS:
            page = chromium.open(os.path.join(site, path), width)
            if page.value(COVERED):
                yield f"{path}, {width} pixels: {page.value(COVERED)} buttons are above code"
            if page.value(BROKEN):
                yield f"{path}, {width} pixels: broken {page.value(BROKEN)[:200]}"
            page.close()


def unseen_links(folder):
    """Wrong links of each kind are found."""
    site = os.path.join(folder, "small")
    os.makedirs(site)
    with open(os.path.join(site, "a.html"), "w", encoding="utf-8") as file:
        file.write('<title>a</title><a href="b.html">x</a><a href="#no">x</a><a href="a.html#here" id="here">x</a><a href="FILE:LINE">x</a>'
                   '<script src="https://example.org/x.js"></script><img src="no.png">')
    with open(os.path.join(site, "a.css"), "w", encoding="utf-8") as file:
        file.write('@import url(/x.css); a { background: url("https://example.org/y.png"); }')
    pages = pages_of(site)
    dead, loads = list(dead_links(site, pages)), list(requests(site, pages))
    if len(dead) != 4 or len(loads) < 3 or len(list(nameless(pages))) != 1:
        yield f"of 4 dead links and 3 requests, found {dead} and {loads}"


def lacks(module):
    return run([sys.executable, "-c", f"import {module}"])[0] != 0


def main():
    build, tap = os.path.abspath(sys.argv[1]), Tap()
    missing = list(filter(lacks, GENERATOR))
    if missing:
        tap.skip("the_site_builds_without_warnings",
                 f"Python has no {', '.join(missing)}; tools/packages site installs them")
        tap.end()
    with tempfile.TemporaryDirectory(prefix="lightnet-site-") as folder:
        site = os.path.join(folder, "site")
        tap.check("the_site_builds_without_warnings",
                  faults_of([sys.executable, "-B", os.path.join(ROOT, "tools/site/make.py"), "-o", site]))
        if not os.path.exists(os.path.join(site, "index.html")):
            tap.end()
        pages = pages_of(site)
        tap.check("the_site_has_all_pages", [] if len(pages) > 120 else [f"only {len(pages)} pages"])
        tap.check("links_lead_somewhere", dead_links(site, pages))
        tap.check("pages_load_nothing_from_elsewhere", requests(site, pages))
        tap.check("pages_have_titles_and_descriptions", nameless(pages))
        tap.check("pages_have_all_words_of_their_sources", lost_words(site))
        tap.check("wrong_links_are_found", unseen_links(folder))
        tap.check("links_have_titles_of_pages", named_by_files(site, pages))
        tap.check("opaque_types_have_their_comments", missing_words_of_types(site))
        tap.check("each_public_function_of_c_is_in_the_reference", missing_c(build, pages))
        tap.check("each_struct_of_cpp_is_in_the_reference", missing_cpp(site))
        tap.check("functions_of_c_have_their_docstrings", wrong_docstrings(site))
        tap.check("each_public_struct_and_constant_is_in_the_reference", missing_structs(pages))
        if os.path.isdir(os.path.join(build, "python/lightnet")):
            tap.check("each_public_name_of_python_is_in_the_reference", missing_python(build, pages))
        else:
            tap.skip("each_public_name_of_python_is_in_the_reference", "the build has no Python package")
        tap.check("each_operator_is_in_the_reference", missing_operators(site))
        tap.check("each_option_and_variable_is_in_the_reference", missing_commands(build, site))
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser:
            tap.check("pages_fit_on_small_and_large_screens", bad_views(browser, folder, site))
            tap.check("pages_that_do_not_fit_are_found", unseen_errors(browser, folder, site))
            with Browser() as chromium:
                tap.check("searches_find_guides_first", wrong_results(chromium, site))
                tap.check("code_is_beside_buttons_and_unbroken", hidden_code(chromium, site))
        else:
            tap.skip("pages_fit_on_small_and_large_screens", "there is no Chromium")
    tap.end()


if __name__ == "__main__":
    main()
