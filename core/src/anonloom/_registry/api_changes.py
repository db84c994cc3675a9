"""What changed for plugins between versions of the contract, in words for their authors."""

#: The version that a plugin speaks -> what its author has to change.
CHANGES: dict[int, str] = {
    1: "if it is yours, import what methods need from the package itself: 'from anonloom import "
    "Partitioner, Classes, Guard, Table, StageContext, param' instead of "
    "'anonloom.kinds.partitioner', 'anonloom.data.classes' and the like; 'Run' is now "
    "'StageContext', 'Case' is 'AuditInput'; checks of parameters stay in 'anonloom.params', "
    "everything else public is listed in docs/stability.md; then say ANONLOOM_API = 2",
}

# Modules of version 1 that were public by use -> the line that replaces them; the first that fits.
_MOVED = {
    "anonloom.data.loss": "from anonloom_loss import gcp, class_losses, ...; pip install "
    "anonloom-loss",
    "anonloom.data.line": "from anonloom_columns import OrderedColumn; pip install "
    "anonloom-columns",
    "anonloom.data.points": "from anonloom_columns import collapse, combined_key; pip install "
    "anonloom-columns",
    "anonloom.data.visible": "from anonloom_columns import Visible, place_texts; pip install "
    "anonloom-columns",
    "anonloom.sources": "from anonloom_tables import Csv, Parquet, ...; pip install "
    "anonloom-tables; Frame is in anonloom.sources",
    "anonloom.kinds": "from anonloom import Partitioner, Guard, StageContext, ...; the rest is in "
    "anonloom.kinds",
    "anonloom.data": "from anonloom import Table, Schema, Column, Classes, Release, AuditInput; "
    "the rest is in anonloom.data",
    "anonloom.run": "anonloom_runner has what a run is made of; merge_until_admitted is in "
    "anonloom_loss",
    "anonloom.cli": "anonloom_cli has what commands are made of",
    "anonloom.registry": "from anonloom import Registry; the rest is in anonloom.registry",
    "anonloom.spec": "from anonloom import Pipeline; the rest is in anonloom.spec",
    "anonloom.testing": "from anonloom_testing import PartitionerConformance, ...; pip install "
    "anonloom-testing",
}


def moved_to(module: str | None) -> str:
    """Return what replaces a module of core that a plugin of an old version imports, or ''."""
    for old, new in _MOVED.items():
        if module and (module == old or module.startswith(f"{old}.")):
            return new
    return ""
