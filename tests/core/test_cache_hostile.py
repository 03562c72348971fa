"""Files of the cache that are not what was saved: each is a miss, and nothing in them is run."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import cache
from exactref_core.arithmetic import remembered
from exactref_core.errors import InputError

KEY, OTHER = b"key", b"other"
SAVED = [np.arange(5.0), np.array([True, False])]


@pytest.fixture
def kept(tmp_path: Path) -> cache.Cache:
    """A cache with one entry."""
    found = cache.Cache(tmp_path)
    found.save(KEY, SAVED)
    return found


def test_every_truncated_file_is_a_miss(kept: cache.Cache) -> None:
    path = kept.path(KEY)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert kept.load(KEY) is None, length
    path.write_bytes(whole + b"\0")
    assert kept.load(KEY) is None
    path.write_bytes(whole)
    assert [x.tolist() for x in kept.load(KEY) or ()] == [x.tolist() for x in SAVED]


def test_every_flipped_bit_is_a_miss(kept: cache.Cache) -> None:
    path = kept.path(KEY)
    whole = path.read_bytes()
    for place in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << (place % 8)
        assert cache.unpack(bytes(damaged), path.name) is None, place


def test_the_file_of_another_key_is_a_miss(kept: cache.Cache) -> None:
    """As where files were renamed, restored or linked by somebody."""
    shutil.copy(kept.path(KEY), kept.path(OTHER))
    assert kept.load(OTHER) is None
    assert kept.load(KEY) is not None


class Trap:
    """Unpickling it raises a flag."""

    sprung = False

    def __reduce__(self) -> Any:
        return setattr, (Trap, "sprung", True)


def test_objects_are_never_loaded(kept: cache.Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even from a file whose digest was made for it."""
    path, body = kept.path(KEY), pickle.dumps(Trap())
    path.write_bytes(cache.digest_of(path.name, body) + body)
    assert kept.load(KEY) is None
    write = np.lib.format.write_array
    monkeypatch.setattr(np.lib.format, "write_array", lambda f, x, **_: write(f, x))
    path.write_bytes(cache.pack([np.array([Trap()], dtype=object)], path.name))
    assert kept.load(KEY) is None
    assert not Trap.sprung


def test_a_folder_that_goes_away_or_takes_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "LEAST_CELLS", 0)
    monkeypatch.setattr(remembered, "LEAST_SECONDS", 0.0)
    x = np.float32([0.1, 0.2, 0.7])
    expected = er.sum(x).tolerance().tolist()
    folder = tmp_path / "kept"
    with cache.use(folder):
        shutil.rmtree(folder)
        assert er.sum(x).tolerance().tolist() == expected
        folder.write_text("")
        assert er.sum(x).tolerance().tolist() == expected


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="another system's permissions")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o555)
    if os.geteuid() == 0:  # who may write everywhere but to the kernel's own files
        folder = Path("/proc/self")
    if not folder.exists():
        pytest.skip("no folder that root may not write to")
    with pytest.raises(InputError, match=r"cache folder .* cannot be used"), cache.use(folder):
        pass
