"""Whatever changed bytes reach a decoder, it refuses them with its declared errors."""

import fuzz_decoders
import pytest

TARGETS = fuzz_decoders.targets()
MUTATIONS = 1000


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_changed_bytes_raise_declared_errors_or_none(name):
    report = fuzz_decoders.fuzz(name, TARGETS[name](), MUTATIONS)
    assert (MUTATIONS, {}) == (report.mutations, dict(report.findings))


def test_a_decoder_that_gives_way_is_found():
    def decode(data):
        {65: 1}[data[0]]

    target = fuzz_decoders.decoding(decode, b"A", allowed=(KeyError,))
    report = fuzz_decoders.fuzz("toy", target, 200)
    assert report.refused > 0
    assert {"IndexError"} == {what.split()[0] for what in report.findings}
    assert not report.held


def test_every_package_that_reads_what_others_wrote_is_tried():
    assert {
        "rounds",
        "direct",
        "dpf",
        "mixnet",
        "anonify",
        "proofs",
        "sentinels-twins",
    } == {name.split(":")[0] for name in TARGETS}
