"""What holds for every test of the library: none leaves an operation behind for the next one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from exactref_core.providers import changed
from exactref_core.registry import OWN


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Take back the operations that a test defines.

    A worker runs tests in an order of its own: an operation left behind is found by the tests
    that go through the registry, if they run later in the same process.
    """
    before = dict(OWN)
    yield
    if before != OWN:
        OWN.clear()
        OWN.update(before)
        changed()
