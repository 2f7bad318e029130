# SPDX-License-Identifier: Apache-2.0
"""How notebooks show models and profiles: HTML whose colors are those of the notebook."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional

if TYPE_CHECKING:
    from ._session import NodeArg

MAX_ROWS = 40  # of a profile; the others are summed up
MAX_PORTS = 8  # inputs, or outputs, of a model; the others are counted
MAX_TYPES = 3  # of the nodes of an operator; the others are counted
BAR = "height:10px;min-width:1px;background:#3d72b4;border-radius:2px"
NUMBER = "text-align:right;white-space:nowrap"


def _text(value: Any) -> str:
    """Text of any characters, as names of models are."""
    return html.escape(str(value).encode("utf-8", "replace").decode("utf-8"))


def _row(cells: Iterable[str], tag: str = "td", n_numbers: int = 0) -> str:
    """A row of a table, the last `n_numbers` cells of which are numbers."""
    cells = list(cells)
    styles = ["text-align:left"] * (len(cells) - n_numbers) + [NUMBER] * n_numbers
    return "<tr>" + "".join(f"<{tag} style='{style}'>{cell}</{tag}>" for style, cell in zip(styles, cells)) + "</tr>"


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
    title = _text(name) + (f", {bytes_text(size)}" if size is not None else "")
    return (f"<div><b>lightnet.Model</b> {title}</div><table>" + _row(["", "name", "type", "shape"], "th")
            + _port_rows("input", inputs) + _port_rows("output", outputs) + "</table>")


def _port_rows(what: str, ports: List[NodeArg]) -> str:
    shown = ports if len(ports) <= MAX_PORTS + 1 else ports[:MAX_PORTS]
    rows = [_row([what, f"<code>{_text(port.name)}</code>", _text(port.type), _text(_shape_text(port.shape))]) for port in shown]
    return "".join(rows) + (_row([what, f"{len(ports) - len(shown)} others", "", ""]) if len(shown) < len(ports) else "")


def nodes_text(row: Mapping[str, Any]) -> str:
    """The nodes of the model that an operator computes, "Conv + Relu conv1": types, and the name of the first; without nodes, the
    operator's own name."""
    nodes = row.get("nodes")
    if not nodes:
        return str(row["name"])
    types = [node["type"] for node in nodes]
    more = [f"{len(types) - MAX_TYPES} more"] if len(types) > MAX_TYPES else []
    return f"{' + '.join(types[:MAX_TYPES] + more)} {nodes[0]['name']}".rstrip()


class ProfileRows(List[Dict[str, Any]]):
    """The operators of a run, a list of {"name", "type", "ns", "nodes"}. Notebooks show it as bars, the longest first."""

    def _repr_html_(self) -> str:
        rows = sorted(self, key=lambda row: -row["ns"])
        total, most = sum(row["ns"] for row in rows) or 1, max((row["ns"] for row in rows), default=0) or 1
        rest = rows[MAX_ROWS:]
        if rest:
            rows = [*rows[:MAX_ROWS], {"name": f"{len(rest)} others", "type": "", "ns": sum(row["ns"] for row in rest)}]
        return (f"<div><b>{len(self)} operators</b>, {total / 1e6:.3f} ms</div><table>" + _row(["nodes", "operator", "", "ms", "%"], "th", 2)
                + "".join(f"<tr><td style='text-align:left'><code>{_text(nodes_text(row))}</code></td><td style='text-align:left'>{_text(row['type'])}</td>"
                          f"<td style='width:240px'><div style='{BAR};width:{min(100, 100 * row['ns'] / most):.1f}%'></div></td>"
                          f"<td style='{NUMBER}'>{row['ns'] / 1e6:.4g}</td><td style='{NUMBER}'>{100 * row['ns'] / total:.1f}</td></tr>" for row in rows)
                + "</table>")
