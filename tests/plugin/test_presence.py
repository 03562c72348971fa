"""Presence: where nothing asks for the plugin it loads nothing, changes nothing, says nothing."""

from __future__ import annotations

import pytest

from tests.plugin.sessions import session, text

HEAVY = {"numpy", "gmpy2", "ml_dtypes", "hypothesis", "exactref", "exactref_core"}


def test_a_session_without_marker_fixture_or_option(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import sys

        def test_nothing():
            assert "pytest_exactref.plugin" in sys.modules
            assert not {HEAVY!r} & set(sys.modules)
            assert "pytest_exactref.running" not in sys.modules
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:benchmark", "-W", "error")
    result.assert_outcomes(passed=1)
    lines = [line for line in result.outlines if not line.startswith("plugins:")]
    assert not [line for line in lines if "exactref" in line]


def test_pytest_inside_a_test_keeps_checks_apart(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("pytest_plugins = ['pytester']")
    result = session(
        pytester,
        '''
        x = np.ones(3, dtype=np.float32)

        def test_outer(exactref, pytester):
            pytester.makepyfile(
                """
                import exactref as er

                def test_inner(exactref):
                    exactref.check(er.sum([1.0]).rounded, er.sum([1.0]))
                """
            )
            pytester.runpytest_inprocess("-p", "no:benchmark").assert_outcomes(passed=1)
            exactref.check(x.sum(), er.sum(x))
        ''',
        "--exactref",
        warnings="default",
    )
    result.assert_outcomes(passed=1)
    (row,) = [line for line in result.outlines if line.startswith("test_it.py::test_outer")]
    assert row.split()[4:6] == ["1", "1"]


def test_the_seed_stands_with_a_failed_marked_test(pytester: pytest.Pytester) -> None:
    source = """
    @er.op("add")
    def test_wrong(x1, x2):
        return x1 - x2
    """
    result = session(pytester, source, "--exactref-seed=31")
    result.stdout.fnmatch_lines(["*- exactref -*", "seed of this session: 31"])


def test_it_can_be_switched_off(pytester: pytest.Pytester) -> None:
    result = session(pytester, "def test_nothing(): pass", "-p", "no:exactref", budget=())
    result.assert_outcomes(passed=1)
    assert "exactref-" not in text(result).partition("plugins:")[2]
