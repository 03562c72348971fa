"""Failing checks of a running test: their text, and their tensors, saved once the test has failed.

A check can fail without its test: in pytest.raises, in an expected failure, or while hypothesis
shrinks. So what it costs is paid by the text that is read and the file that is kept.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from exactref_core.array import Array
    from exactref_core.compare import Judgement
    from exactref_core.diagnosis.findings import Findings
    from exactref_core.result import Result
    from exactref_core.saved import SavedCheck
    from pytest_exactref.options import Options
    from pytest_exactref.records import CheckRecord

__all__ = ["MOST", "Failure", "FailureText", "Place", "check_of"]

MOST: Final = 16  # failing checks of one test that are kept, each with a copy of its outputs
MEGA: Final = 1_000_000


@dataclass(frozen=True)
class Place:
    """Where a failing check is saved: a file as the user reads it, below a folder."""

    start: Path  # the folder that pytest was started in
    folder: str
    name: str

    @classmethod
    def of(cls, start: Path, folder: str, nodeid: str, key: tuple[Any, ...]) -> Place:
        """The place of a check of a test, the same in every session."""
        test = nodeid.split("[", 1)[0].rpartition("::")[2]
        stem = re.sub(r"\W+", "-", test, flags=re.ASCII).strip("-")[:60] or "check"
        mark = hashlib.blake2b(repr((nodeid, key)).encode(), digest_size=4).hexdigest()
        return cls(start, folder, f"{stem}-{mark}.npz")

    @property
    def shown(self) -> str:
        """The file as an argument of a command."""
        return (Path(self.folder) / self.name).as_posix()

    @property
    def path(self) -> Path:
        """The file."""
        return self.start / self.folder / self.name


@dataclass
class Failure:
    """A failing check: its judgements and records, its outputs, and where it is saved (or not)."""

    judgements: Sequence[Judgement]
    records: Sequence[CheckRecord]
    label: str
    inputs: Mapping[str, Array] | None
    outputs: Mapping[str, Array]
    result: Result
    findings: Mapping[str, Findings]
    flush_to_zero: bool = False
    check: SavedCheck | None = None
    place: Place | None = None
    limit: int = 0

    @cached_property
    def told(self) -> Sequence[Judgement]:
        """The judgements, with what can be said of them."""
        from exactref_core.failure import explained

        return explained(
            self.judgements, self.outputs, self.result, self.findings, self.flush_to_zero
        )

    @cached_property
    def refusal(self) -> str:
        """Why the check cannot be saved; "" where it can, or nobody asked."""
        from exactref_core.saved import unsaved

        if self.place is None:
            return ""
        if self.check is None:
            return "its result was put together by hand"
        return unsaved(self.check, self.limit * MEGA)

    @cached_property
    def replay(self) -> str:
        """The command that judges it again; "" where it is not saved."""
        if self.check is None or self.place is None or self.refusal:
            return ""
        modules = [part for name in self.check.modules for part in ("--import", name)]
        return shlex.join(["python", "-m", "exactref", "replay", self.place.shown, *modules])

    def text(self) -> str:
        """What the failure says."""
        from pytest_exactref.reports.text import failure_text

        lines = [failure_text(self.told, self.label, self.inputs)]
        if self.replay:
            lines.append(f"reproduce: {self.replay}")
        elif self.refusal:
            lines.append(f"not saved: {self.refusal}")
        return "\n".join(lines)

    def record(self) -> str:
        """Tell the records what is known, and write the file; return what went wrong, or ""."""
        from exactref_core.saved import write

        for record, judgement in zip(self.records, self.told, strict=True):
            record.where, record.looks_like = judgement.where, judgement.looks_like
        if self.check is None or self.place is None or not self.replay:
            return ""
        try:
            write(self.place.path, self.check)
        except OSError as error:
            return f"{self.place.shown} cannot be written: {error}"
        for record in self.records:
            record.replay = self.replay
        return ""


class FailureText:
    """The text of a failure, laid out when it is read: hypothesis drops most failures unread."""

    def __init__(self, failure: Failure) -> None:
        self._failure = failure

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return repr(self._text)

    def __reduce__(self) -> Any:
        return str, (self._text,)  # to another process the words are enough

    @cached_property
    def _text(self) -> str:
        return self._failure.text()


def check_of(
    outputs: Mapping[str, Array],
    result: Result,
    terms: Mapping[str, Any],
    options: Options,
    start: Path,
) -> SavedCheck | None:
    """What is saved of a check of these outputs; None where the result has no origin."""
    import exactref
    from exactref_core.evaluate.origin import Origin
    from exactref_core.saved import SavedCheck, modules_for

    if not isinstance(result.origin, Origin):
        return None
    return SavedCheck(
        outputs=outputs,
        origin=result.origin,
        flush_to_zero=options.flush_to_zero,
        rows=options.rows,
        modules=modules_for(result.origin, str(terms["standard"]), start),
        version=exactref.__version__,
        **terms,
    )
