"""Whole studies: who leaves, lies, withdraws or is missing, and what is published then."""

from collections import Counter
from contextlib import suppress

import attrs
import numpy as np
import pytest
from anonify_play import (
    FIRSTS,
    ByFirstByte,
    answers_of,
    installed,
    played,
    real,
    refusal,
    transports,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import param
from anonloom.errors import TransportError
from anonloom_anonify.findings import smallest_pattern
from anonloom_anonify.simulation import Behaviour
from anonloom_testing.transport import Carrier, SeededEntropy, adversaries
from anonloom_testing.transport.adversaries import miscomputes
from anonloom_transport import Authority

DONORS = len(FIRSTS)


def behaving(iterations=1, donors=DONORS, **who):
    """Honest donors but for those who are named: leaving=[..], absent={iteration: [..]}."""
    one = Behaviour.honest(donors, iterations)
    for name, which in who.items():
        if isinstance(which, dict):
            for iteration, some in which.items():
                getattr(one, name)[iteration - 1, some] = True
        else:
            getattr(one, name)[which] = True
    return one


def published(campaign, iteration=1):
    """Donors whose records are published, by class."""
    opened = campaign.recipient.opened[iteration]
    results = {}
    for number, donor in zip(opened.numbers.tolist(), campaign.owners[iteration], strict=True):
        results.setdefault(number, set()).add(int(donor))
    return results


def sizes(campaign, iteration=1):
    return {number: len(donors) for number, donors in published(campaign, iteration).items()}


def run(*args, **more):
    campaign = played(*args, **more)
    campaign.run()
    return campaign


class Losing(Carrier):
    """Loses the first message of some posts."""

    lossy = ("registration 1",)

    def forgets(self, round, at):
        return at == 1 and any(round.id == f"s {name}" for name in self.lossy)


def losing(*names):
    made = Losing()
    object.__setattr__(made, "lossy", names)
    return made


def test_records_are_their_owners_in_their_class():
    campaign = run()
    opened = campaign.recipient.opened[1]
    assert {1: 4, 2: 4, 3: 4} == sizes(campaign)
    assert opened.numbers.tolist() == [FIRSTS[donor] for donor in campaign.owners[1]]
    assert opened.answers[:, 0].tolist() == campaign.owners[1].tolist()
    assert all(server.over for server in campaign.servers)
    assert campaign.ledger.is_simulated


def test_all_servers_end_with_the_same():
    campaign = run(servers=3, works=[ByFirstByte() for _ in range(3)])
    for name in ("notice", "broadcast", "releases", "withheld", "reserved", "erased"):
        assert 1 == len({repr(getattr(server, name)) for server in campaign.servers}), name


def test_every_record_is_erased_in_some_study_and_published_in_others():
    shown = Counter()
    for seed in range(12):
        shown.update(run((1, 1, 1, 1), entropy=SeededEntropy(seed)).owners[1].tolist())
    assert {0, 1, 2, 3} == set(shown)
    assert all(count < 12 for count in shown.values())
    assert 36 == shown.total()


def test_the_order_of_a_release_says_nothing_about_positions_or_senders():
    orders = {tuple(run(entropy=SeededEntropy(seed)).owners[1].tolist()) for seed in range(4)}
    assert 4 == len(orders)
    assert all(list(order) != sorted(order) for order in orders)


# --- iterations -----------------------------------------------------------------------------------


def joined(campaign):
    """Join keys of every donor, over the iterations."""
    results = {}
    for iteration, opened in campaign.recipient.opened.items():
        for donor, join in zip(campaign.owners[iteration].tolist(), opened.joins, strict=True):
            results.setdefault(donor, set()).add(join)
    return results


def test_the_same_donors_are_published_in_every_iteration():
    campaign = run(iterations=3)
    assert published(campaign, 1) == published(campaign, 2) == published(campaign, 3)
    for iteration in (1, 2, 3):
        assert {iteration} == set(campaign.recipient.opened[iteration].answers[:, 1].tolist())


def test_servers_that_are_over_hold_nothing_that_joins_records_to_positions():
    """Nor what was registered: the classes are public, and the release is."""
    campaign = run(iterations=2, servers=3)
    for server in campaign.servers:
        assert (None, None, None) == (server.agreement.secret, server.plan, server.registered)
        assert [0, 0] == [len(item.ranks) for item in server.assembled.values()]
        assert {} == server.round_log.facts


def test_a_join_key_is_one_donors_and_nothing_else_that_is_known():
    campaign = run(iterations=3, traced=True)
    result = joined(campaign)
    assert {1} == {len(keys) for keys in result.values()}
    keys = {next(iter(item)) for item in result.values()}
    assert len(result) == len(keys)
    seen = b"".join(
        sight.envelope.body for trace in campaign.traces for sight in trace.network
    ) + b"".join(word.body for word in campaign.envelopes)
    assert not any(key in seen for key in keys)
    other = joined(run(iterations=3, entropy=SeededEntropy(1)))
    assert keys.isdisjoint(next(iter(item)) for item in other.values())


def test_one_who_is_missing_withholds_the_iteration_for_all():
    campaign = run(iterations=3, behaviour=behaving(3, absent={2: [4]}))
    assert {1, 3} == set(campaign.recipient.opened)
    assert {2: "1 of 15 are missing"} == campaign.servers[0].withheld
    assert published(campaign, 1) == published(campaign, 3)


def test_a_decoy_stands_in_for_who_is_missing():
    donor = 4
    campaign = run(
        iterations=3,
        missing="blank",
        min_leave=3,
        works=[ByFirstByte(erased=0)] * 2,
        behaviour=behaving(3, absent={2: [donor]}),
    )
    assert {} == campaign.servers[0].withheld
    assert published(campaign, 1) == published(campaign, 3)
    left = {number: donors - {donor} for number, donors in published(campaign, 1).items()}
    assert left == published(campaign, 2)


def test_who_misses_an_iteration_hides_among_those_who_miss_the_same():
    def smallest(iterations=3, **absent):
        campaign = run(
            iterations=iterations,
            missing="blank",
            works=[ByFirstByte(erased=0)] * 2,
            behaviour=behaving(iterations, **absent),
        )
        return smallest_pattern(campaign)

    assert smallest() is None
    assert smallest(iterations=1) is None
    assert 1 == smallest(absent={2: [4]})
    # Two of class 1, of five: the others are three.
    assert 2 == smallest(absent={2: [0, 3]})
    # Of different classes, or from different iterations: each is alone.
    assert 1 == smallest(absent={2: [0, 1]})
    assert 1 == smallest(absent={2: [0], 3: [3]})


def test_who_left_no_decoy_is_missing():
    """A decoy is left by who uploads: who misses two iterations in a row has none for the second."""
    campaign = run(
        iterations=4,
        missing="blank",
        min_leave=3,
        behaviour=behaving(4, absent={2: [4], 3: [4]}),
    )
    assert {3: "1 of 15 are missing"} == campaign.servers[0].withheld
    assert {1, 2, 4} == set(campaign.recipient.opened)


def test_enough_who_are_missing_together_are_let_go():
    campaign = run(
        iterations=3,
        missing="blank",
        min_leave=2,
        behaviour=behaving(3, absent={2: [0, 3], 3: [0, 3]}),
    )
    assert {1, 2, 3} == set(campaign.recipient.opened)
    assert {0, 3}.isdisjoint(campaign.owners[3].tolist())


def test_who_has_no_answer_uploads_like_everybody():
    answers = answers_of(DONORS)
    answers[0][1][:3] = False
    campaign = run(answers=answers, traced=True)
    assert {0, 1, 2}.isdisjoint(campaign.owners[1].tolist())
    deposit = campaign.traces[-1]
    senders = {s.envelope.sender.index for s in deposit.network if s.envelope.step == "upload"}
    assert set(range(DONORS)) == senders
    assert not deposit.absent


# --- leaving --------------------------------------------------------------------------------------


def test_one_who_never_comes_back_holds_the_reservation():
    campaign = played(min_leave=2, behaviour=behaving(leaving=[3]))
    assert "the study has stopped: given up 2 times: 1 of 15 are missing" == refusal(campaign.run)


def test_enough_who_never_come_back_are_let_go():
    campaign = run(min_leave=2, behaviour=behaving(leaving=[3, 6]))
    assert 13 == campaign.servers[0].reserved
    assert {1: 2, 2: 4, 3: 4} == sizes(campaign)


def test_a_class_that_too_many_left_is_withheld():
    campaign = run(min_leave=2, k=3, behaviour=behaving(leaving=[0, 3]))
    assert {2: 4, 3: 4} == sizes(campaign)
    assert {"too few reservations": 1} == campaign.servers[0].classes_withheld


def test_when_no_class_is_left_the_study_stops():
    campaign = played(k=5)
    assert (
        "the study has stopped: no class is left that can be published: 3 too few reservations"
        == refusal(campaign.run)
    )


def test_when_nobody_is_in_a_class_the_study_stops():
    campaign = played([9] * 5)
    assert (
        "the study has stopped: no class is left that can be published: nobody has reserved a "
        "position"
    ) == refusal(campaign.run)


def test_when_the_sampler_leaves_nothing_the_study_stops():
    campaign = played([0] * 5, works=[ByFirstByte(erased=5)] * 2)
    assert (
        "the study has stopped: no class is left that can be published: all is erased"
    ) == refusal(campaign.run)


# --- lying ----------------------------------------------------------------------------------------


def test_a_false_claim_is_seen_by_the_excess_and_that_class_is_withheld():
    campaign = run(behaviour=behaving(lying=[0]))  # of class 1, claims class 2
    assert {1: 3, 3: 4} == sizes(campaign)
    assert {"claimed by more donors than registered": 1} == campaign.servers[0].classes_withheld


def test_false_claims_that_cancel_out_are_not_seen():
    """What cannot be detected: nobody is more than registered, and k holds."""
    campaign = run(behaviour=behaving(lying=[0, 1, 2]))
    assert {1: 4, 2: 4, 3: 4} == sizes(campaign)
    # What is published of a liar is what she claimed.
    for number, donors in published(campaign).items():
        for donor in donors & {0, 1, 2}:
            assert FIRSTS[donor] % 3 + 1 == number


def test_a_liar_lies_once_however_often_everybody_posts():
    campaign = run(
        transport=losing("reservation 1"), repeats=1, behaviour=behaving(lying=[0, 1, 2])
    )
    for number, donors in published(campaign).items():
        for donor in donors & {0, 1, 2}:
            assert FIRSTS[donor] % 3 + 1 == number


def test_the_truth_of_a_liar_is_known():
    campaign = run(behaviour=behaving(lying=[0, 1, 2]))
    assert list(FIRSTS) == campaign.numbers


# --- withdrawing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("counted", [False, True])
def test_who_withdraws_is_not_published_from_then_on(counted):
    campaign = run(
        iterations=3,
        withdrawals=True,
        counted=counted,
        works=[ByFirstByte(erased=0), ByFirstByte(erased=0)],
        behaviour=behaving(3, withdrawing={2: [0, 4]}),
    )
    assert set(range(DONORS)) == set(campaign.owners[1].tolist())
    for iteration in (2, 3):
        assert {0, 4} == set(range(DONORS)) - set(campaign.owners[iteration].tolist())


def test_a_class_that_too_many_withdrew_from_is_not_published():
    first = [index for index, of in enumerate(FIRSTS) if of == 1]
    for counted in (False, True):
        campaign = run(
            k=3,
            withdrawals=True,
            counted=counted,
            works=[ByFirstByte(erased=0), ByFirstByte(erased=0)],
            behaviour=behaving(withdrawing={1: first[:3]}),
        )
        assert {2: 5, 3: 5} == sizes(campaign)


@pytest.mark.parametrize("counted", [False, True])
def test_servers_neither_count_nor_open_a_class_of_which_too_few_are_left(counted):
    """Without counting too they know how many withdrew; a count of few would tell of one."""
    first = [index for index, of in enumerate(FIRSTS) if of == 1]
    asked = []

    def note(campaign, step):
        if step.endswith(": heard") and campaign.servers[0].plan is not None:
            asked.append(sorted(len(group) for group in campaign.servers[0].groups()))

    campaign = run(
        k=3,
        withdrawals=True,
        counted=counted,
        traced=True,
        works=[ByFirstByte(erased=0), ByFirstByte(erased=0)],
        behaviour=behaving(withdrawing={1: first[:4]}),
        after=note,
    )
    assert [[5, 5, 5], [5, 5]] == asked
    shown = [record for record in campaign.traces[-1].published if record is not None]
    assert {2, 3} == {FIRSTS[record[0]] for record in shown}


def test_servers_count_before_they_open():
    """A class with too few records is erased on every server, and nobody sees any of it."""
    answers = answers_of(DONORS)
    for index, of in enumerate(FIRSTS):
        answers[0][1][index] = of != 1 or index < 6  # two of class 1 have an answer
    campaign = run(k=3, counted=True, answers=answers, traced=True)
    assert {2: 4, 3: 4} == sizes(campaign)
    shown = [record for record in campaign.traces[-1].published if record is not None]
    assert {2, 3} == {FIRSTS[record[0]] for record in shown}


# --- posts that are lost --------------------------------------------------------------------------


def names(campaign):
    return [entry.name for entry in campaign.ledger.entries]


def test_when_posts_are_lost_everybody_posts_again():
    campaign = run(transport=losing("registration 1", "reservation 1"), repeats=1, traced=True)
    assert [
        "registration 1",
        "registration 2",
        "reservation 1",
        "reservation 2",
        "publishing 2.1",
    ] == names(campaign)
    assert {1: 4, 2: 4, 3: 4} == sizes(campaign)
    # With other identifiers and other positions: nobody can be joined over attempts.
    for first, second in ((0, 1), (2, 3)):
        sent = [campaign.traces[index].sent.values() for index in (first, second)]
        heads = [{message[:16] for message in messages} for messages in sent]
        assert heads[0].isdisjoint(heads[1])


def test_nobody_leaves_alone_between_two_attempts_of_a_reservation():
    """Three may leave together; who leaves after the first list is known would show her class."""

    def leave(campaign, step):
        if step == "reservation 1: open":
            campaign.behaviour.leaving[3] = True

    campaign = played(
        transport=losing("reservation 1"),
        min_leave=3,
        behaviour=behaving(leaving=[0, 1, 2]),
        after=leave,
    )
    assert (
        "the study has stopped: given up 2 times: 1 of 12 are missing"
        == refusal(campaign.run).partition(";")[0]
    )


@pytest.mark.skipif(not installed(transport="dpf"), reason="anonloom-dpf is not installed")
def test_a_server_that_fails_one_donors_check_learns_nothing_of_her():
    """With a second list, what is new in it would be hers; it names its sender by itself."""

    def of_one(tags):
        return bytes([tags[0] ^ 1]) + tags[1:]

    campaign = run(
        FIRSTS * 4,
        transport=real("dpf"),
        min_leave=10,
        corrupted_in=lambda round: (
            {1: miscomputes("check", of_one)} if round.id == "s registration 1" else {}
        ),
    )
    assert ["registration 1", "reservation 1", "publishing 1.1"] == names(campaign)
    assert 1 == campaign.numbers.count(None)


def test_who_is_still_not_heard_sends_dummies():
    campaign = run(
        transport=losing("registration 1", "registration 2", "reservation 1", "reservation 2"),
        repeats=1,
        traced=True,
    )
    server = campaign.servers[0]
    assert 1 == campaign.numbers.count(None)
    # One was not heard when registering, and of the others one at most when reserving.
    assert server.reserved in (13, 14)
    assert {15} == {entry.accepted for entry in campaign.ledger.entries}


@pytest.mark.parametrize("repeats", [0, 1, 2])
def test_nobody_posts_more_often_than_the_study_says(repeats):
    lost = [f"registration {index}" for index in range(1, 9)]
    campaign = run(transport=losing(*lost), repeats=repeats)
    registrations = [name for name in names(campaign) if name.startswith("registration")]
    assert repeats + 1 == len(registrations)


# --- giving up ------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Moody(Carrier):
    """Stops some rounds before anything is opened."""

    bad: tuple[str, ...] = param(help="Which ones.", default=())

    def server(self, round, config, **more):
        made = super().server(round, config, **more)
        if round.id.removeprefix("s ") in self.bad:
            made._stop_reason = "a bad day"
        return made


def test_reservations_are_made_anew_after_the_servers_gave_up():
    campaign = run(transport=Moody(bad=("publishing 1.1",)), traced=True)
    assert ["registration 1", "reservation 1", "publishing 1.1", "reservation 2"] == names(
        campaign
    )[:4]
    assert [1, 1] == [server.restarts for server in campaign.servers]
    assert {1: 4, 2: 4, 3: 4} == sizes(campaign)
    by_name = dict(zip(names(campaign), campaign.traces, strict=True))
    slots = [
        {message[:16] for message in by_name[name].sent.values()}
        for name in ("reservation 1", "reservation 2")
    ]
    assert slots[0].isdisjoint(slots[1])


def test_reservations_are_made_anew_only_so_often():
    campaign = played(transport=Moody(bad=("publishing 1.1", "publishing 2.1")))
    assert "the study has stopped: given up 2 times: a bad day" == refusal(campaign.run)
    strict = played(transport=Moody(bad=("publishing 1.1",)), restarts=0)
    assert "the study has stopped: given up 1 times: a bad day" == refusal(strict.run)


def test_a_registration_that_cannot_end_stops_the_study():
    campaign = played(transport=Moody(bad=("registration 1",)))
    assert "the study has stopped: a bad day" == refusal(campaign.run)


def test_a_later_iteration_that_cannot_end_is_withheld():
    campaign = run(transport=Moody(bad=("publishing 1.2",)), iterations=3)
    assert {2: "a bad day"} == campaign.servers[1].withheld
    assert {1, 3} == set(campaign.recipient.opened)


def test_too_few_donors_stop_the_study():
    campaign = played(min_batch=15, behaviour=behaving(leaving=[0]))
    assert "the study has stopped: given up 2 times: 14 were heard, and it takes 15" == refusal(
        campaign.run
    )


# --- hostile donors -------------------------------------------------------------------------------


def test_answers_that_nobody_could_have_written_are_left_out():
    answers = answers_of(DONORS)
    answers[0][0][:, 0] = np.where(np.arange(DONORS) == 0, 255, np.arange(DONORS))
    campaign = run(answers=answers, works=[ByFirstByte(erased=0), ByFirstByte(erased=0)])
    assert 0 not in campaign.owners[1]
    assert {"not readable": 1} == campaign.servers[0].assembled[1].lost


def test_records_that_are_in_no_class_are_counted():
    campaign = run((*FIRSTS, 9, 9))
    assert {"no class": 2, "without a class": 2} == campaign.servers[0].refused
    assert [None, None] == campaign.numbers[-2:]


needs_direct = pytest.mark.skipif(
    not installed(transport="direct"), reason="anonloom-direct is not installed"
)


@needs_direct
def test_an_invitation_reserves_once():
    entropy = SeededEntropy()
    authority = Authority.draw(entropy)
    campaign = played(
        (1, 1, 1, 1),
        transport=real("direct"),
        donors=9,
        authority=authority,
        entropy=entropy,
        after=_reserve_twice,
    )
    campaign.run()
    refused = sum((entry.refused for entry in campaign.ledger.entries), Counter())
    assert {"invitation already used": 2} == refused
    assert 4 == campaign.servers[0].reserved


@needs_direct
def test_who_was_invited_may_stay_away():
    campaign = run(
        transport=real("direct"),
        authority=Authority.draw(SeededEntropy()),
        missing="blank",
        iterations=2,
        behaviour=behaving(2, leaving=[0, 1, 2], absent={2: [3]}),
    )
    assert {1: 3, 2: 3, 3: 3} == sizes(campaign)
    assert campaign.behaviour.absent.sum() == 1


@needs_direct
@pytest.mark.parametrize("invited", [True, False])
def test_nobody_comes_in_the_place_of_a_donor_who_is_kept_away(invited):
    """Otherwise the number is right, the iteration opens, and what is missing from it is hers."""
    target, other, behaviour = 3, len(FIRSTS), behaving(2, donors=len(FIRSTS) + 1)
    behaviour.leaving[other] = True

    def swap(campaign, step):
        if step == "publishing 1.2: begin":
            behaviour.leaving[other], behaviour.absent[1, target] = False, True

    more = {"authority": Authority.draw(SeededEntropy())} if invited else {}
    campaign = played(
        (*FIRSTS, 1),
        transport=real("direct"),
        behaviour=behaviour,
        iterations=2,
        after=swap,
        works=[ByFirstByte(erased=0)] * 2,
        min_leave=1,
        **more,
    )
    campaign.run()
    opened = campaign.recipient.opened
    assert ({1} if invited else {1, 2}) == set(opened)
    if invited:
        assert "1 of 15 senders are missing" in campaign.servers[0].withheld[2]
        (entry,) = (item for item in campaign.ledger.entries if item.name == "publishing 1.2")
        assert {"not in the phase before": 2} == dict(entry.refused)
    else:
        # What the guarantees say is not covered: the record that is gone is the target's.
        (gone,) = set(opened[1].joins) - set(opened[2].joins)
        assert target == opened[1].answers[opened[1].joins.index(gone)][0]


def _first_two(round):
    """Let the first server take the first two uploads of the reservation from nobody."""
    if "reservation 1" not in round.id:
        return {}
    seen = []

    def which(envelope):
        seen.extend([envelope.upload] if envelope.upload not in seen else [])
        return seen.index(envelope.upload) < 2

    return {0: adversaries.ignores(which)}


def _left_out(name, invited, **more):
    """Twelve donors, of whom the first two are left out of the reservation."""
    if invited:
        more["authority"] = Authority.draw(SeededEntropy())
    return played(
        (1,) * 12,
        transport=real(name),
        corrupted_in=_first_two,
        works=[ByFirstByte(erased=0) for _ in range(2)],
        min_leave=1,
        missing="stop",
        **more,
    )


@pytest.mark.parametrize("invited", [True, False])
@pytest.mark.parametrize("name", transports())
def test_who_is_left_out_of_the_reservation_pushes_nobody_out_of_the_deposit(name, invited):
    acknowledged = []

    def note(campaign, step):
        if step == "publishing 1.1: upload":
            acknowledged.extend(client.is_acknowledged for client in campaign.driver.clients)

    campaign = _left_out(name, invited, after=note)
    recipient = campaign.run()
    assert [False] * 2 + [True] * 10 == acknowledged
    assert list(range(2, 12)) == sorted(recipient.opened[1].answers[:, 0].tolist())
    assert [0, 1] == np.flatnonzero(campaign.left_out).tolist()
    (deposit,) = (entry for entry in campaign.ledger.entries if entry.name == "publishing 1.1")
    assert {} == dict(deposit.refused)


@needs_direct
@pytest.mark.parametrize("invited", [True, False])
def test_who_comes_though_left_out_is_refused_or_holds_the_deposit(invited):
    """With invitations servers know them; without, they are two too many, and nothing is opened."""

    def come(campaign, step):
        if step == "publishing 1.1: begin":
            for donor in campaign.donors:
                donor.left_out = False

    campaign = _left_out("direct", invited, after=come)
    if invited:
        assert 10 == len(campaign.run().opened[1])
        (deposit,) = (entry for entry in campaign.ledger.entries if entry.name == "publishing 1.1")
        assert {"not in the phase before": 4} == dict(deposit.refused)
        return
    campaign.run()
    assert 1 == campaign.servers[0].restarts
    (deposit,) = (entry for entry in campaign.ledger.entries if entry.name == "publishing 1.1")
    assert {} == dict(deposit.refused)
    expected = "2 senders more than the 10 before: the round needs exactly those"
    assert {"publishing 1.1": expected} == campaign.servers[0].round_log.given_up


@needs_direct
def test_a_donor_who_is_left_out_of_the_registration_stays_away_from_the_reservation():
    def ignoring(round):
        taken = []

        def which(envelope):
            taken.append(envelope.upload)
            return taken[0] == envelope.upload

        return {1: adversaries.ignores(which)} if "registration" in round.id else {}

    campaign = run(
        transport=real("direct"),
        authority=Authority.draw(SeededEntropy()),
        corrupted_in=ignoring,
        min_leave=1,
    )
    assert [0] == np.flatnonzero(campaign.left_out).tolist()
    assert None is campaign.numbers[0]
    assert 14 == campaign.servers[0].reserved
    refused = sum((entry.refused for entry in campaign.ledger.entries), Counter())
    assert {"not held alike by every server": 1} == dict(refused)


@needs_direct
def test_an_invitation_to_another_study_of_the_same_authority_is_refused():
    authority = Authority.draw(SeededEntropy())
    other = played(authority=authority, transport=real("direct"), id="other")
    campaign = played(authority=authority, transport=real("direct"), min_batch=15)
    campaign._invitations[3] = other._invitations[3]
    assert "the study has stopped: the round has 14 uploads, it closes with at least 15" == refusal(
        campaign.run
    )
    (entry,) = campaign.ledger.entries
    assert {"no invitation": 2} == dict(entry.refused)


def _reserve_twice(campaign, step):
    if step == "reservation 1: upload":
        donor = campaign.donors[0]
        first = donor._secret
        message = donor.reservation(campaign.driver.round)
        campaign.driver.post([message], campaign._invitations_of([0]))
        donor._secret = first


@needs_direct
def test_one_who_is_missing_is_seen_by_a_real_transport():
    campaign = run(
        (1, 1, 1, 1),
        transport=real("direct"),
        iterations=2,
        behaviour=behaving(2, 4, absent={2: [1]}),
    )
    assert {2: "1 of 4 senders are missing, and the round needs all of them"} == (
        campaign.servers[0].withheld
    )


# --- whatever donors do ---------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.data())
def test_whatever_donors_do_no_small_class_is_published(data):
    """And every record is its owner's, in the class that she claimed, the same over iterations."""
    firsts = data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=14), label="firsts")
    iterations = data.draw(st.integers(1, 2), label="iterations")
    donors, shape = len(firsts), st.lists(st.booleans(), min_size=len(firsts), max_size=len(firsts))
    rare = st.integers(0, 3).flatmap(
        lambda chance: shape if chance == 0 else st.just([False] * donors)
    )
    behaviour = Behaviour(
        np.array(data.draw(rare, label="leaving")),
        np.array([data.draw(rare, label="absent") for _ in range(iterations)]),
        np.array(data.draw(rare, label="lying")),
        np.array([data.draw(rare, label="withdrawing") for _ in range(iterations)]),
    )
    campaign = played(
        firsts,
        iterations=iterations,
        behaviour=behaviour,
        k=data.draw(st.integers(1, 3), label="k"),
        missing=data.draw(st.sampled_from(["stop", "blank"])),
        withdrawals=data.draw(st.booleans()),
        counted=data.draw(st.booleans()),
        works=[ByFirstByte(erased=data.draw(st.integers(0, 1)))] * 2,
    )
    with suppress(TransportError):
        campaign.run()
    stopped = [server.stop_reason for server in campaign.servers]
    assert all(stopped) or not any(stopped)
    shown = {}
    for iteration, opened in campaign.recipient.opened.items():
        for number, count in zip(*np.unique(opened.numbers, return_counts=True), strict=True):
            assert count >= campaign.study.k or number == 0
        owners = campaign.owners[iteration].tolist()
        assert opened.answers[:, 0].tolist() == owners
        assert {iteration} >= set(opened.answers[:, 1].tolist())
        for donor, join in zip(owners, opened.joins, strict=True):
            assert not behaviour.leaving[donor]
            assert not behaviour.absent[iteration - 1, donor]
            assert shown.setdefault(donor, join) == join
            gone = campaign.study.withdrawals & behaviour.withdrawing[:iteration, donor]
            assert not gone.any()
