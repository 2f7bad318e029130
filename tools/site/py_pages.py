# SPDX-License-Identifier: Apache-2.0
"""The reference of Python: public names with their signatures and docstrings, read without importing."""
import ast
import os
import re
from typing import Dict, List, NamedTuple

from prose import code, first_sentence, heading, indent, page, to_rst

PACKAGE = "lightnet"
# Lines of a docstring that describe an argument: "options: ..", "a, b: ..".
ARGUMENT = re.compile(r"[a-z_*][\w*]*(?:(?:, (?:and )?| and )[a-z_*][\w*]*)*: ")
HIDDEN = {"__init__", "__repr__", "__enter__", "__exit__", "__reduce__", "__reduce_ex__", "__del__"}
ENUMS = {"Enum", "IntEnum", "enum.Enum", "enum.IntEnum"}


class Module(NamedTuple):
    name: str
    doc: str
    tree: ast.Module
    exported: List[str]
    names: Dict[str, tuple]  # imported name: (module, name there)


def is_public(name):
    return not name.startswith("_")


def module_name(path):
    parts = path[:-len(".py")].split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def strings_of(tree, name):
    """The strings of the list that is assigned to `name`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return [item.value for item in node.value.elts if isinstance(item, ast.Constant)]
    return None


def imports_of(tree, module, is_package):
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = module.split(".")
            base = base[:len(base) - node.level + is_package] if node.level else []
            source = ".".join([*base, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                names[alias.asname or alias.name] = (source, alias.name)
    return names


def read_modules(folder):
    """{name: Module} of the files of the package."""
    found = {}
    for parent, _, files in sorted(os.walk(os.path.join(folder, PACKAGE))):
        for file_name in sorted(name for name in files if name.endswith(".py")):
            path = os.path.join(parent, file_name)
            with open(path, encoding="utf-8") as file:
                tree = ast.parse(file.read(), path)
            name = module_name(os.path.relpath(path, folder).replace(os.sep, "/"))
            exported = strings_of(tree, "__all__")
            if exported is None:
                exported = [node.name for node in tree.body
                            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and is_public(node.name)]
            exported = [*exported, *(extra for extra in strings_of(tree, "_NAMES") or [])]
            found[name] = Module(name, ast.get_docstring(tree) or "", tree, exported,
                                 imports_of(tree, name, file_name == "__init__.py"))
    return found


def defined_in(tree, name):
    """The node at the top level that defines a name; None: there is none."""
    for node in tree.body:
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        is_assigned = isinstance(node, (ast.Assign, ast.AnnAssign)) and getattr(targets[0], "id", None) == name
        if getattr(node, "name", None) == name or is_assigned:
            return node
    return None


def definition_of(modules, module, name):
    """The node that defines a name of a module, through imports; None: not there."""
    node = defined_in(modules[module].tree, name)
    if node:
        return node
    source, original = modules[module].names.get(name) or modules[module].names.get("*", (None, None))
    if source in modules and source != module:
        return definition_of(modules, source, name if original == "*" else original)
    # A package may import a module when a name is used first.
    lazy = [defined_in(other.tree, name) for other in modules.values() if other.name.rpartition(".")[0] == module]
    found = [node for node in lazy if node]
    return found[0] if len(found) == 1 else None


def signature(node, is_method):
    args = ast.parse(ast.unparse(node.args).join(["def f(", "): pass"])).body[0].args
    if is_method:
        (args.posonlyargs or args.args).pop(0)
    text = f"({ast.unparse(args)})"
    return text + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def decorators(node):
    return [ast.unparse(decorator) for decorator in node.decorator_list]


def docs(node):
    text = ast.get_docstring(node) or ""
    return to_rst(text, "python", ARGUMENT) if text else ""


def function(node):
    return f".. py:function:: {node.name}{signature(node, False)}\n\n{indent(docs(node))}"


def method(node):
    marks = decorators(node)
    if "property" in marks or any(mark.endswith("cached_property") for mark in marks):
        kind = f"\n   :type: {ast.unparse(node.returns)}" if node.returns else ""
        return f".. py:property:: {node.name}{kind}\n\n{indent(docs(node))}"
    options = "".join(f"   :{mark}:\n" for mark in ("classmethod", "staticmethod", "abstractmethod")
                      if mark in marks or f"abc.{mark}" in marks)
    text = signature(node, "staticmethod" not in marks)
    return f".. py:method:: {node.name}{text}\n{options}\n{indent(docs(node))}"


def assigned(item):
    """(target, value) of an assignment, also of `a, b = x, y`."""
    for target in item.targets:
        if isinstance(target, ast.Tuple) and isinstance(item.value, ast.Tuple):
            yield from zip(target.elts, item.value.elts)
        else:
            yield target, item.value


def fields_of(node):
    """(name, type, value) of the class's own public names, and of those that __init__ annotates."""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and is_public(item.target.id):
            yield item.target.id, ast.unparse(item.annotation), item.value and ast.unparse(item.value)
        elif isinstance(item, ast.Assign):
            for target, value in assigned(item):
                if isinstance(target, ast.Name) and is_public(target.id):
                    yield target.id, None, ast.unparse(value)
    init = next((item for item in node.body if getattr(item, "name", None) == "__init__"), None)
    for item in ast.walk(init) if init else []:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Attribute) and is_public(item.target.attr):
            yield item.target.attr, ast.unparse(item.annotation), None


def attributes(node):
    out, seen = "", set()
    for name, kind, value in fields_of(node):
        if name in seen or (value and len(value) > 60):
            value = None
        if name not in seen:
            out += (f".. py:attribute:: {name}\n" + (f"   :type: {kind}\n" if kind else "")
                    + (f"   :value: {value}\n" if value else "") + "\n")
        seen.add(name)
    return out


def methods(node):
    """Public methods and operators; of a property with a setter the getter alone."""
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.name in HIDDEN:
            continue
        is_setter = any(mark.endswith(".setter") for mark in decorators(item))
        is_operator = item.name.startswith("__") and ast.get_docstring(item)
        if (is_public(item.name) or is_operator) and not is_setter:
            yield item


def class_text(node):
    bases = [ast.unparse(base) for base in node.bases if is_public(ast.unparse(base))]
    init = next((item for item in node.body if getattr(item, "name", None) == "__init__"), None)
    is_error = any(base.endswith(("Error", "Exception")) or base in ("Fail", "EngineError") for base in bases)
    is_data = any(mark.startswith(("dataclass", "dataclasses.")) for mark in decorators(node))
    args = signature(init, True).split(" -> ")[0] if init else ""
    body = "A data class.\n\n" if is_data else ""
    body += f"Bases: {', '.join(f':py:class:`{base}`' for base in bases)}\n\n" if bases else ""
    body += docs(node) + (docs(init) if init else "")
    body += attributes(node) + "".join(map(method, methods(node)))
    return f".. py:{'exception' if is_error else 'class'}:: {node.name}{args}\n\n{indent(body)}"


def alias_text(name, node):
    value = ast.unparse(node.value) if node.value else ""
    return f".. py:data:: {name}\n" + (f"   :value: {value}\n" if len(value) <= 60 else "") + "\n"


def entry(modules, module, name):
    node = definition_of(modules, module, name)
    if isinstance(node, ast.ClassDef):
        text = class_text(node).replace(f":: {node.name}", f":: {name}", 1)
        return text, "Exceptions" if text.startswith(".. py:exception") else "Classes"
    if isinstance(node, ast.FunctionDef):
        return function(node).replace(f":: {node.name}", f":: {name}", 1), "Functions"
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return alias_text(name, node), "Data"
    raise ValueError(f"{module}: '{name}' is exported, but no file of the package defines it")


def module_page(modules, module, shown):
    groups = {"Functions": "", "Classes": "", "Exceptions": "", "Data": ""}
    again = ""
    for name in sorted(dict.fromkeys(module.exported), key=str.lower):
        node = definition_of(modules, module.name, name)
        if id(node) in shown:
            again += f"- :py:obj:`{name} <{shown[id(node)]}>`\n"
            continue
        text, group = entry(modules, module.name, name)
        shown[id(node)] = f"{module.name}.{name}"
        groups[group] += text
    body = to_rst(module.doc, "python")
    # A function of the package may have the name of the module: links lead to the function.
    hidden = "   :noindex:\n" if module.name in shown.values() else ""
    body += f".. py:module:: {module.name}\n{hidden}\n.. py:currentmodule:: {module.name}\n\n"
    for title, text in groups.items():
        body += heading(title, "-") + text if text else ""
    body += heading("The same names as elsewhere", "-") + again + "\n" if again else ""
    return page(module.name, first_sentence(module.doc or module.name), body)


def pages(root):
    """{path: text} of all pages."""
    modules = read_modules(os.path.join(root, "python"))
    public = [module for name, module in modules.items()
              if all(map(is_public, name.split("."))) and module.exported]
    # A package before its modules, so that entries are where a program imports them from.
    public.sort(key=lambda module: (module.name != PACKAGE, module.name.count("."), module.name))
    made, rows, toc, shown = {}, "", "", {}
    for module in public:
        made[f"reference/python/{module.name}.rst"] = module_page(modules, module, shown)
        rows += f"   * - :doc:`{module.name}`\n     - {first_line(module)}\n"
        short = module.name[len(PACKAGE) + 1:] or module.name  # names in the navigation fit in a line
        toc += f"   {short} <{module.name}>\n"
    made["reference/python/index.rst"] = page(
        "Python", "Reference of the Python package: classes, functions, exceptions.",
        ":doc:`/python/README` introduces the package.\n\n"
        + code("import lightnet", "python") +
        f".. list-table::\n   :header-rows: 1\n\n   * - module\n     - content\n{rows}\n"
        f".. toctree::\n   :hidden:\n\n{toc}")
    return made


def first_line(module):
    return to_rst(first_sentence(module.doc or module.name), "python").strip()
