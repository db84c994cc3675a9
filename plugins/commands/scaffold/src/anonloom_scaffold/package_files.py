"""The files of a new plugin: templates filled with the names of its methods."""

import ast
import builtins
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

from anonloom import __version__
from anonloom.api import API_VERSION, Kind

#: What a method of each kind reads unless its author says otherwise.
_READS = {
    "source": ("quasi", "sensitive", "label", "other"),
    "mechanism": ("quasi",),
    "privacy": ("quasi", "sensitive"),
    "auditor": ("quasi", "sensitive", "label", "other"),
}

#: What the conformance test of a kind imports besides the kit and the method: from the standard
#: library, from other people's packages, from ours.
_TEST_IMPORTS: dict[str, tuple[str, str, tuple[str, str] | None]] = {
    "source": ("from pathlib import Path", "import pandas as pd", None),
    "privacy": ("", "", ("anonloom_testing.oracle", "Row")),
}

#: Longer names are left out of docstrings of one line, which have at most 100 characters.
_LONG_NAME = 24

#: Where the next line of an argument in the hook module begins.
_INDENT = "\n" + " " * 12

_NO_PAPER = "No paper: say where the idea comes from."


class MethodPlan(NamedTuple):
    """One method of the new package, with the names that its files use.

    Parameters
    ----------
    kind : Kind
        Its kind.
    name : str
        What pipelines call it.
    package, module, class_name : str
        Where its code will be.
    example : str
        The file of its example pipeline.
    """

    kind: Kind
    name: str
    package: str
    module: str
    class_name: str
    example: str

    @property
    def conformance(self) -> str:
        """The class of the kit that checks it."""
        return self.kind.kit.rpartition(":")[2]

    @property
    def example_output(self) -> str:
        """Where its example publishes: a folder of its own, so that all examples can be run."""
        stem = self.example.removesuffix(".yaml")
        return "out" if stem == "pipeline" else f"out-{stem}"

    @property
    def words(self) -> dict[str, str]:
        """What placeholders in the templates of its kind stand for."""
        return {
            "name": self.name,
            "class_name": self.class_name,
            "Title": self._with_name(self.kind.name.capitalize()),
            "check": self._with_name("anonloom plugins check"),
            "conformance": self.conformance,
            "out": self.example_output,
        }

    def _with_name(self, text: str) -> str:
        """Return the text with the method's name, unless a line would be too long for it."""
        return f"{text} {self.name}" if len(self.name) <= _LONG_NAME else text


def has_template(kind: Kind) -> bool:
    """Whether methods of a kind can be written; kinds of plugins have no templates here."""
    return _template(f"{kind.key}/method.py.tmpl") is not None


def plan_methods(pairs: Sequence[tuple[Kind, str]]) -> list[MethodPlan]:
    """Name modules, classes and examples of the methods; the first one names the package."""
    package = f"anonloom_{pairs[0][1].replace('-', '_')}"
    of_kind = Counter(kind.key for kind, _ in pairs)
    # All kinds together: the test module imports what each of them needs.
    reserved = set(dir(builtins)).union(*(_imported_names(kind) for kind, _ in pairs))
    methods: list[MethodPlan] = []
    for kind, name in pairs:
        alone = of_kind[kind.key] == 1
        module = kind.key if alone else f"{name.replace('-', '_')}_{kind.key}"
        example = f"{module.replace('_', '-')}.yaml" if methods else "pipeline.yaml"
        class_name = "".join(word.capitalize() for word in name.split("-"))
        if class_name in reserved:
            class_name += "Method"
        if class_name in [other.class_name for other in methods]:
            class_name += _base_name(kind)
        methods.append(MethodPlan(kind, name, package, module, class_name, example))
    return methods


def package_files(
    methods: Sequence[MethodPlan], paper: str, version: str, *, with_licence: bool
) -> dict[str, str]:
    """Return every file of the plugin, by its path in the folder."""
    paper = " ".join(paper.split())
    first = methods[0]
    source = f"src/{first.package}"
    methods_text = _enumeration([f"{method.kind.name} {method.name}" for method in methods])
    words = {
        "methods": methods_text,
        "Methods": methods_text[0].upper() + methods_text[1:],
        "Title": methods[0].words["Title"] if len(methods) == 1 else "Methods",
        "package": first.package,
        "entry": first.name,
        "distribution": f"anonloom-{first.name}",
        "version": version,
        "core": f"anonloom-core{_core_range()}",
        "libraries": _libraries(methods),
        "paper": paper or _NO_PAPER,
        "checks": _indent(f"anonloom plugins check {name}" for name in _names(methods)),
        "shows": _enumeration([f"`anonloom plugins show {name}`" for name in _names(methods)]),
        "show_verb": "lists" if len(_names(methods)) == 1 else "list",
        "runs": _indent(f"anonloom run example/{method.example}" for method in methods),
    }
    files = {
        "pyproject.toml": _fill("every/pyproject.toml.tmpl", words),
        "README.md": _fill("every/README.md.tmpl", words),
        f"{source}/__init__.py": _fill("every/init.py.tmpl", words),
        f"{source}/py.typed": "",
        f"{source}/plugin.py": _hook_module(methods, paper),
        "tests/test_conformance.py": _conformance_module(methods),
        "tests/test_paper.py": _fill("every/test_paper.py.tmpl", words),
        "example/people.csv": _fill("every/people.csv.tmpl", words),
    }
    for method in methods:
        key = method.kind.key
        files[f"{source}/{method.module}.py"] = _fill(f"{key}/method.py.tmpl", method.words)
        files[f"example/{method.example}"] = _fill(f"{key}/pipeline.yaml.tmpl", method.words)
    if with_licence:  # in a repository its own licence holds
        files["LICENSE"] = _fill("every/LICENSE.tmpl", words)
    return files


def _names(methods: Sequence[MethodPlan]) -> list[str]:
    """Return the names of the methods; two kinds may share one."""
    return list(dict.fromkeys(method.name for method in methods))


def _enumeration(items: Sequence[str]) -> str:
    return ", ".join(items[:-1]) + (" and " if len(items) > 1 else "") + items[-1]


def _indent(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _base_name(kind: Kind) -> str:
    return kind.base.rpartition(":")[2]


def _core_range() -> str:
    """Return the versions of core that the plugin asks for: hooks may change with the minor."""
    major, minor = (int(part) for part in __version__.split(".")[:2])
    return f">={major}.{minor},<{major}.{minor + 1}"


def _libraries(methods: Sequence[MethodPlan]) -> str:
    """Return the lines of `dependencies` that the kinds of the methods need besides core."""
    templates = [_template(f"{method.kind.key}/libraries.tmpl") for method in methods]
    lines = [template.substitute(range=_core_range()) for template in templates if template]
    return "".join(dict.fromkeys(lines))


def _imported_names(kind: Kind) -> set[str]:
    """Return the names that the files of a kind import, so that no method's class can have them."""
    words = {"name": "x", "class_name": "X_", "Title": "X"}
    tree = ast.parse(_fill(f"{kind.key}/method.py.tmpl", words))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    standard, _, ours = _TEST_IMPORTS.get(kind.key, ("", "", None))
    return names | set(standard.split()) | set(ours or ())


def _hook_module(methods: Sequence[MethodPlan], paper: str) -> str:
    """Return `plugin.py`: one hook per kind, which names all methods of that kind."""
    texts = _enumeration([f"the {method.kind.name} `{method.name}`" for method in methods])
    summary = f"What this distribution offers: {texts}."
    if len(summary) + 6 > 100:
        summary = "What this distribution offers."
    parts = [_fill("every/plugin.py.tmpl", {"summary": summary, "api": str(API_VERSION)})]
    for kind in dict.fromkeys(method.kind for method in methods):
        own = [method for method in methods if method.kind == kind]
        entries = [
            _fill(
                "every/method_entry.tmpl",
                {
                    "name": method.name,
                    "target": _target_lines(method),
                    "paper": _string_lines(paper),
                    "reads": ", ".join(f'"{role}"' for role in _READS.get(kind.key, ("quasi",))),
                },
            )
            for method in own
        ]
        words = {
            "hook": kind.hook,
            "kind": kind.name if len(own) == 1 else kind.plural,
            # ruff leaves no comma after a single call that it can keep on its lines.
            "entries": entries[0].rstrip(",\n") + "\n" if len(own) == 1 else "".join(entries),
        }
        parts.append(_fill("every/hook.tmpl", words))
    return "".join(parts)


def _conformance_module(methods: Sequence[MethodPlan]) -> str:
    kinds = list(dict.fromkeys(method.kind.key for method in methods))
    extra = [_TEST_IMPORTS.get(key, ("", "", None)) for key in kinds]
    ours: dict[str, set[str]] = {
        "anonloom_testing": {method.conformance for method in methods},
    }
    for method in methods:
        ours.setdefault(f"{method.package}.{method.module}", set()).add(method.class_name)
    for _, _, names in extra:
        if names is not None:
            ours.setdefault(names[0], set()).add(names[1])
    # The kit comes before some packages and after others.
    lines = [_import_line(module, sorted(names)) for module, names in sorted(ours.items())]
    groups = [
        "\n".join(line for line, _, _ in extra if line),
        "\n".join(line for _, line, _ in extra if line),
        "\n".join(lines),
    ]
    promise = (
        f"The {methods[0].kind.name} keeps the promises of its kind."
        if len(methods) == 1
        else "The methods keep the promises of their kinds."
    )
    words = {"promise": promise, "imports": "\n\n".join(group for group in groups if group)}
    parts = [_fill("every/test_conformance.py.tmpl", words)]
    for method in methods:
        more = _template(f"{method.kind.key}/conformance.tmpl")
        text = more.substitute(method.words) if more is not None else ""
        parts.append(_fill("every/conformance_class.tmpl", method.words | {"more": text}))
    return "".join(parts)


def _import_line(module: str, names: Sequence[str]) -> str:
    """Return an import as ruff writes it: on one line if it fits into 100 characters."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= 100:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def _target_lines(method: MethodPlan) -> str:
    """Return where the class is as Python source in lines of at most 100 characters."""
    parts = [f"{method.package}.{method.module}", f":{method.class_name}"]
    return _INDENT.join(map(_literal, ["".join(parts)] if len("".join(parts)) <= 76 else parts))


def _string_lines(text: str) -> str:
    """Return a text as Python source in lines of at most 100 characters."""
    lines = textwrap.wrap(text, 72) or [""]
    parts = [line + " " for line in lines[:-1]] + lines[-1:]
    return _INDENT.join(_literal(part) for part in parts)


def _literal(text: str) -> str:
    """Return a text as ruff writes it: in double quotes, unless it holds some itself."""
    text = text.replace("\\", "\\\\")
    if '"' in text and "'" not in text:
        return f"'{text}'"
    escaped = text.replace('"', '\\"')
    return f'"{escaped}"'


def _fill(name: str, words: dict[str, str]) -> str:
    template = _template(name)
    assert template is not None, name
    return template.substitute(words)


def _template(name: str) -> Template | None:
    file = Path(__file__).parent / "templates" / name
    return Template(file.read_text(encoding="utf-8")) if file.is_file() else None
