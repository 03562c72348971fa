"""The option of the cache: sessions and workers share it, and what cannot be used is said."""

from __future__ import annotations

import pytest

from tests.plugin.sessions import DISTRIBUTIONS, session, text

SOURCE = """
from exactref_core import cache

@pytest.mark.parametrize("seed", [1, 2])
def test_product(exactref, seed):
    a = np.random.default_rng(seed).standard_normal((200, 200)).astype(np.float32)
    exactref.check(a @ a, er.matmul(a, a))
    print("hits", cache.current().hits, "misses", cache.current().misses)
"""


@pytest.mark.parametrize("how", DISTRIBUTIONS)
def test_a_second_session_finds_what_the_first_left(pytester: pytest.Pytester, how: str) -> None:
    arguments = ("--exactref-cache=kept", "-rP", *DISTRIBUTIONS[how])
    first = session(pytester, SOURCE, *arguments)
    first.assert_outcomes(passed=2)
    assert "hits 0" in text(first)
    files = set((pytester.path / "kept").iterdir())
    assert files
    second = session(pytester, SOURCE, *arguments)
    second.assert_outcomes(passed=2)
    assert "hits 0" not in text(second)
    assert files <= set((pytester.path / "kept").iterdir())


def test_a_wrong_output_is_wrong_from_the_cache_too(pytester: pytest.Pytester) -> None:
    wrong = SOURCE.replace("a @ a,", "a @ a + (seed - 1),")
    tables = []
    for _ in range(2):
        result = session(pytester, wrong, "--exactref-cache=kept")
        result.assert_outcomes(passed=1, failed=1)
        tables.append([line for line in text(result).splitlines() if line.startswith("E ")])
    assert tables[0] == tables[1]


def test_a_folder_that_cannot_be_used(pytester: pytest.Pytester) -> None:
    pytester.makefile(".txt", taken="")
    result = session(pytester, "def test_it():\n    pass\n", "--exactref-cache=taken.txt")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "exactref_cache: the cache folder" in result.stderr.str()


def test_the_limit_is_an_option(pytester: pytest.Pytester) -> None:
    arguments = ("--exactref-cache=kept", "--exactref-cache-limit=1")
    session(pytester, SOURCE, *arguments).assert_outcomes(passed=2)
    total = sum(path.stat().st_size for path in (pytester.path / "kept").iterdir())
    assert 0 < total <= 1_000_000
    bad = session(pytester, SOURCE, "--exactref-cache-limit=0")
    assert "exactref_cache_limit: 0 is less than 1" in bad.stderr.str()
