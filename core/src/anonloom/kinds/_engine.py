"""What runs a pipeline that was read and checked."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonloom._outcome import Outcome
    from anonloom._registry.registry import Registry
    from anonloom._spec.model import PipelineSpec


class Engine(ABC):
    """Loads the table, has it collected, checks and audits the release, and writes it.

    `Pipeline` hands its work to the installed engine that registers itself with ``default=True``.
    """

    @abstractmethod
    def run(
        self, spec: "PipelineSpec", registry: "Registry", *, workers: int | None = None
    ) -> "Outcome":
        """Run everything, all checks included, and write nothing.

        Parameters
        ----------
        workers
            Threads that methods may use; by default one per core. Results do not depend on it.

        Raises
        ------
        PrivacyError
            When the release would break its own declared privacy, suppression or `fail_if`.
        """

    @abstractmethod
    def publish(
        self,
        spec: "PipelineSpec",
        registry: "Registry",
        *,
        to: Path,
        replace: bool = False,
        workers: int | None = None,
    ) -> "Outcome":
        """Run everything and write the outputs, or nothing at all.

        Parameters
        ----------
        to
            The output folder.
        replace
            Whether an existing output folder is replaced.
        """
