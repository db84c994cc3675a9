"""The commands check, plan, plugins and schema: what they print and how they end."""

import os
import subprocess
import sys

import pytest

import anonloom_cli as cli
from anonloom import Registry
from anonloom.api import Command, KnownPlugin, hookimpl
from anonloom.errors import DataError

PIPELINE = """\
version: 1
name: people
seed: 5
data:
  source: csv
  with: {path: people.csv}
  columns:
    age: {role: quasi, type: number}
    job: {role: sensitive}
privacy:
  - crowd: {k: 2}
stages:
  - partitioner: grow
    with: {size: 3}
  - generalizer: blur
audit:
  - auditor: meter
    with: {token: hunter2}
    fail_if: {loss: '> 0.5'}
publish: {to: out}
"""


@pytest.fixture
def anonloom(registry, monkeypatch, tmp_path, capsys):
    """Run a command in a folder of its own with the toys installed."""
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "people.csv").write_text("age,job,town\n30,cook,A\n40,smith,B\n")

    def run(*words):
        code = cli.main(words)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_check_of_a_good_file_lists_what_is_not_published(anonloom):
    expected = "p.yaml: ok\nnot declared, therefore not published: town\n"
    assert (0, expected, "") == anonloom("check", "p.yaml")


def test_a_table_in_the_place_of_a_pipeline_is_refused_unread(anonloom):
    expected = (
        "anonloom: people.csv: this is a table, not a pipeline\n"
        "    name the YAML file that says what is to be done with it\n"
    )
    assert (2, "", expected) == anonloom("check", "people.csv")


def test_check_counts_the_runs_of_an_experiment(anonloom):
    code, out, _ = anonloom("check", "p.yaml", "--set", "vary.seed=[1, 2, 3]")
    assert (0, "p.yaml: ok, 3 runs") == (code, out.splitlines()[0])


def test_check_says_when_nothing_is_protected(anonloom):
    code, out, _ = anonloom("check", "p.yaml", "--set", "privacy=none")
    expected = "privacy: none is declared; the release is not protected by any model"
    assert (0, expected) == (code, out.splitlines()[-1])


def test_check_of_a_bad_file_ends_with_2_and_counts(anonloom):
    code, out, err = anonloom("check", "p.yaml", "--set", "seed=-1")
    assert (
        2,
        "",
        """\
--set:1:6: seed: must be an integer of at least 0, or null. Got -1 instead.
    seed=-1
         ^
    Seed of the algorithms. Keys and coins always use the system's randomness.

1 problem
""",
    ) == (code, out, err)


def test_check_where_the_data_are_not(anonloom, tmp_path):
    (tmp_path / "people.csv").unlink()
    code, out, _ = anonloom("check", "p.yaml")
    assert (0, "p.yaml: ok") == (code, out.splitlines()[0])
    assert out.splitlines()[1].startswith("the data were not looked at: ")


def test_check_of_a_column_that_the_source_lacks_ends_with_4(anonloom, tmp_path):
    (tmp_path / "people.csv").write_text("age,town\n30,A\n")
    expected = "anonloom: the data have no column 'job'; they have: 'age', 'town'\n"
    assert (4, "", expected) == anonloom("check", "p.yaml")


def test_check_of_a_hierarchy_that_is_not_there_ends_with_4(anonloom):
    code, _, err = anonloom(
        "check", "p.yaml", "--set", "data.columns.job={role: quasi, hierarchy: no.csv}"
    )
    expected = "anonloom: column 'job': no.csv: there is no such hierarchy file\n"
    assert (4, expected) == (code, err)


def test_plan_writes_methods_inside_methods_as_a_pipeline_does(anonloom):
    recovery = "{partitioner: grow, with: {weights: {age: 2.5}}}"
    stages = f"[{{partitioner: cut}}, {{outliers: trim, with: {{recovery: {recovery}}}}}, {{generalizer: blur}}]"
    code, out, _ = anonloom("plan", "p.yaml", "--set", f"stages={stages}")
    assert (
        "  outliers: trim {low: 0.0, high: 1.0, recovery: {partitioner: grow, with: {size: 5, "
        "shape: ball, weights: {age: 2.5}}}}  [anonloom-toys 1.0]"
    ) in out.splitlines()
    assert 0 == code


def test_plan_shows_defaults_and_hides_secrets(anonloom):
    code, out, err = anonloom("plan", "p.yaml", "--set", "vary.seed=[1, 2]")
    assert (
        0,
        """\
pipeline people
  seed: 1
data
  source: csv PARAMETERS  [anonloom-tables 0.1.0]
  age  quasi, number, published as interval
  job  sensitive, category, published as it is
  not declared, therefore not published: town
privacy
  privacy: crowd {k: 2}  [anonloom-toys 1.0]
  suppression: at most 0 of the rows, kept as '*'
collect
  collector: curator  [anonloom-core 0.1.0]
stages
  partitioner: grow {size: 3, shape: ball, weights: {}}  [anonloom-toys 1.0]
  generalizer: blur  [anonloom-toys 1.0]
audit
  auditor: meter (id meter) {columns: [], token: "<private>", lookup: null}  [anonloom-toys 1.0]
    refuses the release if loss > 0.5
publish
  to: out
  formats: csv
  reporters: none
  rows: shuffled
  transformation: private
vary: 2 runs
  seed=1
  seed=2
""",
        "",
    ) == (code, _without_parameters_of_csv(out), err)


def _without_parameters_of_csv(text):
    # What the source takes is its own affair and tested there.
    lines = text.splitlines(keepends=True)
    start = "  source: csv "
    return "".join(
        f"{start}PARAMETERS  [{line.rpartition('  [')[2]}" if line.startswith(start) else line
        for line in lines
    )


def test_plugins_lists_by_kind_with_owner_and_summary(anonloom):
    code, out, _ = anonloom("plugins", "list", "--kind", "partitioner")
    assert (
        0,
        "partitioners\n"
        "  cut   anonloom-toys 1.0  A toy: cut.\n"
        "  grow  anonloom-toys 1.0  A toy: grow.\n",
    ) == (code, out)


def test_plugins_lists_commands_and_what_could_not_be_loaded(anonloom, registry):
    class Acme:
        ANONLOOM_API = 2

        @hookimpl
        def anonloom_register_commands(self):
            return [Command(name="serve", target="acme.serve", summary="Serves.")]

    class Old:
        ANONLOOM_API = 0

    registry.register(Acme(), distribution="acme", version="2.0")
    registry.register(Old(), distribution="old", version="0.1")
    _, out, _ = anonloom("plugins")
    assert (
        "commands\n"
        "  serve  acme 2.0  Serves.\n"
        "not loaded\n"
        "  old 0.1 (it speaks plugin API 0, this core speaks 2: upgrade old)\n"
    ) == out[out.index("commands\n") :]


def test_plugins_show_prints_defaults_and_help(anonloom):
    code, out, _ = anonloom("plugins", "show", "grow")
    assert (
        0,
        """\
partitioner grow (anonloom-toys 1.0)
  A toy: grow.
  reads: quasi
  parameters
    size: an integer of at least 1; default 5
      How large a seed is.
    shape: one of 'ball', 'box'; default "ball"
      What grows.
    weights: a mapping of names to numbers; default {}
      Weight per column.
""",
    ) == (code, out)


def test_plugins_show_of_a_required_parameter_and_of_none(anonloom):
    assert "k: an integer of at least 2; required" in anonloom("plugins", "show", "crowd")[1]
    assert "  no parameters\n" in anonloom("plugins", "show", "cut")[1]


def test_plugins_show_of_an_unknown_method(anonloom):
    expected = "anonloom: no method is named 'gorw'\n    did you mean 'grow'?\n"
    assert (2, "", expected) == anonloom("plugins", "show", "gorw")


def test_plugins_of_an_unknown_kind(anonloom):
    expected = "anonloom: there is no kind 'samplr'\n    did you mean 'sampler'?\n"
    assert (2, "", expected) == anonloom("plugins", "list", "--kind", "samplr")


# -- the front door ---------------------------------------------------------------------------


def test_help_lists_every_command_and_the_exit_codes(anonloom):
    code, out, _ = anonloom("--help")
    assert 0 == code
    for name, (_, summary) in cli.COMMANDS.items():
        assert name in out
        assert summary in out
    assert "exit codes: 0 done" in out


def test_without_a_command_the_help_is_shown_and_the_code_is_2(anonloom):
    code, out, _ = anonloom()
    assert (2, "usage: anonloom") == (code, out[:15])


def test_the_version(anonloom):
    assert (0, "anonloom 0.1.0\n", "") == anonloom("--version")


def test_an_unknown_command_gets_a_guess(anonloom):
    expected = "anonloom: there is no command 'chekc'; did you mean 'check'?\n"
    assert (2, "", expected) == anonloom("chekc", "p.yaml")


def test_a_missing_argument_is_a_usage_error(anonloom):
    code, _, err = anonloom("check")
    assert (2, "anonloom check: error: the following arguments are required: FILE") == (
        code,
        err.splitlines()[-1],
    )


def test_a_missing_file_is_a_usage_error(anonloom):
    assert (2, "", "anonloom: no.yaml: there is no such file\n") == anonloom("check", "no.yaml")


def command(monkeypatch, execute):
    """Put a command in the place of `check`."""
    module = type(sys)("fake_command")
    module.configure = lambda parser: parser.add_argument("words", nargs="*")
    module.execute = execute
    monkeypatch.setitem(sys.modules, "fake_command", module)
    monkeypatch.setitem(cli.COMMANDS, "check", ("fake_command", "check"))


def raising(error):
    def execute(arguments):
        raise error

    return execute


def test_an_error_of_ours_gives_its_own_exit_code(anonloom, monkeypatch):
    command(monkeypatch, raising(DataError("no rows", hint="look at the file")))
    assert (4, "", "anonloom: no rows\n    look at the file\n") == anonloom("check")


def test_a_bug_shows_neither_text_nor_traceback(anonloom, monkeypatch):
    command(monkeypatch, raising(KeyError("Alice Smith, 4 Main Street")))
    code, _, err = anonloom("check")
    assert 1 == code
    assert "Alice" not in err
    assert err.startswith("anonloom: this is a bug: KeyError in ")
    assert err.endswith(
        "    run it again with --debug for the details, and look for personal data in them "
        "before you pass them on\n"
    )


@pytest.mark.parametrize("words", [("--debug", "check"), ("check", "--debug")])
def test_debug_shows_the_traceback_of_a_bug(anonloom, monkeypatch, words):
    command(monkeypatch, raising(KeyError("detail")))
    code, _, err = anonloom(*words)
    assert (1, True) == (code, "Traceback" in err and "KeyError: 'detail'" in err)


def test_what_the_machine_does_not_allow_is_no_bug(anonloom, monkeypatch):
    command(monkeypatch, raising(OSError(13, "Permission denied", "out/x")))
    assert (2, "", "anonloom: 'out/x' cannot be used: Permission denied\n") == anonloom("check")
    command(monkeypatch, raising(OSError(28, "No space left on device")))
    expected = "anonloom: a file or the output cannot be used: No space left on device\n"
    assert (2, "", expected) == anonloom("check")


def test_closed_and_narrow_outputs_are_no_bug(tmp_path):
    """Neither a service without outputs nor a terminal without letters stops a command."""
    code = "import sys; from anonloom_cli import main; "
    narrow = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = subprocess.run(
        [sys.executable, "-c", code + "sys.exit(main(['plugins', 'show', 'cs\u00fc']))"],
        env=narrow,
        capture_output=True,
        check=False,
    )
    assert (2, b"anonloom: no method is named 'cs\\xfc'") == (
        shown.returncode,
        shown.stderr.splitlines()[0],
    )
    closed = "sys.stdout = sys.stderr = None; sys.exit(main(['plugins']))"
    assert 0 == subprocess.run([sys.executable, "-c", code + closed], check=False).returncode
    printed = (
        "import types; import anonloom_cli as cli; m = types.ModuleType('fake_command'); "
        "m.configure = lambda parser: None; m.execute = lambda arguments: print('\u00e9') or 0; "
        "sys.modules['fake_command'] = m; cli.COMMANDS['check'] = ('fake_command', 'x'); "
        "sys.exit(main(['check']))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code + printed], env=narrow, capture_output=True, check=False
    )
    assert (0, b"\\xe9\n", b"") == (shown.returncode, shown.stdout, shown.stderr)


def test_an_interruption_ends_with_130(anonloom, monkeypatch):
    command(monkeypatch, raising(KeyboardInterrupt()))
    assert (130, "", "anonloom: interrupted\n") == anonloom("check")


def test_the_code_of_a_command_is_returned(anonloom, monkeypatch):
    command(monkeypatch, lambda arguments: 3)
    assert (3, "", "") == anonloom("check")


@pytest.fixture
def seals_known(registry):
    """Somebody knows which package the commands of seals come with."""

    class Catalogue:
        ANONLOOM_API = 2

        @hookimpl
        def anonloom_register_known_plugins(self):
            commands = [("anonloom_register_commands", name) for name in ("prove", "verify")]
            return [
                KnownPlugin(
                    distribution="anonloom-seals",
                    install="pip install anonloom-seals",
                    methods=commands,
                )
            ]

    assert registry.register(Catalogue(), distribution="catalogue", version="1.0")


@pytest.mark.usefixtures("seals_known")
def test_a_command_of_a_package_that_is_not_installed_is_named_with_its_package(anonloom):
    expected = (
        "anonloom: the command 'verify' is part of anonloom-seals, which is not installed\n"
        "    pip install anonloom-seals\n"
    )
    assert (2, "", expected) == anonloom("verify", "out")
    guess = "anonloom: there is no command 'verfiy'; did you mean 'verify'?\n"
    assert (2, "", guess) == anonloom("verfiy", "out")


@pytest.mark.usefixtures("seals_known")
def test_a_command_of_a_package_that_cannot_be_loaded_says_why(anonloom, registry):
    registry.register(object(), distribution="anonloom-seals", version="0.1.0")
    expected = (
        "anonloom: the command 'prove' is missing: anonloom-seals 0.1.0 (its hook module does not "
        "say ANONLOOM_API = 2) could not be loaded\n"
    )
    assert (2, "", expected) == anonloom("prove", "out")


@pytest.mark.usefixtures("seals_known")
def test_a_plugin_cannot_become_a_command_of_another_package(anonloom, registry):
    class Acme:
        ANONLOOM_API = 2

        @hookimpl
        def anonloom_register_commands(self):
            return [Command(name="verify", target="acme_verify", summary="Believes.")]

    registry.register(Acme(), distribution="acme", version="2.0")
    code, out, err = anonloom("verify", "out")
    assert (2, "", "anonloom: the command 'verify' is part of anonloom-seals") == (
        code,
        out,
        err.partition(",")[0],
    )


def test_a_plugin_can_add_a_command_and_cannot_replace_one_of_core(anonloom, registry, monkeypatch):
    class Acme:
        ANONLOOM_API = 2

        @hookimpl
        def anonloom_register_commands(self):
            return [
                Command(name="serve", target="acme_serve", summary="Serves."),
                Command(name="plugins", target="acme_serve", summary="Steals."),
            ]

    module = type(sys)("acme_serve")
    module.configure = lambda parser: parser.add_argument("--port", type=int)
    module.execute = lambda arguments: print(arguments.port) or 0
    monkeypatch.setitem(sys.modules, "acme_serve", module)
    registry.register(Acme(), distribution="acme", version="2.0")
    assert (0, "80\n", "") == anonloom("serve", "--port", "80")
    assert anonloom("plugins")[1].startswith("sources\n")
