"""The tutorial is true: its code is the plugin's, and its commands print what it shows."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import attrs
import pytest

HERE = Path(__file__).resolve().parents[1]

_FENCE = re.compile(
    r"(?:^`(?P<file>[^`\n]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


@attrs.frozen
class Block:
    """A fenced block: its language, its text, and the file that the line before it names."""

    language: str
    text: str
    file: str | None


def blocks():
    text = (HERE / "README.md").read_text()
    return [Block(m["language"], m["text"], m["file"]) for m in _FENCE.finditer(text)]


def test_every_piece_of_code_is_in_the_file_that_is_named_before_it():
    pieces = [block for block in blocks() if block.language in ("python", "yaml")]

    assert 5 == len(pieces)
    for piece in pieces:
        assert piece.text in (HERE / piece.file).read_text()


@pytest.fixture
def environment(tmp_path):
    """A fresh environment that borrows the packages of this one, and can install offline."""
    for package in ("pip", "hatchling", "editables", "anonloom_recoding", "anonloom_mondrian"):
        pytest.importorskip(package)
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / "bin" / "python"
    packages = sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})["purelib"]
    lent = sysconfig.get_paths()["purelib"]
    (Path(packages) / "lent.pth").write_text(f"import site; site.addsitedir({lent!r})\n")
    command = place / "bin" / "anonloom"
    command.write_text(f"#!{python}\nimport sys\nfrom anonloom_cli import main\nsys.exit(main())\n")
    command.chmod(0o755)
    return os.environ | {
        "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this as 'no isolation'
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _matches(printed: str, expected: str) -> bool:
    """Whether a text is what the tutorial shows; `...` on a line stands for any lines."""
    pieces = [re.escape(piece) for piece in re.split(r"^\.\.\.\n", expected, flags=re.M)]
    return re.fullmatch("(?:.*\n)*?".join(pieces), printed) is not None


def test_the_commands_do_what_the_tutorial_says(environment, tmp_path):
    """Followed from the first line to the last, in an empty folder and a fresh environment."""
    place = tmp_path / "work"
    place.mkdir()
    printed = ""
    for block in blocks():
        if block.language == "text":
            assert _matches(printed, block.text), f"{block.text}\n--- printed:\n{printed}"
        elif block.language == "sh":
            done = subprocess.run(
                ["bash", "-c", block.text],
                cwd=place,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            printed = done.stdout
            # The kit ends with an error where the tutorial breaks the method on purpose.
            broken = "sed -i" in block.text
            assert done.returncode == 0 or broken, f"{block.text}{done.stdout}{done.stderr}"
        else:
            # The reader writes what is shown: the file as it is in the finished plugin.
            shutil.copyfile(HERE / block.file, place / block.file)
    assert (place / "median-cut/example/out/public/release.csv").is_file()
