"""`anonloom new`: a complete, installable plugin folder, marked where its author has to write."""

import argparse
import re
import textwrap
import tomllib
from importlib import resources
from pathlib import Path
from string import Template

from anonloom import __version__
from anonloom._cli.summary import print_done
from anonloom._registry.registry import Registry
from anonloom._spelling import comma_list, did_you_mean
from anonloom.api import Kind
from anonloom.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

#: What a method of each kind reads unless its author says otherwise.
_READS = {
    "source": ("quasi", "sensitive", "label", "other"),
    "mechanism": ("quasi",),
    "privacy": ("quasi", "sensitive"),
    "auditor": ("quasi", "sensitive", "label", "other"),
}

#: What the conformance test of a kind imports besides the kit and the method.
_TEST_IMPORTS = {
    "source": ("from pathlib import Path\n\nimport pandas as pd\n\n", ""),
    "privacy": ("", "from anonloom_testing.oracle import Row\n"),
}

#: Names that the templates import, so that no method's class can have them.
_TAKEN = frozenset(
    "Any Case Classes ClassVar ClientEngine Clock Collection EngineTransport Entropy Findings "
    "Guarantees Guard Literal Need Offsets Path Release Round Row Run Schema Seal SealFiles "
    "ServerEngine Stages Table Verdict VerifiedScope".split()
)

_WORKSPACE = "anonloom-workspace"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "kind", metavar="KIND", help=f"what it is: {comma_list(Registry.installed().kinds)}"
    )
    parser.add_argument("name", metavar="NAME", help="what pipelines call it, such as median-cut")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--here", action="store_true", help="write ./NAME, for a plugin of your own (default)"
    )
    where.add_argument(
        "--into",
        metavar="FOLDER",
        type=Path,
        help="write FOLDER/NAME; below plugins/ of this repository also into its lists",
    )
    parser.add_argument("--paper", default="", help="authors, title, venue and year")


def execute(arguments: argparse.Namespace) -> int:
    """Write the folder and say what comes next."""
    kind = _kind(arguments.kind)
    name = _name(arguments.name)
    into = arguments.into if arguments.into is not None else Path()
    root = _workspace(into) if arguments.into is not None else None
    folder = _place(into, name, root)
    words = words_for(kind, name, arguments.paper, _version(root))
    for path, text in files_of(kind, words, licensed=root is None).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    if root is not None:
        enlist(root, folder)
    shown = folder.as_posix() if folder.is_absolute() else f"./{folder.as_posix()}"
    print_done(
        f"wrote {shown}\n"
        f"write the method in {shown}/src/{words['package']}/{words['module']}.py, then:\n"
        f"  python -m pip install -e {shown}\n"
        f"  anonloom plugins check {name}\n"
        f"  anonloom run {shown}/example/pipeline.yaml",
        f"the plugin is written to {shown}",
    )
    return 0


def _kind(word: str) -> Kind:
    kinds = Registry.installed().kinds
    kind = kinds.called(word)
    if kind is None:
        guess = did_you_mean(word, kinds) or f"kinds are: {comma_list(kinds)}"
        raise UsageError(f"there is no kind {word!r}", hint=guess)
    if _template(f"{kind.key}/method.py.tmpl") is None:
        base = kind.base.replace(":", ".")
        raise UsageError(
            f"there is no template for {kind.article}",
            hint=f"derive its class from {base}, and name it with the hook {kind.hook}",
        )
    return kind


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-").lstrip("0123456789-")
        hint = f"for example {better!r}" if better else "for example 'median-cut'"
        raise UsageError(
            f"a method's name must be lower-case words joined by '-'. Got {name!r} instead.",
            hint=hint,
        )
    if name.startswith("anonloom-"):
        short = name.removeprefix("anonloom-")
        raise UsageError(
            f"the package of {name!r} would be named 'anonloom-{name}'",
            hint=f"leave the prefix out: {short!r}",
        )
    return name


def _workspace(into: Path) -> Path | None:
    """Return the root of the workspace whose plugins/ folder `into` lies in, if any."""
    for root in into.resolve().parents:
        project = root / "pyproject.toml"
        if (
            root / "plugins" in (into.resolve(), *into.resolve().parents)
            and project.is_file()
            and tomllib.loads(project.read_text(encoding="utf-8"))["project"]["name"] == _WORKSPACE
        ):
            return root
    return None


def _place(into: Path, name: str, root: Path | None) -> Path:
    """Return the folder to write, after making sure that nothing is there."""
    if root is not None and into.resolve().parent != root / "plugins":
        raise UsageError(
            f"a plugin of this repository lies in plugins/GROUP/NAME, not in {into.as_posix()!r}",
            hint="for example --into plugins/anonymizers",
        )
    if root is None and not into.is_dir():
        raise UsageError(f"there is no folder {into.as_posix()!r} to write into")
    folder = into / name
    if folder.exists():
        raise UsageError(
            f"{folder.as_posix()!r} exists already", hint="choose another name, or remove it first"
        )
    return folder


def _version(root: Path | None) -> str:
    if root is None:
        return "0.1.0"
    return (root / "VERSION").read_text(encoding="utf-8").strip()


def words_for(kind: Kind, name: str, paper: str, version: str) -> dict[str, str]:
    """Return what the templates' placeholders stand for."""
    base = kind.base.rpartition(":")[2]
    class_name = "".join(word.capitalize() for word in name.split("-"))
    if class_name in {base, *_TAKEN}:
        class_name += "Method"
    conformance = kind.kit.rpartition(":")[2]
    words = {
        "name": name,
        "class_name": class_name,
        "kind": kind.name,
        "Kind": kind.name.capitalize(),
        "hook": kind.hook,
        "module": kind.key,
        "package": f"anonloom_{name.replace('-', '_')}",
        "distribution": f"anonloom-{name}",
        "version": version,
        "core": f"anonloom-core{_range()}",
        "range": _range(),
        "conformance": conformance,
        "paper": " ".join(paper.split()) or "No paper: say where the idea comes from.",
        "paper_code": _quoted(paper),
        "reads": ", ".join(f'"{role}"' for role in _READS.get(kind.key, ("quasi",))),
    }
    before, between = _TEST_IMPORTS.get(kind.key, ("", ""))
    # In one order with the kit, which comes before some packages and after others.
    imports = [
        f"from anonloom_testing import {conformance}",
        *between.splitlines(),
        f"from {words['package']}.{kind.key} import {class_name}",
    ]
    words["imports"] = before + "\n".join(sorted(imports, key=lambda line: line.split()[1]))
    more = _template(f"{kind.key}/conformance.tmpl")
    words["more"] = more.substitute(words) if more is not None else ""
    libraries = _template(f"{kind.key}/libraries.tmpl")
    words["libraries"] = libraries.substitute(words) if libraries is not None else ""
    return words


def _range() -> str:
    """Return the versions of core that the plugin asks for: hooks may change with the minor."""
    major, minor = (int(part) for part in __version__.split(".")[:2])
    return f">={major}.{minor},<{major}.{minor + 1}"


def _quoted(paper: str) -> str:
    """Return a text as Python source in lines of at most 100 characters."""
    lines = textwrap.wrap(" ".join(paper.split()), 72) or [""]
    parts = [line + " " for line in lines[:-1]] + lines[-1:]
    return f"\n{' ' * 12}".join(_literal(part) for part in parts)


def _literal(text: str) -> str:
    """Return a text as ruff writes it: in double quotes, unless it holds some itself."""
    text = text.replace("\\", "\\\\")
    if '"' in text and "'" not in text:
        return f"'{text}'"
    escaped = text.replace('"', '\\"')
    return f'"{escaped}"'


def files_of(kind: Kind, words: dict[str, str], *, licensed: bool) -> dict[str, str]:
    """Return every file of the plugin, by its path in the folder."""
    source = f"src/{words['package']}"
    templates = {
        "pyproject.toml": "every/pyproject.toml.tmpl",
        "README.md": "every/README.md.tmpl",
        f"{source}/__init__.py": "every/init.py.tmpl",
        f"{source}/plugin.py": "every/plugin.py.tmpl",
        f"{source}/{kind.key}.py": f"{kind.key}/method.py.tmpl",
        "tests/test_conformance.py": "every/test_conformance.py.tmpl",
        "tests/test_paper.py": "every/test_paper.py.tmpl",
        "example/pipeline.yaml": f"{kind.key}/pipeline.yaml.tmpl",
        "example/people.csv": "every/people.csv.tmpl",
    }
    if licensed:  # in a repository its own licence holds
        templates["LICENSE"] = "every/LICENSE.tmpl"
    files = {f"{source}/py.typed": ""}
    for path, name in templates.items():
        template = _template(name)
        assert template is not None, name
        files[path] = template.substitute(words)
    return files


def _template(name: str) -> Template | None:
    file = resources.files("anonloom").joinpath("templates", *name.split("/"))
    return Template(file.read_text(encoding="utf-8")) if file.is_file() else None


def enlist(root: Path, folder: Path) -> None:
    """Add a plugin to the two lists of the workspace, each in its order."""
    path = folder.resolve().relative_to(root).as_posix()
    _insert(
        root / "pyproject.toml",
        re.compile(r'  "anonloom-[a-z0-9-]+ @ \{root:uri\}/(?P<path>[^"]+)",'),
        path,
        f'  "anonloom-{folder.name} @ {{root:uri}}/{path}",',
    )
    _insert(root / "requirements-dev.txt", re.compile(r"-e \./(?P<path>\S+)"), path, f"-e ./{path}")


def _insert(file: Path, form: re.Pattern[str], path: str, line: str) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    listed_at = [
        (index, match["path"])
        for index, text in enumerate(lines)
        if (match := form.fullmatch(text))
    ]
    before = [index for index, other in listed_at if _order(other) < _order(path)]
    lines.insert(before[-1] + 1 if before else listed_at[0][0], line)
    file.write_text("\n".join(lines), encoding="utf-8")


def _order(path: str) -> tuple[int, list[str]]:
    # Core and libraries first, then the plugins by path, then what belongs to the documents.
    folders = ("core", "kernels", "linkage", "rounds", "plugins")
    first = path.split("/")[0]
    return folders.index(first) if first in folders else len(folders), path.split("/")
