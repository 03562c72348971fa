"""Providers: what they add is found, under one name each, and gone when they are taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import providers
from exactref_core.errors import InputError, UnknownNameError
from exactref_core.registry import get_op, standards

TINY = er.extend.Format("tiny", "float", "float32", precision=3, emin=-2, emax=3, nan=True)


@pytest.fixture
def added() -> Iterator[Any]:
    """A function that registers a provider until the test ends."""
    known: list[Any] = []

    def add(**functions: Any) -> Any:
        known.append(SimpleNamespace(**functions))
        er.extend.register(known[-1])
        return known[-1]

    yield add
    for provider in known:
        er.extend.unregister(provider)


def test_a_format(added: Any) -> None:
    with pytest.raises(UnknownNameError, match="unknown dtype 'tiny'"):
        er.get_format("tiny")
    provider = added(exactref_formats=lambda: [TINY])
    assert er.asarray([1.1, 0.26, 16.0], "tiny").tolist()[:2] == [1.0, 0.25]
    assert er.add(er.asarray([1.0], "tiny"), er.asarray([0.125], "tiny")).rounded.tolist() == [1.0]
    er.extend.unregister(provider)
    with pytest.raises(UnknownNameError):
        er.get_format("tiny")
    er.extend.register(provider)


def test_a_complex_format_of_added_parts(added: Any) -> None:
    form = replace(
        er.get_format("complex64"),
        name="ctiny",
        part="tiny",
        precision=3,
        emin=-2,
        emax=3,
        infinity=False,
        signed_zero=False,
    )
    added(exactref_formats=lambda: [TINY, form])
    assert er.asarray([1.1 + 0.26j], "ctiny").tolist() == [1.0 + 0.25j]


def test_a_name_that_is_taken(added: Any) -> None:
    added(exactref_formats=lambda: [replace(TINY, name="float32")])
    assert er.get_format("float32").precision == 24
    with pytest.raises(InputError, match="already registered as 'float32'"):
        er.get_format("unknown")


def test_two_operations_of_one_name(added: Any) -> None:
    add = get_op("add")
    added(exactref_ops=lambda: [add])
    with pytest.raises(InputError, match="two operations are named 'add'"):
        get_op("add")


def test_what_is_no_iterable(added: Any) -> None:
    added(exactref_ops=lambda: None)
    with pytest.raises(InputError, match=r"exactref_ops\(\) of .* must return an iterable"):
        get_op("add")


def test_an_adapter_comes_first(added: Any) -> None:
    class Swapped(np.ndarray):
        """Numbers that lie the other way round."""

    def load(x: Any, name: str) -> Any:
        return er.asarray(np.asarray(x)[::-1], name=name)

    x = np.float32([1, 2]).view(Swapped)
    assert er.asarray(x).tolist() == [1, 2]
    added(
        exactref_adapters=lambda: [
            er.extend.Adapter("swapped", lambda x: isinstance(x, Swapped), load)
        ]
    )
    assert er.asarray(x).tolist() == [2, 1]


def test_a_standard(added: Any) -> None:
    class Twice(er.extend.AnyOrder):  # type: ignore[name-defined]
        """Twice what any order may be off by."""

        name = "twice"

        def error(self, algebra: Any, unit: Any, n: int, sums: Any) -> Any:
            return super().error(algebra, unit, n, sums) * algebra.constant(2)

    added(exactref_standards=lambda: [Twice()])
    assert "twice" in standards()
    r = er.sum(np.float32([1, 2**-24, 2**-24, 4]))
    assert r.tolerance("normal").tolist() < r.tolerance("any_order").tolist()
    assert r.tolerance("any_order").tolist() < r.tolerance("twice").tolist()


def test_registering_twice_adds_once_and_a_stranger_cannot_be_taken_back(added: Any) -> None:
    provider = added(exactref_formats=lambda: [TINY])
    er.extend.register(provider)
    assert [known is provider for known in providers._added].count(True) == 1
    with pytest.raises(InputError, match="is not registered"):
        er.extend.unregister(SimpleNamespace())
