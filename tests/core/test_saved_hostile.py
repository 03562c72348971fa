"""Files that are no saved checks: each is one clear error, and nothing in them is run."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError, UnknownNameError
from exactref_core.saved import read, write
from exactref_core.saved.files import LAYOUT
from tests.core.saved_checks import check_of, steps

F32 = np.float32
THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A file of a small check."""
    write(tmp_path / "check.npz", check_of(er.matmul(np.ones((2, 3), F32), np.ones((3, 2), F32))))
    return tmp_path / "check.npz"


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The file with its JSON changed, and its checksums right."""
    with np.load(path) as found:
        arrays = {name: found[name] for name in found.files}
    data = json.loads(arrays["exactref"].tobytes())
    change(data)
    arrays["exactref"] = np.frombuffer(json.dumps(data).encode(), np.uint8)
    np.savez(path, **arrays)
    return path


def test_a_file_whose_json_is_written_anew_is_read(saved: Path) -> None:
    assert read(rewritten(saved, lambda data: None)).result.shape == (2, 2)


def test_every_truncated_file_is_one_clear_error(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in range(0, len(whole), 1 if THOROUGH else 7):
        saved.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"no saved check, or a damaged one") as failure:
            read(saved)
        assert "\n" not in str(failure.value)


def test_a_flipped_bit_is_an_error_or_changes_nothing(saved: Path) -> None:
    whole = bytearray(saved.read_bytes())
    expected, refused = steps(read(saved).result), 0
    for place in range(8 * len(whole)) if THOROUGH else range(0, 8 * len(whole), 9):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << (place % 8)
        saved.write_bytes(damaged)
        try:
            found = read(saved)
        except InputError:
            refused += 1
        else:
            assert steps(found.result) == expected
            assert found.outputs["output"].tolist() == [[3, 3], [3, 3]]
    assert refused > (4 * len(whole) if THOROUGH else len(whole) // 2)


def test_a_newer_layout_is_refused(saved: Path) -> None:
    rewritten(saved, lambda data: data.update(layout=LAYOUT + 1))
    with pytest.raises(InputError, match=rf"in layout {LAYOUT + 1}; .*install a newer one"):
        read(saved)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.npz: there is no such file"):
        read(tmp_path / "none.npz")
    with pytest.raises(InputError, match="cannot be read: "):
        read(tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK", b"\x93NUMPY", b"text\n" * 99])
def test_foreign_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(InputError, match="is no saved check, or a damaged one"):
        read(tmp_path / "x.npz")


def test_another_npz_file_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.ones(3))
    with pytest.raises(InputError, match=r"an \.npz file of something else"):
        read(tmp_path / "x.npz")


class Trap:
    """Unpickling it raises a flag."""

    sprung = False

    def __reduce__(self) -> Any:
        return setattr, (Trap, "sprung", True)


@pytest.mark.parametrize("name", ["exactref", "0.A"])
def test_pickles_are_never_loaded(name: str, saved: Path) -> None:
    with np.load(saved) as found:
        arrays: dict[str, Any] = {key: found[key] for key in found.files}
    arrays[name] = np.array([Trap()], dtype=object)
    np.savez(saved, **arrays)
    with pytest.raises(InputError, match="no saved check, or a damaged one"):
        read(saved)
    assert not Trap.sprung
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("exactref.npy", pickle.dumps(Trap()))
    with pytest.raises(InputError, match="no saved check, or a damaged one"):
        read(saved)
    assert not Trap.sprung


def test_packed_files_are_refused(saved: Path) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.zeros(10**6, np.uint8))
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("exactref.npy", buffer.getvalue())
    with pytest.raises(InputError, match="is packed"):
        read(saved)


def test_an_array_that_claims_to_be_huge_is_refused(saved: Path) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "|u1", "fortran_order": False, "shape": (10**15,)}
    )
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("exactref.npy", buffer.getvalue())
    with pytest.raises(InputError, match="no saved check, or a damaged one"):
        read(saved)


def call_of(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data["steps"][0]
    return found


HOSTILE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no steps": lambda data: data.update(steps=[]),
    "steps of another type": lambda data: data.update(steps=3),
    "a step of itself": lambda data: call_of(data)["inputs"].update(A={"step": 0}),
    "a step before the first": lambda data: call_of(data)["inputs"].update(A={"step": -1}),
    "a number for a tensor": lambda data: call_of(data)["inputs"].update(A=3),
    "a text for a tensor": lambda data: call_of(data)["inputs"].update(A="os.system"),
    "an array that is not there": lambda data: call_of(data)["inputs"].update(A={"array": "9"}),
    "a value of no kind": lambda data: call_of(data)["parameters"].update(dtype={"eval": "1"}),
    "a class": lambda data: call_of(data)["parameters"].update(dtype={"Path": "/"}),
    "an attribute": lambda data: call_of(data)["parameters"].update(
        dtype={"AttentionAlgorithm": {"dict": [["__class__", 1]]}}
    ),
    "a shape that differs": lambda data: data["arrays"]["0.A"].__setitem__(1, [3, 2]),
    "a format that differs": lambda data: data["arrays"]["0.A"].__setitem__(0, "float64"),
    "a storage of objects": lambda data: data["formats"]["float32"].update(storage="object"),
    "another precision": lambda data: data["formats"]["float32"].update(precision=20),
    "a name of another format": lambda data: data["formats"]["float32"].update(name="float64"),
    "a format without fields": lambda data: data["formats"].update(float32={}),
    "no terms": lambda data: data.pop("terms"),
    "rows that are text": lambda data: data["terms"].update(rows="3"),
    "a standard that is a number": lambda data: data["terms"].update(standard=3),
    "modules that are numbers": lambda data: data.update(modules=[1]),
    "no layout": lambda data: data.pop("layout"),
    "a layout of text": lambda data: data.update(layout="2"),
    "outputs of another type": lambda data: data.update(outputs=[1]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_check_writes_is_refused(name: str, saved: Path) -> None:
    rewritten(saved, HOSTILE[name])
    with pytest.raises(InputError) as failure:
        read(saved)
    assert str(failure.value).startswith(str(saved))
    assert "\n" not in str(failure.value)


def test_deep_nesting_is_refused(saved: Path) -> None:
    with np.load(saved) as found:
        arrays = {key: found[key] for key in found.files}
    text = b"[" * 100_000 + b"]" * 100_000
    np.savez(saved, **{**arrays, "exactref": np.frombuffer(text, np.uint8)})
    with pytest.raises(InputError, match="no saved check, or a damaged one"):
        read(saved)


def test_an_operation_that_is_not_known_is_named(saved: Path) -> None:
    rewritten(saved, lambda data: call_of(data).update(op="matmull"))
    with pytest.raises(UnknownNameError, match=r"no operation is named 'matmull'.*'matmul'"):
        read(saved)


def test_a_write_that_fails_leaves_the_earlier_file(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space left"):
        write(saved, check_of(er.sum(np.ones(3, F32))))
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["check.npz"]


def test_a_folder_that_is_made_is_ignored_by_git(tmp_path: Path) -> None:
    write(tmp_path / "kept" / "check.npz", check_of(er.sum(np.ones(3, F32))))
    assert (tmp_path / "kept" / ".gitignore").read_text() == "*\n"
    write(tmp_path / "check.npz", check_of(er.sum(np.ones(3, F32))))
    assert not (tmp_path / ".gitignore").exists()
