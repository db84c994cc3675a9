"""What the README shows is what is in the tree, and its commands stay where they are looked for."""

import re
import shlex
from pathlib import Path

import yaml
from check_workspace import members

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def test_the_pipeline_shown_is_the_quickstart():
    assert (ROOT / "examples/quickstart.yaml").read_text(encoding="utf-8") == blocks("yaml")[0]


def test_the_pipeline_comes_before_the_commands():
    assert README.index("```yaml") < README.index("```sh")


def test_two_commands_of_one_line_each_open_the_readme():
    run, test = blocks("sh")[:2]
    assert (1, 1) == (run.count("\n"), test.count("\n"))
    assert " sync -q --all-packages --no-dev " in run
    assert run.rstrip().endswith("anonloom run examples/quickstart.yaml --replace")
    assert " sync -q --all-packages --inexact " in test
    assert test.rstrip().endswith(' -m pytest -q -n 2 -m "not long" --hypothesis-profile=quick')


def test_the_commands_need_nothing_but_python():
    for command in blocks("sh")[:2]:
        parts = [re.sub(r"^ UV_PROJECT_ENVIRONMENT=\S+", "", p) for p in command.split("&&")]
        programs = [shlex.split(part)[0] for part in parts]
        environment = programs[1].split("/")[0]
        assert "python3" == programs[0]
        assert all(program.startswith(f"{environment}/bin/") for program in programs[1:])


def test_the_checks_of_a_change_use_the_environment_of_the_test_command():
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    environment = shlex.split(blocks("sh")[1])[3]
    assert f"bin={environment}/bin\n" in script


def test_every_package_stands_in_the_table():
    table = (ROOT / "docs/reference/packages.md").read_text(encoding="utf-8")
    for member in members(ROOT):
        if not member.is_tutorial:
            assert re.search(rf"^\| `{member.path}` \| {member.distribution} \|", table, re.M)

def test_every_file_linked_from_the_readme_exists():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_files_that_the_quickstart_reads_exist():
    spec = yaml.safe_load(blocks("yaml")[0])
    paths = [spec["data"]["with"]["path"]]
    for column in spec["data"]["columns"].values():
        if isinstance(column.get("hierarchy"), str):
            paths.append(column["hierarchy"])
    for path in paths:
        assert (ROOT / "examples" / path).is_file(), path
