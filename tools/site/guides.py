# SPDX-License-Identifier: Apache-2.0
"""The Markdown pages of the tree as pages of the site.

Links between pages stay. A link to another file of the tree leads to the repository, if pyproject.toml
states its address, and is plain text otherwise.
"""
import os
import re
import subprocess

# Groups of the navigation, in the order of reading.
GROUPS = {
    "Get started": ["docs/getting-started", "docs/concepts", "python/README", "examples/README",
                    "docs/troubleshooting", "docs/glossary", "docs/README"],
    "Guides": ["docs/cli", "docs/c-api", "docs/embedding", "docs/cross-building", "docs/onnx", "docs/nnvm",
               "docs/ir", "docs/il", "docs/compiled-models", "docs/data-files", "docs/quantization", "docs/cuda",
               "docs/plugins", "docs/adding-an-operator"],
    "Reference": ["reference/c/lightnet", "reference/c/tensorlight", "reference/python/index",
                  "reference/operators/index", "reference/command/index", "reference/environment",
                  "docs/onnx-domains", "docs/onnx-operators", "docs/onnx-types", "docs/nnvm-operators",
                  "docs/operator-descriptions", "docs/optimizer-descriptions", "genindex"],
    "Performance": ["docs/speed", "docs/performance", "bench/plots/README", "bench/cuda/README"],
    "Development": ["CONTRIBUTING", "docs/dev/site", "docs/dev/architecture", "docs/dev/design", "docs/dev/style",
                    "docs/dev/testing", "docs/dev/dependencies", "docs/dev/rounding", "docs/dev/growth",
                    "docs/dev/plan", "docs/dev/known-gaps", "docs/documents", "docs/versions", "CHANGELOG",
                    "SECURITY", "CODE_OF_CONDUCT", "parts"],
}
# Groups of other pages, which follow at the end. All else is below the examples or the parts of the tree.
FOLDERS = {"docs/dev/": "Development", "docs/": "Guides", "bench/": "Performance"}
NOT_PAGES = re.compile(r"/test/|^\.")
FENCE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)[ ]*$", re.M | re.S)
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1", re.S)
FILE_NAME = re.compile(r"`?[\w./-]*\w\.md`?")  # as the text of a link
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    return {path for path in listed if os.path.exists(os.path.join(root, path))}


def pages_of(files):
    return sorted(path for path in files if path.endswith(".md") and not NOT_PAGES.search("/" + path))


def repository_of(root):
    """The address of the repository in pyproject.toml, [project.urls]; None: not stated."""
    with open(os.path.join(root, "pyproject.toml"), encoding="utf-8") as file:
        urls = re.search(r"^\[project\.urls\]\n((?:[^\[\n].*\n?)*)", file.read(), re.M)
    found = urls and re.search(r"^\"?(?:Source|Repository|source|repository)\"?\s*=\s*\"([^\"]+)\"", urls[1], re.M)
    return found[1].rstrip("/") if found else None


def parts_outside_code(text):
    """[(is it text, part)]: fenced blocks, indented blocks and code in lines are left alone."""
    at = 0
    for fence in FENCE.finditer(text):
        yield from lines_outside_code(text[at:fence.start()])
        yield False, fence[0]
        at = fence.end()
    yield from lines_outside_code(text[at:])


def lines_outside_code(text):
    at = 0
    for match in CODE.finditer(text):
        yield True, text[at:match.start()]
        yield False, match[0]
        at = match.end()
    yield True, text[at:]


class Site:
    """The tree, for links."""

    def __init__(self, root):
        self.root, self.files = root, tracked(root)
        self.pages = set(pages_of(self.files))
        self.repository = repository_of(root)
        self.images = set()

    def title(self, path):
        """The first heading of a page of the tree."""
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return re.search(r"^# +(.+)$", file.read(), re.M)[1].strip()

    def with_links(self, page, text):
        """The text of a page with its links to pages and files of the site."""
        return LINK.sub(lambda match: self.link(page, match[1], match[2], match[3]), text)

    def link(self, page, image, text, target):
        """The Markdown of a link in a page; its text may be an image."""
        text = self.with_links(page, text)
        if re.match(r"[a-z]+:|#", target):
            return f"{image}[{text}]({target})"
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if image:
            self.images.add(path)
            return f"![{text}]({target})"
        if path + "/README.md" in self.pages:
            path += "/README.md"
        if path in self.pages:
            if FILE_NAME.fullmatch(text):
                text = self.title(path)
            path = "index.md" if path == "README.md" else path
            return f"[{text}]({os.path.relpath(path, os.path.dirname(page))}{'#' + anchor if anchor else ''})"
        if self.repository:
            kind = "tree" if os.path.isdir(os.path.join(self.root, path)) else "blob"
            return f"[{text}]({self.repository}/{kind}/main/{path}{'#' + anchor if anchor else ''})"
        return text

    def page(self, path):
        """A page of the tree as MyST, with a description."""
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            text = file.read()
        # Links go over code in their text, so links are found first where code is replaced by a mark.
        kept = []

        def keep(part):
            kept.append(part)
            return f"\0{len(kept) - 1}\0"

        marked = "".join(part if is_text else keep(part) for is_text, part in parts_outside_code(text))
        marked = self.with_links(path, marked)
        marked = re.sub(r"^<!-- .*? -->\n", "", marked, flags=re.M)
        # A line that begins with % is a comment of MyST, one with +++ a new block.
        marked = re.sub(r"^( *)(%|\+\+\+)", r"\1\\\2", marked, flags=re.M)
        return front_matter(description_of(text)) + re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], marked)


def description_of(text):
    """The first sentence of the first paragraph."""
    for paragraph in re.split(r"\n\n+", text):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
        plain = re.sub(r"[*`]|<[^>]*>", "", plain)
        if plain and not paragraph.startswith(("#", "|", "    ", "```", "![", "<", "- ")):
            sentence = re.match(r"(.*?\.)(?= |$)", plain)
            sentence = (sentence[1] if sentence else plain).rstrip(":")
            return sentence if len(sentence) <= 200 else sentence[:197].rsplit(" ", 1)[0] + " .."
    return "LightNet, a library and compiler for neural-network inference."


def front_matter(description):
    quoted = description.replace("\\", "").replace('"', "'")
    return f'---\nmyst:\n  html_meta:\n    description: "{quoted}"\n---\n\n'


def toctree(names, caption=None):
    """Pages in the navigation, from the root; genindex is no page, but Sphinx's index of names."""
    options = f":caption: {caption}\n" if caption else ""
    listed = (name if name == "genindex" or "<" in name else "/" + name for name in names)
    return "\n```{toctree}\n:hidden:\n" + options + "\n" + "\n".join(listed) + "\n```\n"


def grouped(names):
    """The groups with all pages that belong to them, and the pages below others."""
    groups = {caption: list(listed) for caption, listed in GROUPS.items()}
    known = {name for listed in groups.values() for name in listed}
    below = []
    for name in (name for name in names if name not in known):
        caption = next((caption for folder, caption in FOLDERS.items() if name.startswith(folder)), None)
        groups.get(caption, below).append(name)
    return groups, below


def pages(root):
    """{path: text} of all pages, and the images that they show."""
    site = Site(root)
    made = {path: site.page(path) for path in sorted(site.pages)}
    made["index.md"] = made.pop("README.md")
    groups, below = grouped([path[:-len(".md")] for path in made if path != "index.md"])
    made["index.md"] += "".join(toctree(names, caption) for caption, names in groups.items())
    made["examples/README.md"] += toctree([name for name in below if name.startswith("examples/")])
    parts = [name for name in below if not name.startswith("examples/")]
    made["parts.md"] = (front_matter("The READMEs of the parts of the tree: terms, invariants, where to begin.")
                        + "# Parts of the tree\n\nThe READMEs of the parts: their terms, their invariant, "
                        "where to begin.\n[Architecture](/docs/dev/architecture.md) shows how they depend on each other.\n\n"
                        + "".join(f"- [{name[:-len('/README')]}](/{name}.md)\n" for name in parts)
                        + toctree([f"{name[:-len('/README')]} </{name}>" for name in parts]))
    return made, site.images
