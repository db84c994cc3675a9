"""Traps find dropped packets about as often as promised, and leave the list again."""

import random

import pytest

from anonloom_mixnet.cascade import sealed_list
from anonloom_mixnet.traps import commitment, fingerprint, lay, struck, unseen


@pytest.mark.parametrize(("traps", "dropped"), [(5, 1), (10, 3), (20, 10)])
def test_dropping_goes_unseen_as_often_as_the_formula_says(cascade, traps, dropped):
    """Over 4000 blind droppers, within three standard errors."""
    servers_of_round = cascade("x25519", 1, 4)
    laid = lay(servers_of_round.route, traps, servers_of_round.entropy)
    cores = [packet.core for packet in laid.packets]
    cores += [bytes([n]) for n in range(100 - traps)]
    blind = random.Random(7)
    trials = 4000
    missed = sum(
        not laid.missing(set(cores) - set(blind.sample(cores, dropped))) for _ in range(trials)
    )
    chance = unseen(100, traps, dropped)

    assert abs(missed / trials - chance) < 3 * (chance * (1 - chance) / trials) ** 0.5
    assert pytest.approx((1 - traps / 100) ** dropped, abs=0.02) == chance


def test_nothing_goes_unseen_when_more_is_dropped_than_senders_sent():
    assert 0 == unseen(10, 4, 7)
    assert 1 == unseen(10, 0, 7)


def test_a_trap_looks_like_a_packet_and_arrives_like_one(cascade):
    servers_of_round = cascade("mlkem768-x25519", 2, 4)
    laid = lay(servers_of_round.route, 2, servers_of_round.entropy)
    sent = servers_of_round.pack([b"mine"])
    packets = [packet.sealed for packet in (*laid.packets, *sent)]
    cores = sealed_list(servers_of_round.mixed(packets)[-1].outputs)

    assert 1 == len({len(packet) for packet in packets})
    assert () == laid.missing(cores)
    assert (0,) == laid.missing([core for core in cores if core != laid.packets[0].core])
    kept = struck(cores, laid.commitment, laid.salt, laid.fingerprints)
    assert (sent[0].core,) == kept


def test_a_server_strikes_only_what_it_committed_to(cascade):
    servers_of_round = cascade("x25519", 2, 4)
    laid = lay(servers_of_round.route, 1, servers_of_round.entropy)
    victim = servers_of_round.pack([b"mine"])[0].core
    cores = [laid.packets[0].core, victim]

    assert struck(cores, laid.commitment, laid.salt, [fingerprint(victim)]) is None
    assert struck(cores, laid.commitment, b"", laid.fingerprints) is None
    assert struck(cores, laid.commitment, laid.salt, [b"short"]) is None
    assert laid.commitment != commitment(bytes(32), laid.fingerprints)
