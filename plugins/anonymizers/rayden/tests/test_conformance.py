"""Every variant of both methods keeps the promises of its kind, or says that it does not."""

from anonloom_rayden.cof import Cof
from anonloom_rayden.vptree import VpTree
from anonloom_testing.outliers import OutlierHandlerConformance
from anonloom_testing.partitioner import PartitionerConformance


class TestVpTree(PartitionerConformance):
    method = VpTree


class TestVpTreeAtHalf(PartitionerConformance):
    method = VpTree
    params = {"cut": "half", "vantage": "farthest", "categories": "hierarchy"}


class TestVpTreeAsWritten(PartitionerConformance):
    method = VpTree
    params = {"cut": "paper", "vantage": "random"}


class TestCanon(PartitionerConformance):
    method = VpTree
    params = {"distance": "euclidean", "categories": "codes", "vantage": "random"}


class TestCanonOnNumbers(PartitionerConformance):
    """Of the kit's tables it takes those without categories, and says so of the others."""

    method = VpTree
    params = {"distance": "euclidean"}


class TestCof(OutlierHandlerConformance):
    method = Cof


class TestCofThatTakesMuch(OutlierHandlerConformance):
    """A low threshold makes many outliers, of which most classes cannot spare all."""

    method = Cof
    params = {
        "alpha": 0.3,
        "neighbourhood": "k",
        "chain": "sbn",
        "categories": "hierarchy",
        "unrecovered": "suppress",
        "recovery": VpTree(cut="half"),
    }


class TestCofThatReturnsMuch(OutlierHandlerConformance):
    method = Cof
    params = {"alpha": 0.0, "neighbourhood": 3, "recovery": VpTree(cut="paper")}


class TestCofAsWritten(OutlierHandlerConformance):
    method = Cof
    params = {
        "alpha": 0.5,
        "removal": "paper",
        "unrecovered": "suppress",
        "recovery": VpTree(cut="paper", vantage="random"),
    }
