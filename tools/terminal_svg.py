#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: terminal_svg.py -o FILE.svg COMMAND..

Runs the commands in a shell and draws the session in a terminal, with animated typing. The image has only text: it is
readable where nothing moves, and has no scripts and no fonts. Its <desc> is the text. docs/dev/site.md has the commands of
the images of this tree.
"""
import argparse
import html
import re
import subprocess
import sys

COLUMNS = 92            # longer lines are cut
WIDTH, HEIGHT = 8.4, 20  # of a character, of a line, in pixels
MARGIN, BAR = 18, 34
KEY, PAUSE, LINE = 0.035, 0.5, 0.03  # seconds: to type a character, after a command, to print a line
REST = 6                # seconds that the last image stays

STYLE = """
  text { font: 14px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d6dbe4; white-space: pre }
  .prompt { fill: #7ee787 } .command { fill: #ffffff; font-weight: 600 }
  @media (prefers-reduced-motion: no-preference) {
    g.line { animation: shown %(total).2fs step-end infinite }
  }
"""


ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\\\)|\r(?=\n)")  # colors, movements, titles
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")  # not in XML, or not text


def plain(text, command):
    """The text of output: without escape sequences, with blanks for tabs."""
    text = ESCAPES.sub("", text).expandtabs()
    found = CONTROLS.search(text)
    if found:
        sys.exit(f"{command}: prints the control character {found.group()!r}")
    return text


def recorded(command):
    """The lines that the command prints."""
    done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          errors="replace")
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}")
    return plain(done.stdout, command).rstrip("\n").split("\n")


def timed(commands):
    """(seconds at which it is there, kind, text) of each line."""
    at, lines = 0.3, []
    for command in commands:
        lines.append((at, "command", command))
        at += KEY * len(command) + PAUSE
        for line in recorded(command):
            lines.append((at, "output", line))
            at += LINE
        lines.append((at, "output", ""))
        at += 2 * PAUSE
    return lines[:-1], at + REST


def drawn(line, y, total, i):
    """The SVG of a line, and the animation that shows it from its time on."""
    at, kind, text = line
    text = text if len(text) <= COLUMNS else text[:COLUMNS - 1] + "…"
    body = f'<tspan class="prompt">$ </tspan><tspan class="command">{html.escape(text)}</tspan>' if kind == "command" \
        else html.escape(text)
    rule = f"g#l{i} {{ animation-name: show{i} }} @keyframes show{i} {{ 0% {{ opacity: 0 }} {100 * at / total:.2f}%, 100% {{ opacity: 1 }} }}"
    return f'<g class="line" id="l{i}"><text x="{MARGIN}" y="{y}">{body}</text></g>', rule


def svg(commands):
    """The image."""
    lines, total = timed(commands)
    width, height = 2 * MARGIN + COLUMNS * WIDTH, BAR + MARGIN + HEIGHT * len(lines)
    shown = [drawn(line, BAR + HEIGHT * (i + 0.8), total, i) for i, line in enumerate(lines) if line[2]]
    style = STYLE % {"total": total} + "\n".join("  " + rule for _, rule in shown)
    session = html.escape("\n".join(("$ " if kind == "command" else "") + text for _, kind, text in lines))
    dots = "".join(f'<circle cx="{MARGIN + 4 + 20 * i}" cy="17" r="6" fill="{color}"/>'
                   for i, color in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img">
<title>A terminal with commands of LightNet</title>
<desc>{session}</desc>
<style>{style}
</style>
<rect width="100%" height="100%" rx="10" fill="#161b22"/>
{dots}
{chr(10).join(line for line, _ in shown)}
</svg>
"""


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", metavar="FILE", required=True)
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    given = parser.parse_args()
    image = svg(given.commands)
    with open(given.o, "w", encoding="utf-8") as file:
        file.write(image)


if __name__ == "__main__":
    main()
