"""Filled positions are counted before anything is opened: once, alike on all servers, and no more."""

import attrs
import pytest
from rounds_plain import Plain, PlainServer, deposit_round, message, refusal, secrets, uploaded

from anonloom_testing.transport import adversaries
from anonloom_transport.driver import Driver

GROUPS = [[0, 3], [1], [], [2]]
SUMS = (1, 1, 0, 1)


@attrs.define(eq=False)
class CountingServer(PlainServer):
    """Every server sees which positions are filled, as in transport direct."""

    def tally(self, groups):
        filled = {
            int.from_bytes(self.state.content(item)[:4], "big") for item in self.state.admitted
        }
        return [len(filled.intersection(group)) for group in groups]


@attrs.frozen(kw_only=True)
class Counts(Plain):
    counts = True

    def make_server(self, state):
        return CountingServer(state)


def settled(servers=2, senders=3, **more):
    """Return a driver in which positions 0, 1, .. are filled and everything is settled."""
    described = {"servers": servers, "counted": True, "capacity": 6, **more.pop("round", {})}
    net = uploaded(deposit_round(**described), senders, transport=Counts(), **more)
    net.decoy(2)
    net.close()
    net.settle()
    return net


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_filled_positions_are_counted_and_decoys_nowhere(servers):
    net = settled(servers)
    assert [None] * servers == [server.counts for server in net.servers]
    assert SUMS == net.count(GROUPS)
    assert SUMS == net.count([[3, 0], [1], [], [2]])
    net.erase([1])
    net.open()
    assert (message(0), None, message(2), None) == net.result()


def test_no_groups_have_no_counts():
    assert () == settled().count([])


def test_there_may_be_more_groups_than_positions():
    assert (1, *[0] * 20) == settled().count([[0], *[[]] * 20])


def test_erased_positions_count_like_others():
    net = settled()
    net.erase([1])
    assert SUMS == net.count(GROUPS)


def test_the_sums_are_forgotten_with_the_round():
    net = settled()
    net.count(GROUPS)
    net.open()
    assert [None, None] == [server.counts for server in net.servers]
    assert [{}, {}] == [server.state.remembered for server in net.servers]
    net.restart(0)
    assert net.servers[0].counts is None


def test_what_cannot_be_counted():
    net = settled()
    assert "the round has the positions 0 to 3. Got 4 instead." == refusal(lambda: net.count([[4]]))
    twice = "position 1 is in the groups more than once"
    assert twice == refusal(lambda: net.count([[0, 1], [1]]))
    assert twice == refusal(lambda: net.count([[1, 1]]))
    net.count(GROUPS)
    other = "other groups were counted before: a round is counted once"
    assert other == refusal(lambda: net.count([[0, 1, 2, 3]]))
    assert SUMS == net.count(GROUPS)
    net.open()
    late = "the round is open: nothing can be counted any more"
    assert late == refusal(lambda: net.count(GROUPS))


def test_it_is_counted_when_everything_is_settled():
    net = uploaded(deposit_round(counted=True), 3, transport=Counts())
    assert "not everything is settled yet" == refusal(lambda: net.count(GROUPS))


def test_a_round_that_does_not_say_so_is_not_counted():
    net = settled(round={"counted": False})
    text = "this round is not counted: its description does not say so"
    assert text == refusal(lambda: net.count(GROUPS))


def test_a_transport_that_cannot_count_says_so():
    text = (
        "transport 'plain' cannot count filled positions before they are opened: "
        "the round must not be counted"
    )
    assert text == Plain().problem(deposit_round(counted=True))
    assert None is Counts().problem(deposit_round(counted=True))
    assert None is Plain().problem(deposit_round())
    assert text == refusal(lambda: uploaded(deposit_round(counted=True)))


def test_servers_that_count_other_groups_stop():
    net = settled()
    net.network.send(net.round.everyone[0], net.servers[0].count(GROUPS))
    net.network.send(net.round.everyone[1], net.servers[1].count([[0], [1, 2]]))
    net.deliver()
    text = "the servers do not agree on what is counted: server 1 says something else than server 0"
    assert text == net.servers[0].stop_reason
    assert None is net.servers[0].counts
    assert {"groups"} == {step for step, _, _ in net.servers[0].channel.messages.entries()} & {
        "groups",
        "counted commit",
        "counted",
    }


def test_nothing_is_opened_while_the_count_goes_on():
    net = settled()
    net.network.send(net.round.everyone[0], net.servers[0].count(GROUPS))
    net.deliver()
    assert None is net.servers[0].counts
    assert "the servers have not counted yet" == refusal(net.open)
    assert SUMS == net.count(GROUPS)


@pytest.mark.parametrize("step", ["groups", "counted commit", "counted"])
def test_a_server_that_lies_stops_the_round(step):
    net = settled(corrupted={1: adversaries.substitutes(step, adversaries.flip)})
    assert "the round has stopped: " == refusal(lambda: net.count(GROUPS))[:23]
    assert net.servers[0].counts is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda said: said[:-1] + b"\0",
            "the servers do not count the same: one of them deviates",
        ),
        (lambda said: said[8:], "server 1 does not count as many groups as were asked for"),
    ],
)
def test_a_wrong_part_that_was_committed_to_stops_the_round(change, said):
    net = settled(corrupted={1: adversaries.miscomputes("counted", change)})
    refusal(lambda: net.count(GROUPS))
    assert said == net.servers[0].stop_reason


def test_parts_that_are_no_count_stop_the_round(monkeypatch):
    monkeypatch.setattr(CountingServer, "tally", lambda self, groups: [3] * len(groups))
    net = settled()
    refusal(lambda: net.count(GROUPS))
    assert (
        "the parts of the servers are no count: one of them deviates" in net.servers[0].stop_reason
    )


@attrs.define(eq=False)
class Restarting(Driver):
    """Starts every server again before and after everything that it gets."""

    def deliver(self):
        for index in range(self.round.servers):
            self.restart(index)
        super().deliver()

    def deliver_one(self):
        receiver = self.network.next_delivery.envelope.receiver
        super().deliver_one()
        if receiver.role == "server":
            self.restart(receiver.index)


def test_servers_that_start_again_count_the_same():
    net = settled(cls=Restarting)
    assert SUMS == net.count(GROUPS)
    net.restart(1)
    assert SUMS == net.servers[1].counts
    net.open()
    assert (message(0), message(1), message(2), None) == net.result()


def test_saved_groups_are_sealed():
    net = settled()
    net.count(GROUPS)
    groups = net.servers[0].state.remembered["groups"]
    assert groups
    assert groups not in net.servers[0].save()
    assert all(secret.alpha not in net.servers[0].save() for secret in secrets())
