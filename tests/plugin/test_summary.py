"""The summary: one row for each operation and test, merged from every worker, then the notices."""

from __future__ import annotations

import json
import re

import pytest

from tests.plugin.sessions import DISTRIBUTIONS, session, text

SOURCE = """
x = np.arange(12, dtype=np.float32).reshape(3, 4)

def test_right(exactref):
    exactref.check(x.sum(axis=1), er.sum(x, axis=1), label="rows")
    exactref.check(x.sum(axis=0), er.sum(x, axis=0), label="columns")
    exactref.check(x + x, er.add(x, x))

def test_wrong(exactref):
    exactref.check(x.sum(axis=1) + (x[:, 0] > 5), er.sum(x, axis=1))

@er.op("add", dtype=["float32", "float64"])
def test_marked(x1, x2):
    return x1 + x2

def test_nothing():
    pass
"""


def rows(result: pytest.RunResult) -> dict[str, str]:
    """The rows of the summary by test (and label): what stands right of it."""
    found = re.findall(
        r"^(test_it.py::\S+(?: \(\w+\))?)  +(\w+)  +(.*)$", text(result), re.MULTILINE
    )
    return {f"{name} {op}": " ".join(rest.split()) for name, op, rest in found}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_one_row_for_each_operation_and_test(pytester: pytest.Pytester, distribution: str) -> None:
    result = session(pytester, SOURCE, "--exactref", *DISTRIBUTIONS[distribution])
    result.assert_outcomes(passed=4, failed=1)
    assert text(result).count("== exactref ==") == 1
    table = rows(result)
    # dtype, standard, elements, normal, worse, wrong, error/tolerance, examples, seconds
    assert table["test_it.py::test_right (rows) sum"].startswith("float32 normal 3 3 0 0 0 1 ")
    assert table["test_it.py::test_right (columns) sum"].startswith("float32 normal 4 4 ")
    assert table["test_it.py::test_right add"].startswith("float32 normal 12 12 0 0 ")
    wrong = table["test_it.py::test_wrong sum"]
    assert wrong.startswith("float32 normal 3 2 0 1 ")
    assert float(wrong.split()[6]) > 1
    for dtype in ("float32", "float64"):
        marked = table[f"test_it.py::test_marked[{dtype}] add"].split()
        assert marked[0] == dtype
        assert marked[2] == marked[3] != "0"
        assert marked[7] == "12"
    assert len(table) == 6


def test_workers_make_the_same_rows(pytester: pytest.Pytester) -> None:
    tables = []
    for distribution in DISTRIBUTIONS.values():
        result = session(pytester, SOURCE, "--exactref", *distribution)
        tables.append({name: row.split()[:-2] for name, row in rows(result).items()})
    assert tables[0] == tables[1] == tables[2]


def test_without_the_option_there_is_no_section(pytester: pytest.Pytester) -> None:
    result = session(pytester, SOURCE)
    assert "exactref ==" not in text(result)


def test_a_failed_marked_test_counts_up_to_its_failure(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        @er.op("add", shapes=(2,), values="one_sign")
        def test_wrong(x1, x2):
            return x1 + x2 + x2
        """,
        "--exactref",
    )
    result.assert_outcomes(failed=1)
    assert rows(result)["test_it.py::test_wrong add"].startswith("float32 normal 2 0 0 2 ")


def test_a_check_that_zeros_would_pass_is_named(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        def test_blind(exactref):
            x = np.array([1e30, 1.0, -1e30], dtype=np.float32)
            exactref.check(np.float32(1), er.sum(x), standard="any_order", label="cancels")
            x = np.full(3, 1 + 2.0**-20, dtype=np.float32)
            exactref.check(er.sum(x).rounded, er.sum(x), standard="any_order", label="tells")

        @er.op("multiply", values="signed_zeros", shapes=(1, 0))
        def test_empty(x1, x2):
            return x1 * x2

        @er.op("negative")
        def test_tells(x):
            return -x
        """,
        "--exactref",
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "vacuous, since an output of zeros would also pass:",
            "  test_it.py::test_blind (cancels): 1 element could not tell",
            "vacuous, since the result of inputs in the next narrower format would also pass:",
            "  test_it.py::test_blind (cancels): 1 element could not tell",
        ]
    )
    assert text(result).count("could not tell") == 2


def test_checks_that_cannot_tell_other_inputs_are_named(pytester: pytest.Pytester) -> None:
    """The rows cancel, so that each other's sums pass; tfloat32 holds the small integers."""
    path = pytester.path / "report.json"
    result = session(
        pytester,
        """
        def test_rows(exactref):
            x = np.array([[1e30, 1.0, -1e30], [-1e30, 5.0, 1e30]], dtype=np.float32)
            r = er.sum(x, axis=-1)
            for out in (r.rounded, np.float32([1, 5])):
                exactref.check(out, r, standard="any_order")

        def test_small_integers(exactref):
            x = np.array([[1.0, 2.0, 7.0], [4.0, 8.0, 3.0]], dtype=np.float32)
            exactref.check(x.sum(-1), er.sum(x, axis=-1))

        @er.op("multiply")
        def test_tells(x1, x2):
            return x1 * x2
        """,
        "--exactref",
        f"--exactref-json={path}",
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "vacuous, since the result of an input in reverse order would also pass:",
            "  test_it.py::test_rows: 2 of 2 checks, 4 elements could not tell",
            "vacuous, since the result of inputs in the next narrower format would also pass:",
            "  test_it.py::test_rows: 2 of 2 checks, 4 elements could not tell",
            "  test_it.py::test_small_integers: 2 elements could not tell",
        ]
    )
    checks = {one["nodeid"].split("::")[1]: one for one in json.loads(path.read_text())["checks"]}
    assert checks["test_rows"]["passes_too"] == {"zeros": 4, "permuted": 4, "narrower": 4}
    assert checks["test_small_integers"]["passes_too"] == {"narrower": 2}
    assert checks["test_tells"]["passes_too"] == {}


def test_where_the_standard_guarantees_nothing_is_said(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        def test_underflow(exactref):
            A = np.array([[1e-30], [1.0]], dtype=np.float32)
            exactref.check(A @ A[:1], er.matmul(A, A[:1]))
        """,
        "--exactref",
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "the standard guarantees nothing where its tolerance is inf, or the sum of |terms|:",
            "  test_it.py::test_underflow (normal): 1 of 2 elements",
        ]
    )
