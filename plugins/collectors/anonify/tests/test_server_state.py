"""A server goes on from what it saved, and from nothing that somebody else wrote."""

import attrs
import pytest
from anonify_play import played, refusal

from anonloom_anonify.aggregator import Aggregator
from anonloom_anonify.study_servers import StudyServers
from anonloom_transport import unpack, write_signed

UNREADABLE = "what was saved cannot be read"


def restarting(**more):
    """Return a campaign whose servers all start again after each step between the rounds."""
    seen = set()

    def again(running, step):
        if step not in seen:
            seen.add(step)
            for index in range(len(running.servers)):
                StudyServers.restart(running, index)

    return played(after=again, **more)


@pytest.mark.parametrize("iterations", [1, 2])
def test_servers_that_start_again_after_every_step_publish_the_same(iterations):
    plain, again = played(iterations=iterations), restarting(iterations=iterations)
    for campaign in (plain, again):
        campaign.run()
    for iteration in range(1, iterations + 1):
        one, other = (campaign.recipient.opened[iteration] for campaign in (plain, again))
        assert one.classes == other.classes
        assert sorted(one.numbers.tolist()) == sorted(other.numbers.tolist())
    assert [(True, 0)] * 2 == [(server.over, server.restarts) for server in again.servers]


@pytest.fixture(scope="module")
def over():
    """A study that is over."""
    campaign = played()
    campaign.run()
    return campaign


def started_again(campaign, saved, index=0):
    """Start a server from what was saved."""
    server = Aggregator(
        campaign.study, campaign._configs[index], campaign.works[index], campaign.entropy
    )
    server.resume(saved)
    return server


def test_what_a_server_saves_at_the_end_holds_all_that_is_public(over):
    server = over.servers[0]
    again = started_again(over, server.save())
    assert (True, None, server.releases, server.notice, server.broadcast) == (
        again.over,
        again.round,
        again.releases,
        again.notice,
        again.broadcast,
    )
    assert server.classes.encode() == again.classes.encode()


def test_what_another_server_saved_is_not_read(over):
    saved = over.servers[1].save()
    assert over.servers[1].releases == started_again(over, saved, index=1).releases
    assert UNREADABLE == refusal(lambda: started_again(over, saved, index=0))


def test_classes_that_not_all_have_signed_are_not_read(over):
    """Not even where the server itself saved them."""
    document, first, _ = unpack(over.servers[0].broadcast)
    server = started_again(over, over.servers[0].save())
    server.broadcast = write_signed(document, [first, first])
    assert UNREADABLE == refusal(lambda: started_again(over, server.save()))


def test_a_server_that_has_begun_does_not_go_on_from_before():
    campaign = played()
    server = campaign.servers[0]
    saved = server.save()
    server.begin()
    assert (
        "what was saved is from before this server began the study: it goes on from what it saved "
        "last"
    ) == refusal(lambda: attrs.evolve(server).resume(saved))
