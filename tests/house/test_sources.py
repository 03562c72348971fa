"""Habits that a reader counts on: short files, a stated job, documented names, no stray links."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import exactref
from tests.house.tree import PACKAGES, ROOT, sources

LONGEST_FILE = 300
LONGEST_FUNCTION = 40
# Functions that libraries round as they like; roots, sums and products are IEEE 754's.
UNPROVEN = re.compile(
    r"(exp|log)(2|10|1p|m1|addexp2?)?|a?(rc)?(sin|cos|tan)(2|h)?|(float_)?pow(er)?|cbrt|hypot|erfc?|l?gamma"
)
# Starting points that are corrected, kernels of the ordinary reading, and what no verdict needs.
FREE = (
    "exact/plain_",
    "exact/exponentials.py",
    "exact/precise_exponentials.py",
    "_ordinary.py",
    "diagnosis/",
    "standards/typical.py",
)
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public_definitions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Documented]]:
    """Public functions and classes of a module body, and the public methods of those classes."""
    for node in body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node.body, f"{prefix}{node.name}.")


def is_overload_or_setter(node: Documented) -> bool:
    """Whether the docstring belongs to a neighbour: the implementation, or the getter."""
    text = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(t.endswith((".setter", ".deleter")) or t.split(".")[-1] == "overload" for t in text)


def undocumented(path: Path) -> list[str]:
    """The public names defined in the file at ``path`` that have no docstring."""
    definitions = public_definitions(ast.parse(path.read_text()).body)
    return [
        f"{path.relative_to(ROOT)}:{node.lineno} {name}"
        for name, node in definitions
        if not ast.get_docstring(node) and not is_overload_or_setter(node)
    ]


def code_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function's body, without its docstring: signatures and prose may be long."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1 if body else 0


def long_functions(path: Path) -> list[str]:
    """The functions of the file at ``path`` whose code is longer than the house allows."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and code_length(node) > LONGEST_FUNCTION
    ]


def library_calls(path: Path) -> list[str]:
    """The calls of a library's functions in the file at ``path``, but of constants."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node.func)}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("np", "math")
        and UNPROVEN.fullmatch(node.func.attr)
        and not all(isinstance(one, ast.Constant) for one in node.args)
    ]


def test_no_proof_stands_on_a_library() -> None:
    """They have no proven errors, and differ from one machine to the next."""
    modules = [path for path in sources("exactref_core") if path.suffix == ".py"]
    free = [path for path in modules if any(name in path.as_posix() for name in FREE)]
    assert [call for path in modules if path not in free for call in library_calls(path)] == []
    assert any(library_calls(path) for path in free)


def test_no_file_is_longer_than_300_lines() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in sources(*PACKAGES, "tests", "docs")
        if path.suffix == ".py"  # the stubs are generated
    }
    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


def test_every_module_says_its_job_in_its_first_line() -> None:
    silent = []
    for path in sources(*PACKAGES):
        text = ast.get_docstring(ast.parse(path.read_text())) if path.suffix == ".py" else "stub"
        if not text or not text.splitlines()[0].strip():
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []


def test_every_public_function_has_a_docstring() -> None:
    modules = [path for path in sources(*PACKAGES) if path.suffix == ".py"]
    assert [name for path in modules for name in undocumented(path)] == []


def test_no_function_is_longer_than_40_lines() -> None:
    modules = [path for path in sources(*PACKAGES) if path.suffix == ".py"]
    assert [name for path in modules for name in long_functions(path)] == []


@pytest.mark.parametrize("name", sorted({*exactref.HOMES, *(op.name for op in exactref.ops())}))
def test_every_name_of_the_facade_exists_and_is_documented(name: str) -> None:
    assert name in dir(exactref)
    assert (getattr(getattr(exactref, name), "__doc__", None) or "").strip()
