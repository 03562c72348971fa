"""Options: command line before ini before default, clear errors, and one seed for a session."""

from __future__ import annotations

import re

import pytest

from pytest_exactref.options import THOROUGH_EXAMPLES, Options, resolve

SHOW = """
    from pytest_exactref.options import KEY

    def test_show(request):
        print("OPTIONS", request.config.stash[KEY])
"""
SEED = re.compile(r"seed (\d+)")


def options_of(pytester: pytest.Pytester, *arguments: str, ini: str = "") -> Options:
    """The options of a session in ``pytester``, which has this ini file."""
    pytester.makeini(f"[pytest]\n{ini}")
    return resolve(pytester.parseconfig(*arguments))


def test_defaults(pytester: pytest.Pytester) -> None:
    options = options_of(pytester)
    assert (options.thorough, options.standard, options.worse) == (False, "normal", "fail")
    assert (options.rows, options.flush_to_zero, options.stated) == (10, False, False)
    assert 0 < options.examples < THOROUGH_EXAMPLES
    assert (options.json, options.html) == (None, None)
    assert (options.save, options.save_limit) == (".exactref", 256)
    assert options.seed is not None


def test_command_line(pytester: pytest.Pytester) -> None:
    arguments = "--exactref --exactref-standard=any_order --exactref-worse=warn --exactref-seed=5"
    more = "--exactref-examples=7 --exactref-rows=3 --exactref-flush-to-zero"
    files = "--exactref-save=kept --exactref-save-limit=5"
    options = options_of(pytester, *arguments.split(), *more.split(), *files.split())
    saved = {"save": "kept", "save_limit": 5}
    assert options == Options(True, "any_order", "warn", 7, 5, 3, True, **saved, stated=True)


def test_ini_keys_have_the_names_of_the_options(pytester: pytest.Pytester) -> None:
    ini = """
        exactref = true
        exactref_standard = any_order
        exactref_worse = allow
        exactref_examples = 7
        exactref_seed = 5
        exactref_rows = 3
        exactref_flush_to_zero = true
        exactref_json = a.json
        exactref_html = a.html
        exactref_save =
    """
    options = options_of(pytester, ini=re.sub("^ +", "", ini, flags=re.MULTILINE))
    files = {"json": "a.json", "html": "a.html"}
    assert options == Options(True, "any_order", "allow", 7, 5, 3, True, **files, stated=True)
    assert options.save is None


def test_the_command_line_comes_before_the_ini_file(pytester: pytest.Pytester) -> None:
    options = options_of(
        pytester, "--exactref-seed=0", ini="exactref_seed = 5\nexactref_standard = any_order"
    )
    assert (options.seed, options.standard) == (0, "any_order")


def test_thorough_sets_the_budget_unless_it_is_stated(pytester: pytest.Pytester) -> None:
    assert options_of(pytester, "--exactref").examples == THOROUGH_EXAMPLES
    assert options_of(pytester, "--exactref", ini="exactref_examples = 9").examples == 9


@pytest.mark.parametrize(
    ("arguments", "ini", "message"),
    [
        (["--exactref-examples=0"], "", "exactref_examples: 0 is less than 1"),
        (["--exactref-rows=-1"], "", "exactref_rows: -1 is less than 1"),
        (["--exactref-seed=-3"], "", "exactref_seed: -3 is less than 0"),
        ([], "exactref_examples = many", "'many'"),
        ([], "exactref_worse = ignore", "exactref_worse: 'ignore' is none of fail, warn, allow"),
        ([], "exactref_standard = best", "exactref_standard: 'best' is none of normal, any_order"),
    ],
)
def test_a_bad_value_stops_the_session_with_one_line(
    pytester: pytest.Pytester, arguments: list[str], ini: str, message: str
) -> None:
    pytester.makeini(f"[pytest]\n{ini}")
    pytester.makepyfile("def test_nothing(): pass")
    result = pytester.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}*"])


def test_help_has_a_group_of_its_own(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--help")
    result.stdout.fnmatch_lines(["exactref: *", "*--exactref-seed=N*", "*exactref_seed (*):*"])


def test_the_header_says_the_seed_that_was_chosen(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SHOW)
    result = pytester.runpytest("--exactref", "-s")
    said = SEED.findall(result.stdout.str())
    used = re.findall(r"OPTIONS .*seed=(\d+)", result.stdout.str())
    assert said == used
    assert len(said) == 1


def test_integers_in_a_toml_file_are_integers(pytester: pytest.Pytester) -> None:
    table = "pytest" if pytest.version_tuple >= (9, 0) else "pytest.ini_options"
    pytester.makepyprojecttoml(f"[tool.{table}]\nexactref_seed = 5\nexactref = true")
    options = resolve(pytester.parseconfig())
    assert (options.seed, options.thorough) == (5, True)


def test_two_sessions_choose_different_seeds(pytester: pytest.Pytester) -> None:
    assert options_of(pytester).seed != options_of(pytester).seed


def test_a_session_that_asks_nothing_has_no_header_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SHOW)
    pytester.runpytest().stdout.no_fnmatch_line("exactref:*")
    pytester.runpytest("-v").stdout.fnmatch_lines(["exactref: * seed *"])


def test_every_xdist_worker_has_the_seed_of_the_header(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from pytest_exactref.options import KEY

        @pytest.mark.parametrize("n", range(4))
        def test_show(request, n):
            assert request.config.stash[KEY].seed == -1
        """
    )
    result = pytester.runpytest("--exactref", "-n2")
    said = SEED.search(result.stdout.str())
    assert said is not None
    seen = re.findall(r"assert (\d+) == -1", result.stdout.str())
    assert set(seen) == {said[1]}
    assert len(seen) >= 4
