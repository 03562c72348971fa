"""The plugin's options: command line, ini keys of the same name, and the seed of the session.

PYTEST_DONT_REWRITE: there is no assert here, and rewriting would cost more than loading.
"""

from __future__ import annotations

import random
from typing import Any, Final, NamedTuple

import pytest

__all__ = ["KEY", "RUN", "Options", "add_options", "header", "resolve", "share_seed"]

QUICK_EXAMPLES: Final = 25
THOROUGH_EXAMPLES: Final = 100
CACHE_LIMIT: Final = 1024  # MB
SAVE: Final = ".exactref"
SAVE_LIMIT: Final = 256  # MB
WORSE: Final = ("fail", "warn", "allow")
SEED_INPUT: Final = "exactref_seed"  # the key under which a worker finds the session's seed


class Options(NamedTuple):
    """What one session was asked for; the defaults are those of a session without any option.

    (A named tuple: a dataclass takes most of the millisecond that the plugin may cost to load.)
    """

    thorough: bool = False
    standard: str = "normal"
    worse: str = "fail"
    examples: int = QUICK_EXAMPLES
    seed: int | None = None
    rows: int = 10
    flush_to_zero: bool = False
    json: str | None = None
    cache: str | None = None
    cache_limit: int = CACHE_LIMIT
    html: str | None = None
    save: str | None = None
    save_limit: int = SAVE_LIMIT
    stated: bool = False  # whether anything was asked for at all


KEY: Final = pytest.StashKey[Options]()
RUN: Final = pytest.StashKey[Any]()  # a judging.Run, on the item of a test that uses the plugin

# pytest knows integers among ini keys since 8.4, and then wants them as such in a TOML file.
_INTEGER: Final = "int" if pytest.version_tuple >= (8, 4) else "string"

# name, keyword arguments of the command line option, type of the ini key
_TABLE: Final[tuple[tuple[str, dict[str, Any], Any], ...]] = (
    (
        "exactref",
        {
            "action": "store_true",
            "help": "thorough: the full budget of examples and value classes, vacuity checks "
            "and the summary section",
        },
        "bool",
    ),
    (
        "exactref-standard",
        {"metavar": "{normal,any_order,typical}", "help": "default standard (default: normal)"},
        "string",
    ),
    (
        "exactref-worse",
        {
            "choices": WORSE,
            "help": "what correct but worse does, but under any_order (default: fail)",
        },
        "string",
    ),
    (
        "exactref-examples",
        {
            "type": int,
            "metavar": "N",
            "help": f"examples of a marked test (default: {QUICK_EXAMPLES}; {THOROUGH_EXAMPLES} "
            "under --exactref)",
        },
        _INTEGER,
    ),
    (
        "exactref-seed",
        {
            "type": int,
            "metavar": "N",
            "help": "seed of the inputs drawn for marked tests (default: chosen once a session)",
        },
        _INTEGER,
    ),
    (
        "exactref-rows",
        {"type": int, "metavar": "N", "help": "rows of the failure table (default: 10)"},
        _INTEGER,
    ),
    (
        "exactref-flush-to-zero",
        {"action": "store_true", "help": "judge with flush_to_zero=True"},
        "bool",
    ),
    (
        "exactref-json",
        {"metavar": "PATH", "help": "write the checks of the session to a JSON file"},
        "string",
    ),
    (
        "exactref-cache",
        {"metavar": "DIR", "help": "keep references in this folder from one session to the next"},
        "string",
    ),
    (
        "exactref-cache-limit",
        {
            "type": int,
            "metavar": "MB",
            "help": f"size of that folder; what was used longest ago goes (default: {CACHE_LIMIT})",
        },
        _INTEGER,
    ),
    (
        "exactref-html",
        {"metavar": "PATH", "help": "write the checks, with pictures, to an HTML file"},
        "string",
    ),
    (
        "exactref-save",
        {
            "metavar": "DIR",
            "help": f"where the tensors of failing checks go (default: {SAVE}; empty: nowhere)",
        },
        "string",
    ),
    (
        "exactref-save-limit",
        {
            "type": int,
            "metavar": "MB",
            "help": f"size of the tensors of one check that are saved (default: {SAVE_LIMIT})",
        },
        _INTEGER,
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Register every option, and with each an ini key of the same name (underscores for dashes)."""
    group = parser.getgroup("exactref", "exactref: exact references for numerical kernels")
    for name, arguments, ini_type in _TABLE:
        group.addoption(f"--{name}", default=None, dest=_key(name), **arguments)
        parser.addini(_key(name), arguments["help"], type=ini_type, default=None)


def _key(name: str) -> str:
    return name.replace("-", "_")


def resolve(config: pytest.Config) -> Options:
    """The options of this session: command line before ini key before default.

    Raises:
        pytest.UsageError: a number that is not one or too small, or an unknown choice.
    """
    found = {_key(name): _value(config, _key(name)) for name, _, _ in _TABLE}
    thorough = bool(found["exactref"])
    worse = found["exactref_worse"] or "fail"
    if worse not in WORSE:
        raise pytest.UsageError(f"exactref_worse: {worse!r} is none of {', '.join(WORSE)}")
    return Options(
        thorough=thorough,
        standard=_standard(found["exactref_standard"] or "normal"),
        worse=worse,
        examples=_number(found, "exactref_examples", 1)
        or (THOROUGH_EXAMPLES if thorough else QUICK_EXAMPLES),
        seed=_seed(config, _number(found, "exactref_seed", 0)),
        rows=_number(found, "exactref_rows", 1) or 10,
        flush_to_zero=bool(found["exactref_flush_to_zero"]),
        json=found["exactref_json"] or None,
        cache=found["exactref_cache"] or None,
        cache_limit=_number(found, "exactref_cache_limit", 1) or CACHE_LIMIT,
        html=found["exactref_html"] or None,
        save=SAVE if found["exactref_save"] is None else found["exactref_save"] or None,
        save_limit=_number(found, "exactref_save_limit", 1) or SAVE_LIMIT,
        stated=any(value is not None for value in found.values()),
    )


def _value(config: pytest.Config, key: str) -> Any:
    given = config.getoption(key)
    if given is not None:
        return given
    try:
        return config.getini(key)
    except ValueError as error:
        raise pytest.UsageError(f"{key}: {error}") from None


def _number(found: dict[str, Any], key: str, least: int) -> int | None:
    value = found[key]
    if value is None or value == "":
        return None
    try:
        number = int(value)
    except ValueError:
        raise pytest.UsageError(f"{key}: {value!r} is not an integer") from None
    if number < least:
        raise pytest.UsageError(f"{key}: {number} is less than {least}")
    return number


def _standard(name: str) -> str:
    if name in ("normal", "any_order", "typical"):
        return name
    # Only an unusual name costs the import of the core.
    from exactref_core.registry import standards

    known = standards()
    if name not in known:
        raise pytest.UsageError(f"exactref_standard: {name!r} is none of {', '.join(known)}")
    return name


def _seed(config: pytest.Config, given: int | None) -> int:
    shared = getattr(config, "workerinput", {}).get(SEED_INPUT)
    if shared is not None:
        return int(shared)
    # The system's source: a seeded `random` would give every session the same inputs, and
    # drawing from it would change what the tests themselves draw.
    return random.SystemRandom().randrange(2**32) if given is None else given


def share_seed(node: Any) -> None:
    """Hand the session's seed to an xdist worker that is about to start."""
    node.workerinput[SEED_INPUT] = node.config.stash[KEY].seed


def header(config: pytest.Config) -> str | None:
    """The header line; None for a session that asked for nothing and is not verbose."""
    options = config.stash[KEY]
    if not (options.stated or config.get_verbosity() > 0):
        return None
    thorough = "thorough, " if options.thorough else ""
    flushing = ", flush to zero" if options.flush_to_zero else ""
    cache = f", cache {options.cache}" if options.cache else ""
    return (
        f"exactref: {thorough}standard {options.standard}, worse {options.worse}, "
        f"{options.examples} examples, seed {options.seed}{flushing}{cache}"
    )
