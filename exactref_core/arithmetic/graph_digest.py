"""A digest of a graph: two of one digest have the same steps, formats, shapes and input bits."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.views import View
from exactref_core.exact.elementary import Function
from exactref_core.exact.pairs import PairFunction

__all__ = ["NotDigestible", "digest"]

# The digests of single steps: inputs are read once, whatever is asked of the graphs they are in.
STEPS: WeakKeyDictionary[Node, bytes] = WeakKeyDictionary()


class NotDigestible(Exception):
    """A step has attributes whose contents cannot be told, such as a function."""


def digest(node: Node) -> bytes:
    """Return the digest of the graph below a node; NotDigestible where there is none.

    Steps are counted in the order in which they can be evaluated, and name their operands by
    number: a value used twice differs from two equal ones.
    """
    found = hashlib.blake2b(digest_size=32)
    numbers: dict[Node, int] = {}
    stack = [node]
    while stack:
        top = stack[-1]
        missing = [x for x in top.operands if x not in numbers]
        if missing:
            stack += missing
            continue
        stack.pop()
        if top not in numbers:
            numbers[top] = len(numbers)
            found.update(step(top))
            found.update(repr([numbers[x] for x in top.operands]).encode())
    return found.digest()


def step(node: Node) -> bytes:
    """Return the digest of a node by itself."""
    known = STEPS.get(node)
    if known is None:
        found = hashlib.blake2b(digest_size=32)
        for part in (node.verb, node.shape, node.compute, node.attrs):
            feed(found, part)
        known = STEPS[node] = found.digest()
    return known


def feed(found: Any, x: Any) -> None:
    """Add a value to a digest: its type, its length and its contents.

    Fields of a dataclass that do not compare hold what is remembered, and are left out.
    """
    found.update(type(x).__name__.encode() + b"\0")
    if x is None or isinstance(x, (bool, int, float, str, Fraction, np.generic, Enum)):
        found.update(repr(x).encode() + b"\0")
    elif isinstance(x, np.ndarray):
        found.update(f"{x.dtype.str} {x.dtype.name} {x.shape}\0".encode())
        found.update(np.ascontiguousarray(x).reshape(-1).view(np.uint8).data)
    elif isinstance(x, (tuple, list)):
        found.update(f"{len(x)}\0".encode())
        for item in x:
            feed(found, item)
    elif isinstance(x, View):
        for item in (x.reshape, x.source, x.target, None if x.reshape else x.layout):
            feed(found, item)
    elif isinstance(x, Function):
        feed(found, x.name)
    elif isinstance(x, PairFunction):
        feed(found, (x.name, x.of_magnitudes))
    elif is_dataclass(x) and not isinstance(x, type):
        for field in fields(x):
            if field.compare:
                feed(found, getattr(x, field.name))
    else:
        raise NotDigestible(type(x).__name__)
