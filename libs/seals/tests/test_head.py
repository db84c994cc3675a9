"""A head is one text: it holds all that is vouched for, and any other spelling is refused."""

import hashlib
import json

import attrs
import pytest
from proofs_toys import DATASET, bound, head_of

from anonloom.errors import IntegrityError
from anonloom_seals.head import Head
from anonloom_seals.listing import Entry


@pytest.fixture
def head():
    rows = bound({"age": ("number", ["[1, 2]", "3"]), "city": ("category", ["Ås", None])}, ("age",))
    return head_of(rows)


def test_a_head_holds_all_that_is_vouched_for(head):
    roots = [order.root for order in head.orders]
    by_age = {
        "attribute": "age",
        "direction": "ascending",
        "collation": "numeric",
        "nulls": "last",
    }
    assert {
        "context": "anonloom head of a release",
        "format": 1,
        "hash": "sha256",
        "encoding": "anonloom rows 1",
        "scheme": "flat",
        "dataset": DATASET,
        "version": 1,
        "previous": None,
        "created": "2026-01-31T10:00:00Z",
        "key": "f" * 64,
        "table": "release.csv",
        "size": 2,
        "columns": [["age", "number"], ["city", "category"]],
        "schema": head.layout.digest,
        "orders": [
            {"attribute": None, "root": roots[0]},
            {**by_age, "end": "low", "root": roots[1]},
            {**by_age, "end": "high", "root": roots[2]},
        ],
        "files": {"release.csv": {"sha256": "0" * 64, "size": 10}},
    } == json.loads(head.write())
    assert hashlib.sha256(head.write()).hexdigest() == head.digest


def test_a_head_comes_back(head):
    assert head == Head.read(head.write(), "flat.json")
    later = attrs.evolve(head, version=2, previous=head.digest)
    assert later == Head.read(later.write(), "flat.json")


def test_orders_are_found_by_name_and_end(head):
    assert list(head.orders) == [
        head.order(None),
        head.order("age", "low"),
        head.order("age", "high"),
    ]
    assert None is head.order("city")
    assert None is head.order(None, "high")


def test_no_bit_of_a_head_can_be_flipped_for_another_of_the_same_meaning(head):
    """A flipped bit either breaks the head or makes another one, which then is not signed."""
    data = head.write()
    for index in range(len(data)):
        for bit in range(8):
            changed = data[:index] + bytes([data[index] ^ 1 << bit]) + data[index + 1 :]
            try:
                result = Head.read(changed, "flat.json")
            except IntegrityError:
                continue
            assert head != result
            assert head.digest != result.digest


def refusal(data):
    with pytest.raises(IntegrityError) as caught:
        Head.read(data, "flat.json")
    return str(caught.value).removeprefix("'flat.json' is malformed: ")


def spelled(content):
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


OTHER_SPELLING = "it is not spelled as a head is"
NO_SENSE = "its field '{}' is missing or makes no sense"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"context": "anonloom digest of a release"}, "it is no head of a release"),
        ({"format": 2}, "it has a format that this version does not know, which is 1"),
        ({"format": True}, "it has a format that this version does not know, which is 1"),
        ({"hash": "md5"}, "it names a hash or an encoding that this version does not know"),
        ({"encoding": "rows"}, "it names a hash or an encoding that this version does not know"),
        ({"scheme": ""}, NO_SENSE.format("scheme")),
        ({"scheme": None}, NO_SENSE.format("scheme")),
        ({"dataset": "mine"}, NO_SENSE.format("dataset")),
        ({"dataset": DATASET + "\n  covers: all"}, NO_SENSE.format("dataset")),
        ({"version": 0}, NO_SENSE.format("version")),
        ({"version": True}, NO_SENSE.format("version")),
        ({"version": 1.0}, NO_SENSE.format("version")),
        ({"version": 2**63}, NO_SENSE.format("version")),
        ({"previous": "0"}, NO_SENSE.format("previous")),
        ({"previous": "0" * 64}, "only the first version has none before it"),
        ({"version": 2}, "only the first version has none before it"),
        ({"created": "yesterday"}, NO_SENSE.format("created")),
        ({"created": "٢٠٢٦-01-31T10:00:00Z"}, NO_SENSE.format("created")),
        ({"key": "F" * 64}, NO_SENSE.format("key")),
        ({"table": "other.csv"}, NO_SENSE.format("table")),
        ({"table": "release.csv' is this\n  covers: all"}, NO_SENSE.format("table")),
        ({"table": ["release.csv"]}, NO_SENSE.format("table")),
        ({"size": -1}, NO_SENSE.format("size")),
        ({"size": "2"}, NO_SENSE.format("size")),
        ({"schema": None}, NO_SENSE.format("schema")),
        ({"schema": "0" * 64}, OTHER_SPELLING),
        ({"orders": {}}, NO_SENSE.format("orders")),
        ({"orders": []}, "the first of its orders, and no other, must be that of the file"),
        ({"orders": [1]}, "one of its orders has no root"),
        ({"orders": [{"attribute": None}]}, "one of its orders has no root"),
        (
            {"orders": [{"attribute": "weight", "end": "low", "root": "0" * 64}]},
            "one of its orders makes no sense",
        ),
        (
            {"orders": [{"attribute": "age", "end": "middle", "root": "0" * 64}]},
            "one of its orders makes no sense",
        ),
        (
            {"orders": [{"attribute": ["age"], "end": "low", "root": "0" * 64}]},
            "one of its orders makes no sense",
        ),
        (
            {"orders": [{"attribute": "age", "end": "low", "root": "0" * 64}]},
            "the first of its orders, and no other, must be that of the file",
        ),
        (
            {"orders": [{"attribute": None, "root": "0" * 64}] * 2},
            "the first of its orders, and no other, must be that of the file",
        ),
        ({"orders": [{"attribute": None, "end": "high", "root": "0" * 64}]}, OTHER_SPELLING),
        ({"columns": []}, "there are no columns"),
        ({"columns": [["age", "number"]] * 2}, "more than one column is named 'age'"),
        ({"columns": [["age", "word"]]}, "the columns do not have one known type each"),
        ({"columns": {}}, "its columns are no list of names and types"),
        ({"columns": [["e\u0301", "number"]]}, "the name of a column is not in normal form C"),
        ({"files": []}, "its files are no mapping"),
        ({"files": {"../x": {}}}, "the file name '../x' leads out of the folder"),
        ({"more": 1}, OTHER_SPELLING),
    ],
)
def test_malformed_heads(head, changes, message):
    assert message == refusal(spelled(json.loads(head.write()) | changes))


def test_every_field_is_needed(head):
    content = json.loads(head.write())
    for field in content:
        left = {name: value for name, value in content.items() if name != field}
        what = {
            "context": "it is no head of a release",
            "format": "it has a format that this version does not know, which is 1",
            "hash": "it names a hash or an encoding that this version does not know",
            "encoding": "it names a hash or an encoding that this version does not know",
        }
        assert what.get(field, NO_SENSE.format(field)) == refusal(spelled(left))


def test_what_is_not_even_json(head):
    data = head.write()
    for changed in (b"", b"\xff", b"[" * 100_000, data[:-10], data + data):
        assert "it is not JSON" == refusal(changed)
    assert "it is no head of a release" == refusal(b"[]")
    assert "a name stands twice" == refusal(b'{"version": 1, "version": 2}')
    assert "a number has too many digits" == refusal(b'{"version": ' + b"9" * 5000 + b"}")


def test_a_head_has_one_spelling(head):
    data = head.write()
    content = json.loads(data)
    assert OTHER_SPELLING == refusal(json.dumps(content).encode())
    assert OTHER_SPELLING == refusal(data + b"\n")
    back = dict(reversed(content.items()))
    assert OTHER_SPELLING == refusal(spelled(back))
    two = attrs.evolve(head, files={"b": Entry("0" * 64, 1), "a": Entry("0" * 64, 1)})
    swapped = json.loads(two.write())
    swapped["files"] = dict(reversed(swapped["files"].items()))
    assert OTHER_SPELLING == refusal(spelled(swapped))
