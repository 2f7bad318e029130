# SPDX-License-Identifier: Apache-2.0
"""How notebooks show models and profiles: HTML whose colors are those of the notebook."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional

if TYPE_CHECKING:
    from ._session import NodeArg

MAX_ROWS = 40  # of a profile; the others are summed up
BAR = "height:10px;min-width:1px;background:#3d72b4;border-radius:2px"
NUMBER = "text-align:right;white-space:nowrap"


def _text(value: Any) -> str:
    """Text of any characters, as names of models are."""
    return html.escape(str(value).encode("utf-8", "replace").decode("utf-8"))


def _row(cells: Iterable[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag} style='text-align:left'>{cell}</{tag}>" for cell in cells) + "</tr>"


def bytes_text(size: float) -> str:
    """ "97.7 MB" """
    for unit in ("B", "kB", "MB"):
        if size < 999.5:
            break
        size /= 1000
    else:
        unit = "GB"
    return f"{size:.3g} {unit}" if size < 999.5 else f"{size:.0f} {unit}"


def _shape_text(shape: Optional[List[Any]]) -> str:
    return "any" if shape is None else "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def model_html(name: str, size: Optional[int], inputs: List[NodeArg], outputs: List[NodeArg]) -> str:
    """A table of a model's inputs and outputs, below its name and size."""
    rows = [(what, port) for what, ports in (("input", inputs), ("output", outputs)) for port in ports]
    title = _text(name) + (f", {bytes_text(size)}" if size is not None else "")
    return (f"<div><b>lightnet.Model</b> {title}</div><table>" + _row(["", "name", "type", "shape"], "th")
            + "".join(_row([what, f"<code>{_text(port.name)}</code>", _text(port.type), _text(_shape_text(port.shape))]) for what, port in rows)
            + "</table>")


class ProfileRows(List[Dict[str, Any]]):
    """The operators of a run, a list of {"name", "type", "ns"}. Notebooks show it as bars, the longest first."""

    def _repr_html_(self) -> str:
        rows = sorted(self, key=lambda row: -row["ns"])
        total, most = sum(row["ns"] for row in rows) or 1, max((row["ns"] for row in rows), default=0) or 1
        rest = rows[MAX_ROWS:]
        if rest:
            rows = [*rows[:MAX_ROWS], {"name": f"{len(rest)} others", "type": "", "ns": sum(row["ns"] for row in rest)}]
        return (f"<div><b>{len(self)} operators</b>, {total / 1e6:.3f} ms</div><table>" + _row(["operator", "type", "", "ms", "%"], "th")
                + "".join(f"<tr><td style='text-align:left'><code>{_text(row['name'])}</code></td><td style='text-align:left'>{_text(row['type'])}</td>"
                          f"<td style='width:240px'><div style='{BAR};width:{min(100, 100 * row['ns'] / most):.1f}%'></div></td>"
                          f"<td style='{NUMBER}'>{row['ns'] / 1e6:.4f}</td><td style='{NUMBER}'>{100 * row['ns'] / total:.1f}</td></tr>" for row in rows)
                + "</table>")
