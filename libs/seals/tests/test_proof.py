"""A proof is one text, in one spelling; whatever is damaged or put together wrongly is refused."""

import hashlib
import json

import attrs
import pytest
from proofs_toys import Flat, bound

from anonloom.errors import IntegrityError
from anonloom_seals.proof import Growth, Proof
from anonloom_seals.signed_text import SignedText

ROWS = bound({"age": ("number", ["1", "2"])}, ("age",), Flat)
# Not looked at here: short, because every bit is flipped.
HEAD = SignedText(b'{\n  "head": "\xc3\xb8"\n}\n', b"00\n", b"key\n")
PART = ROWS.show((None, "low"), [1])
GROWTH = Growth(size=1, root="0" * 64, path=b"path")


PROOFS = [
    Proof(head=HEAD, rows=(2,), parts=(PART,)),
    Proof(head=HEAD, where="age = 'ø'", parts=(ROWS.show(("age", "low"), [0, 1]),)),
    Proof(head=HEAD, since=GROWTH),
]


@pytest.mark.parametrize("proof", PROOFS)
def test_a_proof_comes_back(proof):
    assert proof == Proof.read(proof.write())


def refusal(data):
    with pytest.raises(IntegrityError) as caught:
        Proof.read(data)
    return str(caught.value).removeprefix("'the proof' is malformed: ")


@pytest.mark.parametrize("proof", PROOFS)
def test_every_flipped_bit_and_every_cut_is_noticed(proof):
    data = proof.write()
    for index in range(len(data)):
        for bit in range(8):
            refusal(data[:index] + bytes([data[index] ^ 1 << bit]) + data[index + 1 :])
        refusal(data[:index])


def spelled(content):
    """Write a proof with a sum that fits, as a forger would."""
    proof = json.dumps(content, ensure_ascii=False)
    return (
        f'{{"proof": {proof},\n"sum": "{hashlib.sha256(proof.encode()).hexdigest()}"}}\n'.encode()
    )


def content(proof):
    return json.loads(proof.write())["proof"]


SUM = "its sum differs, or it is not spelled as a proof is"
ONE = "it does not answer exactly one question"
ROW = "the number of one of its rows makes no sense"
SINCE = "what it says of an earlier version makes no sense"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"more": 1}, "it does not have exactly the fields of a proof"),
        ({"context": "anonloom head of a release"}, "it is no proof of rows"),
        ({"format": 2}, "it has a format that this version does not know, which is 1"),
        ({"format": True}, "it has a format that this version does not know, which is 1"),
        ({"head": None}, "one of its texts is none"),
        ({"signature": 1}, "one of its texts is none"),
        ({"key": []}, "one of its texts is none"),
        ({"where": None}, "one of its texts is none"),
        ({"rows": 2}, "its rows or parts are no list"),
        ({"parts": {}}, "its rows or parts are no list"),
        ({"rows": [0]}, ROW),
        ({"rows": [True]}, ROW),
        ({"rows": [2**63]}, ROW),
        ({"rows": ["2"]}, ROW),
        ({"rows": []}, ONE),
        ({"where": "age = 1"}, ONE),
        ({"since": GROWTH.plain_values()}, ONE),
        ({"since": {}, "rows": []}, SINCE),
        ({"since": GROWTH.plain_values() | {"size": -1}, "rows": []}, SINCE),
        ({"since": GROWTH.plain_values() | {"size": True}, "rows": []}, SINCE),
        ({"since": GROWTH.plain_values() | {"root": "0"}, "rows": []}, SINCE),
        (
            {"since": GROWTH.plain_values() | {"path": "?"}, "rows": []},
            "what should be base64 is none",
        ),
        ({"parts": [{}]}, "one of its parts does not have exactly the fields of a part"),
        ({"parts": [PART.plain_values() | {"path": "YQ=="}]}, None),
        ({"parts": [PART.plain_values() | {"path": "YR=="}]}, SUM),
        ({"parts": [PART.plain_values() | {"salts": ["AB" * 16]}]}, SUM),
        ({"head": "\ud800"}, "it is not JSON"),
    ],
)
def test_malformed_proofs(changes, message):
    made = content(Proof(head=HEAD, rows=(2,), parts=(PART,))) | changes
    if message is None:
        Proof.read(spelled(made))
        return
    if changes == {"head": "\ud800"}:
        data = json.dumps({"proof": made, "sum": ""}).encode()
    else:
        data = spelled(made)
    assert message == refusal(data)


def test_what_is_no_proof():
    assert "it is no proof of rows" == refusal(b"[]")
    assert "it is no proof of rows" == refusal(b'{"proof": {}}')
    assert "it does not have exactly the fields of a proof" == refusal(b'{"proof": 1, "sum": ""}')
    for data in (b"", b"proof", b"\xff\xfe", b"[" * 100_000, b'{"proof": ' * 100_000):
        assert "it is not JSON" == refusal(data)
    assert "a name stands twice" == refusal(b'{"proof": 1, "proof": 1}')
    assert "a number has too many digits" == refusal(b'{"proof": ' + b"1" * 10_000 + b"}")


def test_the_sum_belongs_to_the_proof():
    proof = Proof(head=HEAD, rows=(2,), parts=(PART,))
    other = attrs.evolve(proof, rows=(1,))
    data = proof.write()
    assert SUM == refusal(data.replace(b'"rows": [2]', b'"rows": [1]'))
    assert data.replace(b'"rows": [2]', b'"rows": [1]')[:-70] == other.write()[:-70]
    assert SUM == refusal(json.dumps(json.loads(data)).encode())
    assert SUM == refusal(data + b"\n")
