"""Elementwise graphs in plain float64: what they decide is what the certified reading says.

Inputs are normal numbers, numbers of all sizes, any bits, few bits (ties), and edges of kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gmpy2
import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic import (
    ladder,
    level_choices,
    plain_numbers,
    plain_rounding,
    plain_steps,
)
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.plain_numbers import Plain
from exactref_core.exact import plain_blocks
from exactref_core.exact.elementary_table import FUNCTIONS
from exactref_core.formats.catalogue import get_format

COUNT = 144
ORACLE = gmpy2.context(precision=300, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())
EDGES = [0.0, 1.0, 2.0**-149, 2.0**-126, 88.72, 103.9, 6.0, 6.001, 20.0, 0.5, 2.0**-24, 9.0, 700.0]
EDGES += [float(np.finfo(np.float32).max), np.inf, np.nan]


def inputs(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = 2.0 ** rng.integers(-148, 127, COUNT)
    found = {
        "normal": rng.standard_normal(COUNT) * 3,
        "wide": rng.standard_normal(COUNT) * sizes,
        "ties": rng.integers(-64, 65, COUNT) / 16,
        "edges": rng.choice([*EDGES, *(-x for x in EDGES)], COUNT),
    }
    arrays = {name: x.astype(np.float32) for name, x in found.items()}
    bits = rng.integers(0, 1 << 32, COUNT, np.uint32)
    return {**arrays, "bits": bits.view(np.float32)}


LEFT, RIGHT = inputs(1), inputs(2)
CALLS: dict[str, Callable[[Any, Any], er.Result]] = {
    **{
        name: lambda x, y, name=name: getattr(er, name)(x)  # type: ignore[misc]
        for name in ("exp", "log", "expm1", "log1p", "tanh", "erf", "erfc", "exp2", "sqrt", "cbrt")
    },
    **{
        name: lambda x, y, name=name: getattr(er, name)(x, y)  # type: ignore[misc]
        for name in ("add", "subtract", "multiply", "divide", "hypot", "pow", "atan2", "swiglu")
    },
    **{
        name: lambda x, y, name=name: getattr(er, name)(x)  # type: ignore[misc]
        for name in ("gelu", "sigmoid", "silu", "softplus", "mish", "selu")
    },
    "broadcast": lambda x, y: er.silu(er.add(x.reshape(12, 12), y[:12])),
    "transposed": lambda x, y: er.multiply(x.reshape(12, 12).T, y.reshape(12, 12)),
    "to bfloat16": lambda x, y: er.silu(x, dtype="bfloat16"),
    "to float16": lambda x, y: er.exp(x, dtype="float16"),
    "to float8": lambda x, y: er.exp(x, dtype="float8_e4m3fn"),
    "downward": lambda x, y: er.divide(x, y, rounding="down"),
    "saturated": lambda x, y: er.multiply(x, y, overflow="saturate"),
    "from bfloat16": lambda x, y: er.divide(x.astype(ml_dtypes.bfloat16), y.astype("bfloat16")),
}


@pytest.mark.parametrize("kind", LEFT)
@pytest.mark.parametrize("name", CALLS)
def test_decided_elements_are_those_of_the_certified_reading(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level_choices, "SMALL", 0)
    monkeypatch.setattr(plain_rounding, "BLOCK", 50)
    with np.errstate(all="ignore"):
        result = CALLS[name](LEFT[kind], RIGHT[kind])
    output: Any = result.outputs["output"]
    (part,) = output.parts
    program = part.program()
    assert program is not None
    with np.errstate(all="ignore"):
        values, left = plain_rounding.round_program(program, part.store)
    decided = np.setdiff1d(np.arange(values.size), left)
    assert kind != "normal" or decided.size > 0.45 * values.size  # half have no logarithm
    for flat in decided.tolist():
        certain, found = part.round_one(flat), float(values[flat])
        assert found == certain or (found != found and certain != certain), (flat, found, certain)
        assert np.signbit(found) == np.signbit(certain) or certain != certain, (flat, found)


@pytest.mark.parametrize("kind", LEFT)
@pytest.mark.parametrize("name", ["log", "erf", "gelu", "add", "broadcast", "transposed"])
def test_what_is_left_is_decided_by_the_levels(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.errstate(all="ignore"):
        expected: Any = CALLS[name](LEFT[kind], RIGHT[kind]).rounded
        monkeypatch.setattr(level_choices, "SMALL", 0)
        monkeypatch.setattr(plain_rounding, "BLOCK", 64)
        monkeypatch.setattr(ladder, "CACHED", 50)
        found: Any = CALLS[name](LEFT[kind], RIGHT[kind]).rounded
        assert found.data.tobytes() == expected.data.tobytes()
        # Blocks without an answer are left whole.
        monkeypatch.setattr(plain_steps, "STEADY", -1.0)
        monkeypatch.setattr(plain_numbers.Plain, "even", property(lambda self: False))
        found = CALLS[name](LEFT[kind], RIGHT[kind]).rounded
        assert found.data.tobytes() == expected.data.tobytes()


@pytest.mark.parametrize("spread", [0.0, 2.0**-40, 2.0**-17])
@pytest.mark.parametrize("name", plain_blocks.KERNELS)
def test_blocks_stay_within_their_bounds(name: str, spread: float) -> None:
    """At both ends of a relative spread, and of an absolute one."""
    rng, function, told = np.random.default_rng(3), FUNCTIONS[name], 0
    for scale in (2.0**-30, 2.0**-6, 2.0**-5, 0.4, 4.0, 8.0, 80.0, 600.0):
        for absolute in (0.0, spread / 4):
            x = rng.uniform(-scale, scale, 60)
            x = np.abs(x) + 2.0**-40 if name in ("log", "log1p") and scale > 0.4 else x
            x = np.abs(x) + absolute * 5 if name == "log" else x
            top = float(np.abs(x).max())
            found = plain_blocks.block_values(name, x, spread, absolute, top)
            if found is None:
                continue
            told += 1
            value, relative, off, unknown = found
            for i in np.flatnonzero(~unknown if unknown is not None else np.ones(60, bool)):
                a, h = gmpy2.mpfr(float(x[i])), gmpy2.mpfr(float(value[i]))
                for way in (-1, 1):
                    moved = ORACLE.add(a, ORACLE.mul(abs(a), way * spread) + way * absolute)
                    gap = abs(ORACLE.sub(function.evaluate(ORACLE, moved), h))
                    assert gap <= abs(h) * relative + off, (x[i], value[i], relative)
    assert told > 3


def test_ties_are_left_and_their_neighbours_are_not() -> None:
    """By the bits, at a power of two and beside it, for both signs."""
    form = get_format("float32")
    ties = np.asarray([1 + 2.0**-24, 1 + 3 * 2.0**-24, 1 - 2.0**-25, 2.0**-100 * (1 + 2.0**-24)])
    ties = np.concatenate([ties, -ties])
    beside = ties * (1 + 2.0**-50)
    for values, expected in ((ties, True), (beside, False)):
        result = np.empty(values.size, np.float32)
        x = Plain(values.copy(), 2.0**-52)
        undecided = plain_rounding.cast(x, result, form)
        left = np.zeros(8, bool) if undecided is None else undecided
        assert left.tolist() == [expected] * 8
        assert expected or result.tolist() == values.astype(np.float32).tolist()
    wide = np.asarray([1 + 2.0**-30, 1.0, 0.5, 0.75])
    found = plain_rounding.cast(Plain(wide.copy(), 2.0**-25), np.empty(4, np.float32), form)
    assert found is not None
    assert found.tolist() == [False, True, True, False]


def test_results_are_kept_in_their_own_format_and_cannot_be_written_to() -> None:
    x = np.random.default_rng(5).standard_normal(5000).astype(np.float32)
    result = er.exp(x)
    rounded: Any = result.rounded
    output: Any = result.outputs["output"]
    part: Part = output.parts[0]
    assert part.stored().dtype == np.float32
    assert part.rounded().dtype == np.float64
    with pytest.raises(ValueError, match="WRITEABLE"):
        rounded.data.flags.writeable = True
