"""Information loss of classes and of releases, and merging classes at the least loss."""

from anonloom_loss.losses import (
    changed_columns,
    class_losses,
    column_losses,
    distinct_members,
    gcp,
    mean_of_columns,
    release_gcp,
    release_losses,
)
from anonloom_loss.merge import hull, merge_until_admitted
from anonloom_loss.nearest import nearest_classes, nearest_to_rows

__all__ = [
    "changed_columns",
    "class_losses",
    "column_losses",
    "distinct_members",
    "gcp",
    "hull",
    "mean_of_columns",
    "merge_until_admitted",
    "nearest_classes",
    "nearest_to_rows",
    "release_gcp",
    "release_losses",
]
