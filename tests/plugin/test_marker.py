"""The marker: inputs are supplied, the returned output is judged, the rest stays the test's."""

from __future__ import annotations

import pytest

from tests.plugin.sessions import printed, session, text


def test_tensors_are_supplied_and_all_else_stays_the_tests(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        import unittest

        @pytest.fixture
        def one():
            return 1

        @pytest.mark.parametrize("sign", [1, -1])
        @er.op("add")
        def test_function(x1, sign, x2, one, tmp_path):
            assert one == 1
            return x1 + x2 if sign > 0 else x2 + x1

        class TestPlain:
            @er.op("negative", dtype="bfloat16")
            def test_method(self, x, one):
                return -x

        class TestUnit(unittest.TestCase):
            @er.op("add", dtype=["float32", "float64"])
            def test_method(self, x1, x2):
                return x1 + x2
        """,
        "-v",
    )
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*test_function[[]1] PASSED*", "*test_function[[]-1] PASSED*"])


def test_a_list_of_dtypes_gives_parametrized_ids(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        @er.op("add", dtype=["float16", np.float32, "complex64"])
        def test_add(x1, x2):
            assert x1.dtype == x2.dtype
            print("DTYPE", x1.dtype)
            return x1 + x2

        @er.op("add", dtype=["float64"])
        def test_one(x1, x2):
            return x1 + x2

        @er.op("add", dtype="float64")
        def test_plain(x1, x2):
            return x1 + x2
        """,
        "-v",
        "-s",
    )
    result.assert_outcomes(passed=5)
    for name in (
        "test_add[float16]",
        "test_add[float32]",
        "test_add[complex64]",
        "test_one[float64]",
    ):
        assert f"::{name} " in text(result)
    assert "::test_plain " in text(result)
    assert set(printed(result, "DTYPE")) == {"float16", "float32", "complex64"}


def test_a_failure_shrinks_and_prints_a_line_that_can_be_pasted(
    pytester: pytest.Pytester,
) -> None:
    source = """
    import hypothesis

    {line}
    @er.op("sum", axis=-1, standard="any_order")
    def test_last_is_dropped(x):
        return np.sum(x[..., :-1], axis=-1)
    """
    result = session(pytester, source.format(line=""))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            '*@er.op("sum", axis=-1, standard="any_order")',
            "E *AssertionError: sum float32 (): 1 wrong, 0 correct but worse, 0 normal*",
            "E *test_last_is_dropped(",
            'E *x=er.asarray([[]1.0[]], "float32"),',
        ]
    )
    assert "marker.py" not in text(result)
    (line,) = printed(result, "paste:")
    assert line == '@hypothesis.example(x=er.asarray([1.0], "float32"))'
    again = session(pytester, source.format(line=line))
    again.assert_outcomes(failed=1)
    assert "explicit example" in text(again)


def test_wrong_and_worse_are_two_failures(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        import math

        # 200 terms of one sign: normal is about 103 u of the sum, any order 199 u.
        @er.op("sum", dtype="float64", shapes=[(200,), (1,)], values="one_sign")
        def test_both(x):
            return np.float64(math.fsum(x)) * (1 + 150 * 2.0**-53 if x.size > 1 else 2)
        """,
        "--exactref",
    )
    result.assert_outcomes(failed=1)
    assert "2 distinct failures" in text(result)
    assert "1 wrong, 0 correct but worse" in text(result)
    assert "0 wrong, 1 correct but worse" in text(result)


@pytest.mark.parametrize("arguments", [[], ["--exactref"]])
def test_a_test_that_returns_nothing_is_a_usage_error(
    pytester: pytest.Pytester, arguments: list[str]
) -> None:
    source = """
    @er.op("sum")
    def test_forgot(x):
        np.sum(x)
    """
    result = session(pytester, source, *arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *UsageError: test_forgot returned None: return the kernel's output"]
    )


@pytest.mark.parametrize(
    ("decorator", "signature", "message"),
    [
        ('er.op("summ")', "x", "*summ*"),
        ("er.op(len)", "x", "er.op takes an operation's name, as in er.op(*"),
        ('er.op("sum", label=3)', "x", "label=3 is no string"),
        ('er.op("sum", flush_to_zero="no")', "x", "flush_to_zero='no' is no bool"),
        ('er.op("sum", dim=0)', "x", "sum has no parameter dim: it is called axis here*"),
        (
            'er.op("sum", keepdim=True)',
            "x",
            "sum has no parameter keepdim: did you mean keepdims=*",
        ),
        (
            'er.op("sum", dtypes=[])',
            "x",
            "sum has no parameter dtypes: did you mean dtype=*",
        ),
        (
            'er.op("sum", qqq=1)',
            "x",
            "sum has no parameter qqq (it has axis, complex_infinities, keepdims*",
        ),
        ('er.op("add")', "a, b", "test_it(a, b) has no parameter x1: add supplies x1, x2"),
        ('er.op("sum", axis=0)', "x, axis", "test_it gets axis, and er.op states it: do one"),
        ('er.op("sqrt", dtype="int8")', "x", "sqrt of int8 needs output_dtype="),
        ('er.op("sum", dtype="float3")', "x", "*float3*"),
        ('er.op("sum", dtype=[])', "x", "dtype= is empty"),
        ('er.op("sum", framework="numpie")', "x", "framework='numpie' is none of *"),
        ('er.op("sum", values="huge")', "x", "values='huge' is none of *"),
    ],
)
def test_what_the_operation_cannot_take_is_said_at_collection(
    pytester: pytest.Pytester, decorator: str, signature: str, message: str
) -> None:
    result = session(pytester, f"@{decorator}\ndef test_it({signature}):\n    return 0")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"E *{message}"])


def test_what_the_shapes_cannot_take_is_said_without_internals(pytester: pytest.Pytester) -> None:
    source = """
    @er.op("sum", axis=3, shapes=(2, 2))
    def test_sum(x):
        return x
    """
    result = session(pytester, source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *axis 3 is out of range for an input with 2 axes"])
    assert "call.py" not in text(result)


def test_an_argument_named_as_a_parameter_goes_to_both(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        @pytest.mark.parametrize("keepdims", [False, True])
        @pytest.mark.parametrize("axis", [0, -2, (0, 1), None])
        @er.op("sum", dtype="float64", values="integers")
        def test_sum(x, axis, keepdims):
            return np.sum(x, axis=axis, keepdims=keepdims)
        """,
    )
    result.assert_outcomes(passed=8)


def test_a_kernel_that_works_in_place_keeps_its_reference(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        @er.op("negative")
        def test_negative(x):
            np.negative(x, out=x)
            return x

        @er.op("negative", framework="torch")
        def test_torch(x):
            return x.neg_()
        """,
    )
    outcomes = result.parseoutcomes()
    assert outcomes.get("passed", 0) + outcomes.get("skipped", 0) == 2
    assert "failed" not in outcomes


def test_integer_inputs(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        @er.op("sum", axis=-1, dtype=["int8", "uint16", "int64", "bool"])
        def test_sum(x):
            return np.sum(x, axis=-1, dtype=np.int64)

        @er.op("add", dtype="int32", output_dtype="float64")
        def test_add(x1, x2):
            return x1.astype(np.float64) + x2
        """,
    )
    result.assert_outcomes(passed=5)


def test_an_output_format_of_its_own(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        @er.op("matmul", dtype="bfloat16", output_dtype="float32", standard="any_order")
        def test_matmul(A, B):
            return np.matmul(A.astype(np.float32), B.astype(np.float32))
        """,
    )
    result.assert_outcomes(passed=1)


def test_frameworks_that_are_absent_skip(pytester: pytest.Pytester) -> None:
    result = session(
        pytester,
        """
        import sys
        sys.modules["jax"] = None

        @er.op("add", framework="jax")
        def test_jax(x1, x2):
            return x1 + x2
        """,
        "-rs",
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*jax*"])


def test_torch_inputs(pytester: pytest.Pytester) -> None:
    pytest.importorskip("torch")
    result = session(
        pytester,
        """
        import torch

        @er.op("add", dtype=["float32", "bfloat16", "float16"], framework="torch", device="cpu")
        def test_add(x1, x2):
            assert isinstance(x1, torch.Tensor) and x1.device.type == "cpu"
            return torch.add(x1, x2)

        @er.op("add", framework="torch", device="cuda:99")
        def test_elsewhere(x1, x2):
            return x1 + x2
        """,
    )
    result.assert_outcomes(passed=3, skipped=1)
