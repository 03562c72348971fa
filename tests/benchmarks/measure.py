"""Ratios of medians, growth with the size, and peak memory."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from tests.benchmarks import rows as families
from tests.benchmarks.rows import Row

__all__ = ["growth", "machine", "memory", "table"]

SLOW = 2.0  # seconds from which a peer runs once
MEMORY = """
import re, sys, numpy as np
import exactref as er
def peak():  # of this process alone, which getrusage's is not: it starts from the parent's
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
rng = np.random.default_rng(0)
kind, n = sys.argv[1], int(sys.argv[2])
if kind == "matmul":
    given = [rng.random((n, n), np.float32) for _ in range(2)]
else:
    given = [rng.random(n, np.float32)]
call = getattr(er, kind)
before = peak()
size = call(*given).rounded.data.nbytes
after = peak()
print((after - before) * 1024, sum(x.nbytes for x in given) + size)
"""


def processor() -> str:
    """Return the name of the processor, where Linux tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def machine() -> str:
    """Return where this was measured."""
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "not set")
    return (
        f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, OPENBLAS_NUM_THREADS {threads}.\n"
    )


def seconds(function: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def medians(row: Row, rounds: int) -> tuple[float, dict[str, float]]:
    """Return the medians of the subject and of its peers, in turns."""
    first = {name: seconds(peer) for name, peer in row.peers.items()}
    seconds(row.subject)
    subject: list[float] = []
    peers: dict[str, list[float]] = {name: [value] for name, value in first.items()}
    for _ in range(rounds):
        subject.append(seconds(row.subject))
        for name, peer in row.peers.items():
            if first[name] < SLOW:
                peers[name].append(seconds(peer))
    found = {name: statistics.median(values) for name, values in peers.items()}
    return statistics.median(subject), found


def table(rows: Iterable[Row], rounds: int) -> str:
    """Return the table of ratios as Markdown."""
    lines = ["| reference | ms | peers: ms, ratio | target |", "| --- | --- | --- | --- |"]
    for row in rows:
        own, peers = medians(row, rounds)
        ratios = "; ".join(
            f"{name} {value * 1e3:.3g}, {own / value:.2g}" for name, value in peers.items()
        )
        target, reached = "", False
        if row.target is not None:
            value = own if row.absolute else own / next(iter(peers.values()))
            reached = value <= row.target
            unit = f"{row.target * 1e3:.3g} ms" if row.absolute else f"{row.target:g}"
            target = f"{unit}{'' if reached else ', not met'}"
        lines.append(f"| {row.name} | {own * 1e3:.3g} | {ratios} | {target} |")
    return "\n".join(lines) + "\n"


def growth(sizes: Mapping[str, Sequence[int]], rounds: int) -> str:
    """Return the cost of an element or a multiply-add at several sizes."""
    made = {"matmul": families.products, "sum": families.sums, "exp": families.functions}
    lines = ["| reference | size | ns an element or multiply-add |", "| --- | --- | --- |"]
    for name, each in sizes.items():
        for size in each:
            row = next(made[name](size))
            own, _ = medians(Row(row.name, row.subject), rounds)
            lines.append(f"| {row.name} | {size} | {own / row.work * 1e9:.3g} |")
    return "\n".join(lines) + "\n"


def memory() -> str:
    """Return the peak memory beyond the inputs, each in a process of its own."""
    lines = [
        "| reference | peak MB beyond the inputs | of inputs and output |",
        "| --- | --- | --- |",
    ]
    for kind, size in (("matmul", 4096), ("sum", 10**7), ("exp", 10**7)):
        command = [sys.executable, "-c", MEMORY, kind, str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        used, given = map(int, done.stdout.split())
        lines.append(f"| {kind} {size} float32: rounded | {used / 1e6:.0f} | {used / given:.1f} |")
    return "\n".join(lines) + "\n"
