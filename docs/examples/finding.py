"""A library kernel that falls outside on an input: what is known of it, and how to run it."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from exactref import Result

Numbers = npt.NDArray[Any]

FINDINGS: dict[str, Finding] = {}
FORMATS = ("float64", "float32", "bfloat16", "float16", "complex64", "complex128")
# What the page's numbers were found with. On processors with AVX-512 libraries do what they did
# here, but for the findings that name a processor.
VERSIONS = {"numpy": "2.4", "torch": "2.13", "scipy": "1.17", "triton": "3.9", "ml_dtypes": "0.6"}
PROCESSORS = {
    "": {"avx512f"},
    "AMX": {"GenuineIntel", "avx512f", "avx512_bf16", "amx_bf16"},
    "AMD": {"AuthenticAMD", "avx512f"},
}


@dataclass(frozen=True)
class Case:
    """A kernel on an input: what runs it, and the result that judges it.

    ``at`` is the element that the page shows, and ``declared`` says whether an output is covered
    once what the kernel does is declared.
    """

    output: Callable[[], Any]
    result: Result
    at: int = 0
    declared: Callable[[Any], bool] | None = None


@dataclass(frozen=True)
class Finding:
    """A finding in the words of the page, and the case of it.

    ``library`` is what is at fault and ``needs`` what the kernel is called from; ``processor`` is
    a key of ``PROCESSORS``.
    """

    name: str
    kernel: str
    form: str
    inputs: str
    returned: str
    why: str
    standard: str
    library: str
    processor: str
    case: Callable[[], Case]

    @property
    def needs(self) -> str:
        """The package that has to be there."""
        return self.name.split("_")[0]

    @property
    def version(self) -> str:
        """The library and version that the page's numbers are of, and the processor."""
        on = f", {self.processor}" if self.processor else ""
        return f"{self.library} {VERSIONS[self.library]}{on}"

    @property
    def verdict(self) -> str:
        """What is said of the kernel, by the page."""
        if self.standard == "normal":
            return "worse"
        return "wrong" if self.case().declared is None else "wrong unless declared"

    @property
    def ours(self) -> bool:
        """Whether library and processor are those that the page's numbers were found with."""
        return ours(self.library, PROCESSORS[self.processor])


def ours(library: str, processor: set[str]) -> bool:
    """Whether a library has the version that the page names, and the processor these words."""
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text().split()) if info.exists() else set()
    version = importlib.metadata.version(library)
    same = version.startswith(VERSIONS[library] + ".")
    return same and platform.machine() == "x86_64" and flags >= processor


def finding(
    kernel: str,
    inputs: str,
    returned: str,
    why: str,
    *,
    standard: str = "any_order",
    library: str = "",
    on: str = "",
) -> Callable[[Callable[[], Case]], Callable[[], Case]]:
    """Register the case that a function makes, under the function's name.

    ``kernel`` ends with the format, after a comma. The name begins with the library, unless it is
    given; ``on`` is the processor that it takes.
    """
    call, _, form = kernel.rpartition(", ")
    if form not in FORMATS:
        raise ValueError(f"kernel is {kernel!r}; it has to end with a format, one of {FORMATS}")

    def register(case: Callable[[], Case]) -> Callable[[], Case]:
        name = case.__name__
        of = library or name.split("_")[0]
        words = (name, call, form, inputs, returned, why, standard, of, on)
        FINDINGS[name] = Finding(*words, case)
        return case

    return register


def array(values: Any, dtype: Any) -> Numbers:
    """An array of numbers in a format that numpy or ml_dtypes have."""
    named = getattr(ml_dtypes, dtype) if dtype == "bfloat16" else dtype
    return np.array(values, named)


def complex_array(real: Any, imag: Any) -> Numbers:
    """A complex64 array of its parts; real + 1j * imag would mix infinities."""
    z = np.empty(np.shape(real), np.complex64)
    z.real, z.imag = real, imag
    return z


def tensor(x: Numbers) -> Any:
    """A torch tensor of an array, its bfloat16 through their bits."""
    torch = importlib.import_module("torch")
    if x.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(x)


def on_torch(function: Callable[..., Any], *arrays: Numbers) -> Callable[[], Any]:
    """A torch kernel on arrays; ``function`` is given the module first."""
    return lambda: function(importlib.import_module("torch"), *map(tensor, arrays))


def on_autograd(
    function: Callable[..., Any], grad: Numbers, *arrays: Numbers, of: int = 0
) -> Callable[[], Any]:
    """Torch's gradient of an array of a kernel, given that of the kernel's output."""

    def output() -> Any:
        tensors = [tensor(x) for x in arrays]
        leaf = tensors[of].requires_grad_()
        function(importlib.import_module("torch"), *tensors).backward(tensor(grad))
        return leaf.grad

    return output


def covered_by(result: Result, standard: str = "any_order", **terms: bool) -> Callable[[Any], bool]:
    """Whether an output is covered by a result."""
    return lambda output: bool(result.covers(output, standard, **terms).all())


def only(output: Any) -> Any:
    """The array itself, of an output given by name."""
    return next(iter(output.values())) if isinstance(output, Mapping) else output


def shown(value: complex, dtype: str) -> str:
    """A number with the digits that tell those of its format apart."""
    if isinstance(value, complex):
        part = "float32" if dtype == "complex64" else "float64"
        real, imag = shown(value.real, part), shown(value.imag, part)
        unit = "i" if np.isfinite(value.imag) else " i"
        return f"{real} {'-' if imag.startswith('-') else '+'} {imag.lstrip('-')}{unit}"
    text = str(np.float32(value)) if dtype == "float32" else repr(float(value))
    return text.removesuffix(".0")
