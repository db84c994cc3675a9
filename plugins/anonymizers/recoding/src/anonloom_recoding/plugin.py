"""What this distribution offers: generalizers, outlier handlers, rounding, dropping of columns."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_mechanisms() -> list[Method]:
    """Name the mechanisms."""
    return [
        Method(
            name="drop-columns",
            target="anonloom_recoding.drop_columns:DropColumns",
            summary="Takes columns out of the table before anything else happens.",
            # Every column passes through it, so that the table that follows is complete.
            reads=frozenset(ROLES),
        ),
        Method(
            name="round",
            target="anonloom_recoding.rounding:Round",
            summary="Rounds dates, times and numbers to units of the calendar and to bins.",
            paper="V. Khvatov, A. Neyman: CVPL: A Geometric Framework for Post-Hoc Linkage Risk "
            "Assessment in Protected Tabular Data, section 7.4, family A",
            reads=frozenset(ROLES),
        ),
    ]


@hookimpl
def anonloom_register_outlier_handlers() -> list[Method]:
    """Name the outlier handlers."""
    return [
        Method(
            name="none",
            target="anonloom_recoding.outliers:LeaveAll",
            summary="Leaves every row where it is.",
        ),
        Method(
            name="suppress",
            target="anonloom_recoding.outliers:Suppress",
            summary="Suppresses rows that cost the rest of their class more than themselves.",
        ),
    ]


@hookimpl
def anonloom_register_generalizers() -> list[Method]:
    """Name the generalizers."""
    return [
        Method(
            name="hierarchy",
            target="anonloom_recoding.hierarchy:ByHierarchy",
            summary="Publishes every column in its declared form: interval, node or set.",
        ),
        Method(
            name="sets",
            target="anonloom_recoding.sets:Sets",
            summary="Publishes every quasi-identifier as the set of the values in the class.",
        ),
        Method(
            name="centroid",
            target="anonloom_recoding.centroid:Centroid",
            summary="Publishes one typical value per class and column; cells are not truthful.",
            paper="J. Domingo-Ferrer, J. M. Mateo-Sanz: Practical Data-Oriented Microaggregation "
            "for Statistical Disclosure Control. IEEE TKDE 14(1), 2002",
        ),
    ]
