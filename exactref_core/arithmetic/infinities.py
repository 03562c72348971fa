"""What complex products and quotients of infinities, NaN and zeros may be: the rules there are.

- "either": the IEEE rules, part by part, or those of C99 Annex G (G.5.1), which recovers an
  infinity where both parts are NaN;
- "annex_g": those of Annex G alone;
- "parts": those of IEEE alone, except for quotients by zero, which no real formula defines;
- "any": as "either", and where a part of an output may be an infinity or NaN both parts may be any
  of them: kernels multiply what they return with 1 + 0i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from exactref_core.errors import InputError

__all__ = ["ANNEX_G", "ANY", "EITHER", "PARTS", "RULES", "Special", "parse_infinities"]

EITHER: Final = "either"
ANNEX_G: Final = "annex_g"
PARTS: Final = "parts"
ANY: Final = "any"
RULES: Final = (EITHER, ANNEX_G, PARTS, ANY)


@dataclass(frozen=True)
class Special:
    """What a step gives at infinities and NaN: one part of a function of complex numbers.

    ``name`` is "multiply", "divide" or "sqrt", whose parts the operands after the first are; "dot",
    whose other operand is the sum of single products; or "any", whose operands are both parts of an
    output.
    """

    name: str
    part: int
    rule: str = EITHER

    @property
    def by_annex(self) -> bool:
        """Whether Annex G gives the exact value at infinities and NaN."""
        if self.name == "multiply":
            return self.rule == ANNEX_G
        return self.name == "sqrt" or (self.name == "divide" and self.rule != PARTS)


def parse_infinities(value: object) -> str:
    """Return the rule that ``value`` names; InputError otherwise."""
    if isinstance(value, str) and value in RULES:
        return value
    raise InputError(
        f"complex_infinities={value!r} is not one of {', '.join(repr(rule) for rule in RULES)}"
    )
