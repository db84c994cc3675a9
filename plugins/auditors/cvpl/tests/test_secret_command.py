"""`anonloom audit-secret`, as it is typed."""

import re
import stat

from anonloom_cli import main


def test_the_command_writes_a_secret_that_only_its_owner_reads_and_prints_a_commitment(
    tmp_path, capsys
):
    file = tmp_path / "secret.txt"

    assert 0 == main(["audit-secret", str(file)])

    assert re.fullmatch(r"[0-9a-f]{64}\s*", file.read_text())
    assert 0 == stat.S_IMODE(file.stat().st_mode) & 0o077
    printed = capsys.readouterr().out
    assert re.search(r"\b[0-9a-f]{64}\b", printed)
    assert file.read_text().strip() not in printed
