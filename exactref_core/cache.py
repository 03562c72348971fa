"""Values kept in files from one run to the next, by a hash of everything they depend on.

A file that is damaged, in whatever way, is as good as none: it begins with the digest of its name
and the rest, so that the file of another key under this one's name is none either.
Files are written under another name and moved into place, so that a reader never sees a part of one
and writers at the same time do not disturb each other.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from exactref_core.errors import InputError

__all__ = ["Cache", "current", "use"]

DIGEST: Final = 32
SUFFIX: Final = ".exactref"
GIBI: Final = 1 << 30

Arrays = Sequence[npt.NDArray[Any]]


class Cache:
    """A folder of values, of at most ``limit`` bytes; those used longest ago go first.

    InputError where the folder cannot be made or written to.
    """

    def __init__(self, folder: str | Path, limit: int = GIBI) -> None:
        self.folder, self.limit = Path(folder), limit
        self.hits = self.misses = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.folder).close()
        except OSError as error:
            raise InputError(f"the cache folder {self.folder} cannot be used: {error}") from None

    def path(self, key: bytes) -> Path:
        """Return the file of a key: of this version of the library, byte for byte."""
        name = hashlib.blake2b(fingerprint() + key, digest_size=20).hexdigest()
        return self.folder / (name + SUFFIX)

    def load(self, key: bytes) -> Arrays | None:
        """Return what was saved under a key, or None."""
        path = self.path(key)
        try:
            found = unpack(path.read_bytes(), path.name)
        except OSError:
            found = None
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        with suppress(OSError):
            os.utime(path)  # used last, now
        return found

    def save(self, key: bytes, arrays: Arrays) -> None:
        """Keep arrays under a key, if they fit; a full disk is no error."""
        data = pack(arrays, self.path(key).name)
        if len(data) > self.limit:
            return
        with suppress(OSError):
            self.make_room(len(data))
            handle, name = tempfile.mkstemp(dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(name).replace(self.path(key))
            except OSError:
                Path(name).unlink(missing_ok=True)

    def make_room(self, size: int) -> None:
        """Delete what was used longest ago until ``size`` bytes more stay within the limit."""
        files = []
        for path in self.folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):  # another process may have deleted it
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        total = sum(length for _, length, _ in files)
        for _, length, path in sorted(files):
            if total + size <= self.limit:
                return
            path.unlink(missing_ok=True)
            total -= length


@cache
def fingerprint() -> bytes:
    """Return a digest of the library's own source: another version has other values."""
    digest = hashlib.blake2b(digest_size=DIGEST)
    home = Path(__file__).parent
    for path in sorted(home.rglob("*.py")):
        digest.update(str(path.relative_to(home)).encode())
        digest.update(path.read_bytes())
    digest.update(np.__version__.encode())
    return digest.digest()


def pack(arrays: Arrays, name: str) -> bytes:
    """Return arrays as bytes, the digest of the rest in front."""
    buffer = io.BytesIO()
    for array in arrays:
        np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    body = buffer.getvalue()
    return digest_of(name, body) + body


def digest_of(name: str, body: bytes) -> bytes:
    """Return the digest of a file."""
    return hashlib.blake2b(name.encode() + body, digest_size=DIGEST).digest()


def unpack(data: bytes, name: str) -> Arrays | None:
    """Return the arrays in bytes, None where they are not what `pack` made for this name."""
    digest, body = data[:DIGEST], data[DIGEST:]
    if digest_of(name, body) != digest:
        return None
    buffer, found = io.BytesIO(body), []
    try:
        while buffer.tell() < len(body):
            found.append(np.lib.format.read_array(buffer, allow_pickle=False))
    except (ValueError, EOFError):  # objects, or what is no array
        return None
    return found


_current: Cache | None = None


def current() -> Cache | None:
    """Return the cache that is in use."""
    return _current


@contextmanager
def use(folder: str | Path | None, limit: int = GIBI) -> Iterator[Cache | None]:
    """Keep references in a folder while the context lasts; None keeps none."""
    global _current
    before = _current
    _current = None if folder is None else Cache(folder, limit)
    try:
        yield _current
    finally:
        _current = before
