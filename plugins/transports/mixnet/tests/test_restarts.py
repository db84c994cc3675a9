"""Servers that start again from what they saved end with the same result."""

from collections import Counter

import pytest

from anonloom_testing.transport import RestartingDriver
from anonloom_transport import Driver

pytestmark = pytest.mark.long

both = pytest.mark.parametrize("suite", ["x25519", "mlkem768-x25519"])
some = pytest.mark.parametrize("servers", [2, 3])


def play(begin, operation, servers, suite, driver):
    round = begin(operation, 5, servers=servers, suite=suite, driver=driver, traps=1)
    sent = round.texts(4)
    if operation == "post":
        round.driver.post(sent)
    else:
        round.deposit(dict(enumerate(sent)))
    round.driver.close()
    round.driver.settle()
    if operation == "deposit":
        round.driver.erase([2])
    round.driver.open()
    expected = sorted(sent) if operation == "post" else [*sent[:2], None, sent[3], None]
    return round, expected


@both
@some
@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_servers_that_start_again_after_every_envelope_end_alike(begin, operation, servers, suite):
    round, expected = play(begin, operation, servers, suite, RestartingDriver)
    assert expected == list(round.driver.result())
    assert Counter() == round.driver.count_refusals()


@both
@pytest.mark.parametrize("operation", ["post", "deposit"])
@pytest.mark.parametrize("index", [0, 1])
def test_one_server_may_start_again_at_any_moment(begin, operation, index, suite):
    class Once(Driver):
        left = -1

        def deliver_one(self):
            Driver.deliver_one(self)
            Once.left -= 1
            if Once.left == 0:
                self.restart(index)

    play(begin, operation, 2, suite, Once)
    for moment in range(1, -Once.left):
        Once.left = moment
        round, expected = play(begin, operation, 2, suite, Once)
        assert expected == list(round.driver.result())


@both
def test_traps_are_the_same_after_a_restart(begin, suite):
    round = begin("post", 3, suite=suite)
    round.driver.post(round.texts(3))
    round.driver.close()
    round.driver.settle()
    before = round.driver.servers[1].strategy.mix.own_traps
    round.driver.restart(1)
    after = round.driver.servers[1].strategy.mix.own_traps
    assert (before.commitment, before.salt) == (after.commitment, after.salt)
