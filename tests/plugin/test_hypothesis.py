"""Hypothesis under the marker: its decorators work, its limits stay away, seeds repeat inputs."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.plugin.sessions import BUDGET, printed, session, text

COUNTED = """
from hypothesis import example, seed, settings

{decorators}
@er.op("add")
def test_add(x1, x2):
    print("INPUT", x1.tobytes().hex(), x2.tobytes().hex())
    return x1 + x2
"""


def inputs(
    pytester: pytest.Pytester,
    *arguments: str,
    decorators: str = "",
    budget: tuple[str, ...] = BUDGET,
) -> list[str]:
    """The inputs that a test of an addition was run on, in order."""
    source = COUNTED.format(decorators=decorators)
    result = session(pytester, source, "-s", *arguments, budget=budget)
    result.assert_outcomes(passed=1)
    return printed(result, "INPUT")


def test_the_budget_is_the_sessions(pytester: pytest.Pytester) -> None:
    quick, thorough = (
        len(inputs(pytester, *thorough, budget=())) for thorough in ([], ["--exactref"])
    )
    assert 10 <= quick <= 50
    assert thorough == 100
    assert len(inputs(pytester, "--exactref-examples=7")) == 7


def test_settings_on_the_test_come_first(pytester: pytest.Pytester) -> None:
    assert len(inputs(pytester, decorators="@settings(max_examples=4)")) == 4
    assert len(inputs(pytester, "--exactref", decorators="@settings(max_examples=4)")) == 4


def test_settings_work_below_the_marker_too(pytester: pytest.Pytester) -> None:
    source = COUNTED.format(decorators="").replace(
        '@er.op("add")\n', '@er.op("add")\n@settings(max_examples=4)\n'
    )
    assert len(printed(session(pytester, source, "-s"), "INPUT")) == 4


def test_a_seed_repeats_the_inputs(pytester: pytest.Pytester) -> None:
    first = inputs(pytester, "--exactref-seed=7")
    assert inputs(pytester, "--exactref-seed=7") == first
    assert inputs(pytester, "--exactref-seed=8") != first
    assert inputs(pytester, budget=()) != inputs(pytester, budget=())


def test_seeds_of_hypothesis_come_first(pytester: pytest.Pytester) -> None:
    stated = "@seed(3)"
    first = inputs(pytester, "--exactref-seed=7", decorators=stated)
    assert inputs(pytester, "--exactref-seed=8", decorators=stated) == first
    given = inputs(pytester, "--exactref-seed=7", "--hypothesis-seed=5")
    assert inputs(pytester, "--hypothesis-seed=5") == given


def test_explicit_examples_run_first(pytester: pytest.Pytester) -> None:
    decorators = "@example(x1=[1.5], x2=np.array([2.0]))"
    first = inputs(pytester, decorators=decorators)[0]
    assert first == "0000c03f 00000040"  # both in float32


def test_a_failing_example_is_kept_and_comes_back_first(pytester: pytest.Pytester) -> None:
    source = """
    @er.op("sum", axis=-1, standard="any_order")
    def test_sum(x):
        print("SHAPE", x.shape)
        return np.sum(x[..., :-1], axis=-1)
    """
    for _ in range(2):
        result = session(pytester, source, "-s")
        result.assert_outcomes(failed=1)
    assert printed(result, "SHAPE")[0] == "(1,)"


def test_a_server_prints_the_seed_that_brings_its_inputs_back(pytester: pytest.Pytester) -> None:
    source = """
    @er.op("sum", axis=-1, standard="any_order")
    def test_sum(x):
        print("INPUT", x.tobytes().hex())
        return np.sum(x[..., :-1], axis=-1)
    """
    fresh = session(pytester, source, "-s", budget=(), server=True)
    fresh.assert_outcomes(failed=1)
    seed = re.findall(r"seed of this session: (\d+)", text(fresh))[0]
    for server in (True, False):
        shutil.rmtree(pytester.path / ".hypothesis", ignore_errors=True)
        again = session(pytester, source, "-s", f"--exactref-seed={seed}", budget=(), server=server)
        assert printed(again, "INPUT")[:20] == printed(fresh, "INPUT")[:20]


def test_slow_kernels_and_function_fixtures_raise_no_alarm(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        import time
        from hypothesis import settings

        @settings(max_examples=3)
        @er.op("add")
        def test_slow(x1, x2, tmp_path):
            time.sleep(0.4)
            return x1 + x2

        @er.op("add", shapes=(1, 2, 3, 4, 5, 6))
        def test_odd_shape(x1, x2, monkeypatch):
            return x1 + x2
        """,
    )
    result.assert_outcomes(passed=2)


def test_the_mark_is_registered_and_selects(pytester: pytest.Pytester) -> None:
    source = """
    @er.op("add")
    def test_marked(x1, x2):
        return x1 + x2

    def test_other():
        pass
    """
    session(pytester, source, "-m", "exactref_op").assert_outcomes(passed=1, deselected=1)
    result = session(pytester, source, "--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.exactref_op(name): *"])


def test_a_marked_test_runs_outside_pytest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        run="""
        import exactref as er
        count = 0

        @er.op("add", dtype=["float32", "float16"])
        def test_add(x1, x2):
            global count
            count += 1
            return x1 + x2

        test_add()
        print("RAN", count > 10)
        """
    )
    result = pytester.runpython(pytester.path / "run.py")
    assert printed(result, "RAN") == ["True"]


def test_other_hypothesis_tests_keep_their_own_ways(pytester: pytest.Pytester) -> None:
    source = """
    from hypothesis import given, settings, strategies as st

    @given(st.integers())
    def test_other(n):
        print("NUMBER", n)

    def test_settings():
        usual = settings.get_profile("default")
        assert settings().max_examples == usual.max_examples
        assert settings().deadline == usual.deadline
    """
    first, second = (session(pytester, source, "-s") for _ in range(2))
    first.assert_outcomes(passed=2)
    assert len(printed(first, "NUMBER")) == 100
    assert printed(first, "NUMBER") != printed(second, "NUMBER")
    assert "exactref_op" not in text(first)
