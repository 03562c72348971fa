"""Saved checks as .npz files: arrays as numpy.load reads them, all else as JSON in one of them.

Formats that numpy has not are kept as the unsigned integers of their bits. Reading runs nothing:
arrays hold no objects, the JSON names operations and formats, which are looked up among those
that are known, and modules, which are not imported.
"""

from __future__ import annotations

import json
import secrets
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from exactref_core.array import Array
from exactref_core.errors import DTypeError, InputError, UnknownNameError
from exactref_core.formats.codec import storage_dtype
from exactref_core.formats.format import Format
from exactref_core.saved.check import SavedCheck, from_data, read_format, to_data
from exactref_core.saved.plain import NotPlain

__all__ = ["LAYOUT", "read", "unsaved", "write"]

LAYOUT: Final = 1  # raised when a reader of an earlier one would misread
DATA: Final = "exactref"  # the array that holds the JSON
DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    MemoryError,
    RuntimeError,  # of deep nesting, or of an archive that asks for a password
)


def unsaved(check: SavedCheck, limit: int) -> str:
    """Return why a check cannot be saved in a file of about ``limit`` bytes; "" where it can."""
    try:
        _, arrays = to_data(check)
    except NotPlain as error:
        return str(error)
    size = sum(array.data.nbytes for array in arrays.values())
    if size > limit:
        return f"its tensors take {size / 1e6:.0f} MB, more than {limit / 1e6:.0f} MB"
    return ""


def write(path: Path, check: SavedCheck) -> None:
    """Write a check; its folder is made where there is none.

    The file is written under another name and moved into place: a reader never sees a part of it.
    A folder that is made gets a .gitignore for its files. NotPlain where a parameter is of a kind
    that files do not hold, OSError where the file cannot be written.
    """
    data, arrays = to_data(check)
    text = json.dumps({"layout": LAYOUT, **data}, allow_nan=False)
    if not path.parent.exists():
        path.parent.mkdir(parents=True)
        (path.parent / ".gitignore").write_text("*\n")
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file, zipfile.ZipFile(file, "w") as archive:
            write_array(archive, DATA, np.frombuffer(text.encode(), np.uint8))
            for key, array in arrays.items():
                write_array(archive, key, array.data.view(file_dtype(array.format)))
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    """Add an array to an archive."""
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
        np.lib.format.write_array(entry, array, allow_pickle=False)


def file_dtype(form: Format) -> np.dtype[Any]:
    """Return the dtype that a format has in files: numpy's own, or the bits as integers."""
    dtype = storage_dtype(form)
    return dtype if dtype.isbuiltin == 1 else np.dtype(f"u{dtype.itemsize}")


def read(path: Path) -> SavedCheck:
    """Read a check.

    InputError, one line, for a file that is missing, damaged, of another kind or of a newer layout;
    UnknownNameError where the operation is not known here.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            data = read_data(archive, path)
            return from_data(data, read_arrays(archive, data))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except Refused as error:
        raise InputError(str(error)) from None
    except UnknownNameError as error:
        raise UnknownNameError(f"{path}: {error}") from None
    except DAMAGE as error:
        raise InputError(f"{path} is no saved check, or a damaged one: {reason(error)}") from None


class Refused(Exception):
    """What is wrong with a file, in words for its user."""


def reason(error: BaseException) -> str:
    """Return what an error says, in one line of limited length."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = f"{type(error).__name__} {text}" if isinstance(error, KeyError) else text
    return text if len(text) <= 200 else text[:200] + "..."


def read_data(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """Return the JSON of a file; `Refused` where its layout is newer."""
    if f"{DATA}.npy" not in archive.namelist():
        raise Refused(f"{path} is no saved check: an .npz file of something else")
    found = json.loads(read_array(archive, DATA).tobytes())
    if not isinstance(found, dict):
        raise TypeError("its data is no object")
    if type(found["layout"]) is not int or found["layout"] < 1:
        raise ValueError(f"it has no layout {found['layout']!r}")
    if found["layout"] > LAYOUT:
        raise Refused(
            f"{path} was written by another version of exactref, in layout {found['layout']}; "
            f"this version reads layouts up to {LAYOUT}: install a newer one"
        )
    return found


def read_arrays(archive: zipfile.ZipFile, data: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays that the data names; ValueError where one is another than it says."""
    found = {}
    for key, (name, shape) in data["arrays"].items():
        form = read_format(data, name)
        array = read_array(archive, key)
        if list(array.shape) != shape or array.dtype.newbyteorder("=") != file_dtype(form):
            raise ValueError(f"array {key!r} is not of {name} {shape}")
        native = np.ascontiguousarray(array, file_dtype(form)).reshape(array.shape)
        found[key] = Array(native.view(storage_dtype(form)), form)
    return found


def read_array(archive: zipfile.ZipFile, key: str) -> npt.NDArray[Any]:
    """Return an array of numbers, of no more bytes than its file has."""
    info = archive.getinfo(f"{key}.npy")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ValueError(f"array {key!r} is packed")
    with archive.open(info) as entry:
        array: npt.NDArray[Any] = np.lib.format.read_array(entry, allow_pickle=False)
        if array.nbytes > info.file_size or entry.read(1):
            raise ValueError(f"array {key!r} is not as long as it says")
    if array.dtype.kind not in "biufc":
        raise DTypeError(f"array {key!r} holds no numbers")
    return array
