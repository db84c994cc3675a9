"""`anonloom run` of an experiment and `anonloom compare`, as a user meets them."""

from anonloom_cli import main


def test_an_experiment_prints_its_table_and_progress(shop, capsys):
    shop.file.write_text(shop.file.read_text() + "vary: {privacy.size.k: [2, 13]}\n")
    assert 0 == main(["run", "pipeline.yaml"])

    printed = capsys.readouterr()
    assert (
        "1 of 2 runs published\ntable: out/public/grid.csv\nreport: out/public/grid.csv\n"
        == printed.out
    )
    assert (
        "[2/2] privacy.size.k=13: refused: the whole table does not satisfy size: it has 12 usable "
        "rows, and k: 12 would pass\n" in printed.err
    )


def test_an_experiment_without_any_release_exits_with_3(shop, capsys):
    shop.file.write_text(shop.file.read_text() + "vary: {privacy.size.k: [13, 14]}\n")

    assert 3 == main(["run", "pipeline.yaml", "--quiet"])
    assert (
        "anonloom: no run of the experiment could be published; the first: the whole table does "
        "not satisfy size: it has 12 usable rows, and k: 12 would pass\n" == capsys.readouterr().err
    )


def test_the_dry_run_of_an_experiment_runs_nothing(shop, capsys):
    shop.file.write_text(shop.file.read_text() + "vary: {privacy.size.k: [2, 3]}\n")

    assert 0 == main(["run", "pipeline.yaml", "--dry-run"])
    assert "2 runs are well formed; nothing was run\n" == capsys.readouterr().out


def test_compare_shows_both_runs_and_the_difference(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet", "--to", "one"])
    main(["run", "pipeline.yaml", "--quiet", "--to", "two", "--set", "stages.partitioner.length=6"])
    capsys.readouterr()
    assert 0 == main(["compare", "one", "two"])

    lines = capsys.readouterr().out.splitlines()
    assert ["one", "two", "difference"] == lines[0].split()
    runs = next(line for line in lines if line.startswith("partitioner.runs"))
    assert ["partitioner.runs", "3", "2", "-1", "(-33.3%)"] == runs.split()


def test_compare_wants_folders_of_runs(shop, capsys):
    assert 2 == main(["compare", ".", "."])
    assert (
        "anonloom: '.' holds no report.json; it must be the folder of a run\n"
        == capsys.readouterr().err
    )
