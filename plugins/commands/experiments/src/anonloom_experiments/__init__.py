"""Experiments: all runs that `vary` asks for, as one tidy table; and two runs side by side."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom_experiments.grid import Recipe as Recipe
    from anonloom_experiments.grid import folder_name as folder_name
    from anonloom_experiments.grid import run_grid as run_grid
    from anonloom_experiments.grid import tidy_table as tidy_table

__all__ = ["Recipe", "folder_name", "run_grid", "tidy_table"]


def __getattr__(name: str) -> object:
    # Looked up when first used: the hook module beside this one is read by every command.
    if name not in __all__:
        raise AttributeError(f"module 'anonloom_experiments' has no attribute {name!r}")
    from anonloom_experiments import grid

    return getattr(grid, name)


def __dir__() -> list[str]:
    return sorted(__all__)
