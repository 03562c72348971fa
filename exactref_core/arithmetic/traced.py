"""What a value of a definition is not: a number, an array, or anything that Python can look into.

Definitions are traced once a call, without numbers. Where Python, NumPy or torch ask a value for
one, the answer is an error that names the verb to write instead.
"""

from __future__ import annotations

from typing import Any, NoReturn

from exactref_core.errors import DTypeError

__all__ = ["KNOWN_AS", "Traced"]

VERBS = {
    "add": "v.add(x, y)",
    "sub": "v.subtract(x, y)",
    "mul": "v.multiply(x, y)",
    "truediv": "v.divide(x, y)",
    "pow": "v.pow(x, y)",
    "matmul": "v.matmul(x, y)",
    "neg": "v.negative(x)",
    "abs": "v.abs(x)",
}
COMPARED = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
COMPARED |= {"eq": "equal", "ne": "not_equal"}
BRANCH = "v.where(v.greater(x, y), yes, no)"
NUMBERS = ("bool", "float", "int", "complex", "index", "len", "iter")
# What other libraries call verbs.
KNOWN_AS = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "cat": "concat",
    "clamp": "clip",
    "concatenate": "concat",
    "div": "divide",
    "gather": "take",
    "mul": "multiply",
    "neg": "negative",
    "norm": "vector_norm",
    "permute": "permute_dims",
    "power": "pow",
    "sub": "subtract",
    "true_divide": "divide",
    "view": "reshape",
}


def refused(what: str, instead: str) -> DTypeError:
    """Return the error of a value that is asked for what it has not."""
    return DTypeError(f"values of a definition have no {what}: write {instead}")


def called(name: str) -> DTypeError:
    """Return the error of a library's function that is given a value."""
    verb = KNOWN_AS.get(name, name)
    return refused("numbers for functions of other libraries", f"v.{verb}(...), a verb")


class Traced:
    """A value that refuses operators, truth, numbers, and the functions of other libraries."""

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"values of a definition have a shape, and no {name!r}: write v.{name}(x) where there "
            "is such a verb"
        )

    def __getitem__(self, key: Any) -> Any:
        from exactref_core.arithmetic.verbs import part

        return part(self, key)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise refused("numbers", "verbs of v in the place of NumPy's functions")

    def __array_ufunc__(self, ufunc: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise called(ufunc.__name__)

    def __array_function__(self, function: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise called(function.__name__)

    @classmethod
    def __torch_function__(cls, function: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise called(function.__name__)


def operator(instead: str, what: str) -> Any:
    """Return a special method that refuses."""

    def method(self: Traced, *others: Any) -> NoReturn:
        raise refused(what, instead)

    return method


def compared(name: str, instead: str) -> Any:
    """Return a comparison that refuses; but for whether two values are one and the same."""

    def method(self: Traced, other: Any) -> bool:
        if isinstance(other, Traced) and name in ("eq", "ne"):
            return (self is other) == (name == "eq")
        raise refused("truth, as a definition is traced without numbers", instead)

    return method


for name, verb in VERBS.items():
    for prefix in ("", "r", "i"):
        setattr(Traced, f"__{prefix}{name}__", operator(verb, "operators"))
for name, verb in COMPARED.items():
    branch = BRANCH.replace("greater", verb)
    setattr(Traced, f"__{name}__", compared(name, branch))
for name in NUMBERS:
    text = BRANCH if name == "bool" else "verbs of v; the lengths of axes are in x.shape"
    asked = "truth, as a definition is traced without numbers" if name == "bool" else "numbers"
    setattr(Traced, f"__{name}__", operator(text, asked))
