"""Checks of conduct: what a method must not do besides its work, on every table of the kit.

A kind lists its `Scene`s. Each is played once and watched; the checks of conduct, and those of the
kind's own promise, look at what was seen. A method that fails on one table is blamed for that by
one check, and the promises are judged on the tables on which it returned something.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from anonloom import Release, StageContext
from anonloom_testing.canaries import CANARIES
from anonloom_testing.canaries import SEED as CANARY_SEED
from anonloom_testing.conformance import Check, Conformance, refuse_problems
from anonloom_testing.observation import Observed, fingerprint, watch
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import Sample
from anonloom_testing.time_limit import place_of

SEED = 7


@attrs.frozen(eq=False)
class Scene:
    """One situation that a method is put into.

    Attributes
    ----------
    name
        Says the situation in messages.
    given
        Makes the inputs anew, by name; the method gets them in this order, then a `Run`.
    facts
        What the oracle knows of it; never shown to the method.
    special
        Names the scenes that only a special check, not the general ones, judges.
    refused
        Whether the method may raise in this scene.
    overheard
        The table whose cells must not be told, where that is what the scene is for.
    """

    name: str
    given: Callable[[], Mapping[str, Any]]
    facts: Any = None
    special: str = ""
    refused: bool = False
    overheard: Sample | None = None


@attrs.frozen(eq=False)
class Played:
    """A scene and what was seen in it."""

    scene: Scene
    seen: Observed


class Acting(Conformance):
    """A conformance class whose method is called in scenes."""

    def scenes(self) -> Iterator[Scene]:
        """Yield the situations of this kind."""
        raise NotImplementedError

    def act(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Call the method's verb."""
        raise NotImplementedError

    def play(self, scene: Scene, seed: int = SEED) -> Observed:
        """Play one scene and watch."""
        self.report_progress(scene.name)
        inputs, method = scene.given(), self.build_method()
        notes: list[str] = []
        context = StageContext(
            seed=CANARY_SEED if scene.special == CANARIES else seed, say=notes.append
        )
        seen = watch(lambda: self.act(method, inputs, context), inputs)
        return attrs.evolve(seen, run=context, notes=tuple(notes))

    def release_of(self, one: Played) -> Release | None:
        """Return what would be published of a result; None where that is not known."""
        return None

    def also_told(self, one: Played) -> Iterator[tuple[str, str | bytes]]:
        """Yield what this kind says beside findings, notes and errors: what it is, and the text."""
        yield from ()

    def played(self, special: str = "") -> list[Played]:
        """Return all scenes with what was seen in them, played once."""
        seen: list[Played] = self.keep(
            "played", lambda: [Played(scene, self.play(scene)) for scene in self.scenes()]
        )
        return [item for item in seen if item.scene.special == special]

    def everything(self) -> list[Played]:
        """Return what was seen in every scene, the special ones included."""
        self.played()
        result: list[Played] = self._kept["played"]
        return result

    def returned(self, special: str = "") -> list[Played]:
        """Return the scenes in which the method returned something."""
        results = [item for item in self.played(special) if item.seen.error is None]
        if not results:
            raise NotApplicable("the method returned nothing in any scene")
        return results


def check_copes_with_every_table(subject: Acting) -> None:
    """No table of the kit makes the method raise."""
    refuse_problems(
        (
            f"{item.scene.name}: {type(item.seen.error).__name__}: {item.seen.error}"
            + (f"\n  at {place}" if (place := place_of(item.seen.error)) else "")
            for item in subject.everything()
            # Who was refused a connection is blamed for wanting one.
            if item.seen.error is not None and not (item.seen.connections or item.scene.refused)
        ),
        "the method raised",
    )


def check_prints_nothing(subject: Acting) -> None:
    """The method writes nothing to the terminal, warnings included."""
    refuse_problems(
        (
            f"{item.scene.name}: {item.seen.printed.strip()[:200]!r}"
            for item in subject.everything()
            if item.seen.printed
        ),
        "the method printed",
    )


def check_uses_only_its_own_randomness(subject: Acting) -> None:
    """The global generators of `random` and `numpy.random` are not touched: only `run.rng` is."""
    refuse_problems(
        (item.scene.name for item in subject.everything() if item.seen.drew_globally),
        "the method used global random numbers; take them from run.rng",
    )


def check_opens_no_connection(subject: Acting) -> None:
    """The method does not try to reach another machine."""
    refuse_problems(
        (
            f"{item.scene.name}: {', '.join(item.seen.connections)}"
            for item in subject.everything()
            if item.seen.connections
        ),
        "the method tried to connect",
    )


def check_leaves_its_input_alone(subject: Acting) -> None:
    """What the method is given is the same afterwards, to the last cell."""
    refuse_problems(
        (
            f"{item.scene.name}: {', '.join(item.seen.changed)}"
            for item in subject.everything()
            if item.seen.changed
        ),
        "the method changed what it was given",
    )


def check_same_seed_same_result(subject: Acting) -> None:
    """The same seed and the same input give the same result."""
    refuse_problems(
        (
            item.scene.name
            for item in subject.returned()
            if fingerprint(item.seen.result) != fingerprint(subject.play(item.scene).result)
        ),
        "two calls with one seed differ; is there any randomness but run.rng?",
    )


CONDUCT: tuple[Check, ...] = (
    check_copes_with_every_table,
    check_prints_nothing,
    check_uses_only_its_own_randomness,
    check_opens_no_connection,
    check_leaves_its_input_alone,
    check_same_seed_same_result,
)
