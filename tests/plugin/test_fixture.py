"""The fixture: an output is judged, fails with the table, and obeys the options."""

from __future__ import annotations

import pytest

from tests.plugin.sessions import session, text

# One row of "Reading complicated tolerances": eight lanes make 72 of the exact 96, which some
# order of the additions gives, but an index-order loop stays within 11.2.
WORSE = """
row = [1e16, 0.0, 0.0, 0.0, -1e16, 0.0, 0.0, 0.0] + [1.0] * 96 + [0.0] * 104

def test_lanes(exactref):
    exactref.check(np.float64(72.0), er.sum(row){terms})
"""


def test_a_right_output_passes_and_a_wrong_one_fails_with_the_table(
    pytester: pytest.Pytester,
) -> None:
    result = session(
        pytester,
        """
        x = np.arange(12, dtype=np.float32).reshape(3, 4)

        def test_right(exactref):
            exactref.check(x.sum(axis=1), er.sum(x, axis=1))

        def test_wrong(exactref):
            exactref.check(x.sum(axis=1) + x[0, :3], er.sum(x, axis=1), label="rows")
        """,
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "> *exactref.check(x.sum(axis=1) + *",
            "E *AssertionError: rows: sum float32 (3,): 2 wrong, 0 correct but worse*",
            "E *index *output *rounded *error *normal *any order *verdict*",
        ]
    )
    result.stdout.fnmatch_lines_random(
        ["E *[[]2[]] *40 *38 *wrong", "E *[[]1[]] *23 *22 *wrong"],
    )
    assert "judging.py" not in text(result)


def test_a_failing_assert_covers_is_shown_at_its_line(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        def test_covers():
            er.assert_covers(np.float32(4), er.add(np.float32(1), np.float32(2)))
        """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [">  *er.assert_covers(np.float32(4)*", "E *add float32 (): 1 wrong*"]
    )
    assert "failure.py" not in text(result)
    assert "environment.py" not in text(result)


def test_an_output_that_cannot_be_judged_is_said_without_internals(
    pytester: pytest.Pytester,
) -> None:
    result = session(
        pytester,
        """
        x = np.ones((3, 4), dtype=np.float32)

        def test_dtype(exactref):
            exactref.check(x.sum(axis=1, dtype=np.float64), er.sum(x, axis=1))

        def test_shape(exactref):
            exactref.check(x.sum(), er.sum(x, axis=1))

        def test_result(exactref):
            exactref.check(x, x)
        """,
    )
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["E *DTypeError: *float64*float32*"])
    assert "compare.py" not in text(result)


@pytest.mark.parametrize(
    ("terms", "arguments", "passes"),
    [
        ("", [], False),
        ("", ["--exactref-worse=allow"], True),
        ("", ["--exactref-standard=any_order"], True),
        (", worse='allow'", [], True),
        (", standard='any_order'", [], True),
        (", worse='fail'", ["--exactref-worse=allow"], False),
        (", standard='normal'", ["--exactref-standard=any_order"], False),
    ],
)
def test_correct_but_worse_is_what_the_check_or_the_option_makes_of_it(
    pytester: pytest.Pytester, terms: str, arguments: list[str], passes: bool
) -> None:
    result = session(pytester, WORSE.format(terms=terms), *arguments)
    result.assert_outcomes(passed=int(passes), failed=int(not passes))
    if not passes:
        result.stdout.fnmatch_lines(["E *sum float64 (): 0 wrong, 1 correct but worse, 0 normal*"])


def test_correct_but_worse_can_warn(pytester: pytest.Pytester) -> None:
    result = session(pytester, WORSE.format(terms=", worse='warn'"), warnings="default")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*test_it.py:*: CorrectButWorse: sum float64 ()*"])
    result = session(pytester, WORSE.format(terms=", worse='warn'"))
    result.assert_outcomes(failed=1)


def test_an_unknown_choice_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = session(pytester, WORSE.format(terms=", worse='shrug'"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *worse='shrug' is none of 'fail', 'warn', 'allow'"])
    result = session(pytester, WORSE.format(terms=", standard='best'"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *best*normal*"])
    assert "judging.py" not in text(result)
    result = session(pytester, WORSE.format(terms=", flush_to_zero='no'"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *flush_to_zero='no' is no bool"])


def test_rows_of_the_failure_table(pytester: pytest.Pytester) -> None:
    source = """
    def test_wrong(exactref):
        x = np.ones((50, 2), dtype=np.float32)
        exactref.check(x.sum(axis=1) + 1, er.sum(x, axis=1))
    """
    ten = text(session(pytester, source)).count("  wrong\n")
    two = text(session(pytester, source, "--exactref-rows=2")).count("  wrong\n")
    assert (ten, two) == (10, 2)


def test_flush_to_zero(pytester: pytest.Pytester) -> None:
    source = """
    def test_flushed(exactref):
        x1, x2 = np.float32(1e-30), np.float32(1e-10)
        exactref.check(np.float32(0), er.multiply(x1, x2))
    """
    session(pytester, source).assert_outcomes(failed=1)
    session(pytester, source, "--exactref-flush-to-zero").assert_outcomes(passed=1)


def test_it_works_in_a_hand_written_given(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        from hypothesis import given

        @given(x=er.strategies.arrays("float32", values=["well_scaled", "subnormal"]))
        def test_right(exactref, x):
            exactref.check(x + x, er.add(x, x))

        @given(pair=er.strategies.inputs("add", shapes=(2, 3)))
        def test_wrong(exactref, pair):
            x1, x2 = pair
            with np.errstate(all="ignore"):
                exactref.check(x1 - x2, er.add(x1, x2))
        """,
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E *AssertionError: add float32 (2, 3): * wrong*"])


def test_every_kind_of_test_and_fixture_can_check(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        import unittest
        x = np.ones(3, dtype=np.float32)

        class TestPlain:
            @pytest.mark.parametrize("axis", [0, None])
            def test_method(self, exactref, axis):
                exactref.check(x.sum(axis=axis), er.sum(x, axis=axis))

        class TestUnit(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def keep(self, exactref):
                self.exactref = exactref

            def test_method(self):
                self.exactref.check(x.sum(), er.sum(x))

        @pytest.fixture(scope="module")
        def checked(exactref):
            exactref.check(x.sum(), er.sum(x))

        def test_fixture(checked):
            pass

        @pytest.mark.xfail(raises=AssertionError, strict=True)
        def test_expected(exactref):
            exactref.check(x.sum() + 1, er.sum(x))
        """,
    )
    result.assert_outcomes(passed=4, xfailed=1)


def test_flushed_numbers_are_allowed_check_by_check(pytester: pytest.Pytester) -> None:
    source = """
    x = np.float32([1e-40, 1.0])
    flushed = np.float32([0.0, 2.0])

    def test_flushed(exactref):
        exactref.check(flushed, er.add(x, x), flush_to_zero=True)

    def test_plain(exactref):
        exactref.check(flushed, er.add(x, x))

    def test_strict(exactref):
        exactref.check(flushed, er.add(x, x), flush_to_zero=False)

    @er.op("add", flush_to_zero=True, values="subnormal")
    def test_marked(x1, x2):
        total = x1 + x2
        return np.where(np.abs(total) < 2.0**-126, np.float32(0), total)
    """
    session(pytester, source).assert_outcomes(passed=2, failed=2)
    session(pytester, source, "--exactref-flush-to-zero").assert_outcomes(passed=3, failed=1)


def test_the_worst_come_first_where_nothing_is_granted(pytester: pytest.Pytester) -> None:
    source = """
    def test_rounds_badly(exactref):
        x = np.float32([1, 2, 3, 4])
        exactref.check(x * np.float32([1.001, 1.5, 1, 1.01]), er.multiply(x, np.float32([1] * 4)))
    """
    lines = text(session(pytester, source)).splitlines()
    table = [line for line in lines if line.startswith("E ") and line.endswith("  wrong")]
    assert [line.split()[1] for line in table] == ["[1]", "[3]", "[0]"]


def test_a_standard_that_there_is_not(pytester: pytest.Pytester) -> None:
    source = """
    @er.op("sum", axis=-1, standard="normale")
    def test_sum(x):
        return x.sum(axis=-1)
    """
    result = session(pytester, source)
    result.assert_outcomes(errors=1)
    assert "standard='normale' is none of 'normal' or 'any_order'" in text(result)


def test_huge_outputs_are_judged_on_an_executor(pytester: pytest.Pytester) -> None:
    source = """
    from concurrent.futures import ThreadPoolExecutor

    class Counting(ThreadPoolExecutor):
        tasks = 0

        def submit(self, *args, **kwargs):
            Counting.tasks += 1
            return super().submit(*args, **kwargs)

    @pytest.fixture(scope="session")
    def exactref_executor():
        with Counting(2) as pool:
            yield pool

    x = np.arange(1_000_000, dtype=np.float32)

    def test_small(exactref):
        exactref.check(x[:9] + x[:9], er.add(x[:9], x[:9]))
        assert Counting.tasks == 0

    def test_right(exactref):
        exactref.check(x + x, er.add(x, x))
        assert Counting.tasks > 1

    def test_wrong(exactref):
        output = x + x
        output[900_000] += 1
        exactref.check(output, er.add(x, x))

    def test_of_this_check(exactref):
        before = Counting.tasks
        with ThreadPoolExecutor(1) as pool:
            exactref.check(x + x, er.add(x, x), executor=pool)
        assert Counting.tasks == before

    def test_none(exactref):
        exactref.check(x + x, er.add(x, x), executor=4)
    """
    result = session(pytester, source)
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        ["E *add float32 (1000000,): 1 wrong*", "E *[[]900000[]]*", "E *executor=4 has no submit()"]
    )
    fixtures = pytester.runpytest("--fixtures")
    fixtures.stdout.fnmatch_lines(["exactref_executor*"])
