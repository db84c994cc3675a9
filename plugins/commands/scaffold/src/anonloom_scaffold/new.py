"""`anonloom new`: a complete, installable plugin folder, marked where its author has to write."""

import argparse
import re
from pathlib import Path

from anonloom import Registry
from anonloom.api import Kind
from anonloom.errors import UsageError, did_you_mean
from anonloom_cli.summary import print_done
from anonloom_scaffold.package_files import MethodPlan, has_template, package_files, plan_methods

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

#: The line by which the root of Anonloom's repository is known: its plugins, found by folder.
_MEMBERS = "plugins/*/*"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    kinds = ", ".join(Registry.installed().kinds)
    parser.add_argument("kind", metavar="KIND", help=f"what it is: {kinds}")
    parser.add_argument("name", metavar="NAME", help="what pipelines call it, such as median-cut")
    parser.add_argument(
        "--also",
        metavar="KIND:NAME",
        action="append",
        default=[],
        help="one more method in the same package; repeatable",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--here", action="store_true", help="write ./NAME, for a plugin of your own (default)"
    )
    where.add_argument(
        "--into",
        metavar="FOLDER",
        type=Path,
        help="write FOLDER/NAME; below plugins/ of Anonloom's repository with its version",
    )
    parser.add_argument("--paper", default="", help="authors, title, venue and year")


def execute(arguments: argparse.Namespace) -> int:
    """Write the folder and say what comes next."""
    pairs = [(_find_kind(arguments.kind), _check_name(arguments.name))]
    pairs += [_parse_pair(text) for text in arguments.also]
    if len(set(pairs)) < len(pairs):
        raise UsageError("a package cannot hold two methods of the same kind and name")
    into = arguments.into if arguments.into is not None else Path()
    root = _workspace_root(into) if arguments.into is not None else None
    folder = _target_folder(into, arguments.name, root)
    methods = plan_methods(pairs)
    version = _workspace_version(root) if root is not None else "0.1.0"
    files = package_files(methods, arguments.paper, version, with_licence=root is None)
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    shown = folder.as_posix() if folder.is_absolute() else f"./{folder.as_posix()}"
    lines = [f"wrote {shown}", *_next_steps(shown, methods, in_workspace=root is not None)]
    print_done("\n".join(lines), f"the plugin is written to {shown}")
    return 0


def _next_steps(folder: str, methods: list[MethodPlan], *, in_workspace: bool) -> list[str]:
    package = f"{folder}/src/{methods[0].package}"
    modules = ", ".join(f"{package}/{method.module}.py" for method in methods)
    # An environment that uv made has no pip, and knows the packages of the workspace itself.
    install = "uv sync --all-packages" if in_workspace else f"python -m pip install -e {folder}"
    return [
        f"write the method{'s' if len(methods) > 1 else ''} in {modules}, then:",
        f"  {install}",
        *(f"  anonloom plugins check {name}" for name in dict.fromkeys(m.name for m in methods)),
        *(f"  anonloom run {folder}/example/{method.example}" for method in methods),
    ]


def _find_kind(word: str) -> Kind:
    kinds = Registry.installed().kinds
    kind = kinds.find(word)
    if kind is None:
        guess = did_you_mean(word, kinds) or f"kinds are: {', '.join(kinds)}"
        raise UsageError(f"there is no kind {word!r}", hint=guess)
    if not has_template(kind):
        base = kind.base.replace(":", ".")
        raise UsageError(
            f"there is no template for {kind.article}",
            hint=f"derive its class from {base}, and name it with the hook {kind.hook}",
        )
    return kind


def _check_name(name: str) -> str:
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


def _parse_pair(text: str) -> tuple[Kind, str]:
    kind, colon, name = text.partition(":")
    if not colon:
        raise UsageError(
            f"--also must name a kind and a method. Got {text!r} instead.",
            hint="for example --also auditor:median-risk",
        )
    return _find_kind(kind), _check_name(name)


def _workspace_root(into: Path) -> Path | None:
    """Return the root of the workspace whose plugins/ folder `into` lies in, if any."""
    place = into.resolve()
    for root in place.parents:
        project = root / "pyproject.toml"
        if root / "plugins" in (place, *place.parents) and project.is_file():
            # Imported here: most plugins are written outside of any workspace.
            import tomllib

            uv = tomllib.loads(project.read_text(encoding="utf-8")).get("tool", {}).get("uv", {})
            if _MEMBERS in uv.get("workspace", {}).get("members", ()):
                return root
    return None


def _target_folder(into: Path, name: str, root: Path | None) -> Path:
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


def _workspace_version(root: Path) -> str:
    return (root / "VERSION").read_text(encoding="utf-8").strip()
