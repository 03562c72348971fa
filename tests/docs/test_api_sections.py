"""The page of the Python interface has every public name, and docstrings become Markdown."""

from __future__ import annotations

import exactref
from tests.docs.api_sections import found, names
from tests.docs.docstrings import markdown


def test_every_public_name_is_on_the_page() -> None:
    listed = {name for part in names().values() for name in part}
    assert set(exactref.HOMES) <= listed
    assert {f"strategies.{name}" for name in exactref.strategies.__all__} <= listed
    assert all((found(name).__doc__ or "").strip() for name in listed)


def test_a_docstring_becomes_paragraphs_and_lists() -> None:
    doc = """One ``x`` to the 2**k.

        Two lines
        of a paragraph.

        Args:
            x: an array,
                of two lines.
            a, b: numbers.
        """
    assert markdown(doc) == (
        "One `x` to the 2\\*\\*k.\n\nTwo lines\nof a paragraph.\n\n"
        "Arguments:\n\n- `x`: an array, of two lines.\n- `a, b`: numbers."
    )
