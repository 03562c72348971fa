"""The arena's two pictures as SVG: misses against false alarms, and how tight tolerances are."""

from __future__ import annotations

import math
from html import escape

from tests.arena.report import OWN, Data, grouped

WIDTH = 860
INK, FAINT, GRID, PAPER = "#1d2730", "#5d6b78", "#d9dfe4", "#ffffff"
OURS, OTHERS = "#0b7285", "#b4541a"
LEAST = 1e-3  # ratios below are drawn here


def text(x: float, y: float, words: str, anchor: str = "start", color: str = INK) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}"'
    return f"<text {place}>{escape(words)}</text>"


def line(x1: float, y1: float, x2: float, y2: float, color: str = GRID) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"/>'


def frame(height: int, title: str, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" font-size="13" '
        f'font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{PAPER}"/>'
    )
    return "\n".join([head, *parts, "</svg>\n"])


def shares(data: Data) -> list[tuple[str, str, float, float]]:
    """Rule, kind of data, share of false alarms, share of misses."""
    found = []
    for (kind, name), row in grouped(data, "rivals", [0, 1]).items():
        right, broken = row.get("right", 0), row.get("broken", 0)
        if right and broken:
            found.append((name, kind, row["alarms"] / right, row["missed"] / broken))
    return found


def misses(data: Data) -> str:
    """Each rule in two rows of bars: false alarms to the left, misses to the right."""
    points = shares(data)
    names = list(dict.fromkeys(name for name, *_ in points))
    middle, right, step = 540, 570, 44
    height = 96 + step * len(names)
    top = max(max(alarm, miss) for *_, alarm, miss in points)
    width = 220 / max(top, 0.01)
    parts = [
        text(24, 30, "Outputs of right kernels refused, outputs of broken ones accepted"),
        text(middle, 58, "false alarms", "end", FAINT),
        text(right, 58, "misses", color=FAINT),
        text(24, 58, "rule, on plain (upper) and hostile (lower) data", color=FAINT),
    ]
    for row, name in enumerate(names):
        y = 76 + row * step
        own = name in OWN
        color = OURS if own else OTHERS
        parts.append(text(24, y + 20, f"exactref, {name}" if own else name))
        for kind, offset in (("plain", 4), ("hostile", 20)):
            for other, which, alarm, miss in points:
                if (other, which) == (name, kind):
                    shade = 1 if kind == "plain" else 0.55
                    parts += bar(middle, y + offset, -alarm * width, color, shade, alarm)
                    parts += bar(right, y + offset, miss * width, color, shade, miss)
        parts.append(line(24, y + step - 4, WIDTH - 24, y + step - 4))
    return frame(height, "False alarms and misses of each rule", parts)


def bar(x: float, y: float, width: float, color: str, shade: float, share: float) -> list[str]:
    """A bar to the left or to the right, with its share."""
    start = x + min(width, 0)
    side = -4 if width < 0 or (share == 0 and x == 540) else 4
    words = f"{100 * share:.1f} %" if share else "0"
    size = max(abs(width), 1)
    return [
        f'<rect x="{start:.1f}" y="{y:.1f}" width="{size:.1f}" height="13" fill="{color}" '
        f'fill-opacity="{shade}"/>',
        f'<text x="{x + width + side:.1f}" y="{y + 11:.1f}" font-size="11" fill="{FAINT}" '
        f'text-anchor="{"end" if side < 0 else "start"}">{words}</text>',
    ]


def tightness(data: Data) -> str:
    """The worst error over tolerance by operation, under each standard, on a log axis."""
    rows = [(op, row) for (op,), row in grouped(data, "right", [1]).items()]
    left, right, step = 250, WIDTH - 40, 22
    height = 110 + step * len(rows)

    def place(ratio: float) -> float:
        share = math.log10(max(min(ratio, 1.0), LEAST)) / math.log10(LEAST)
        return right - (right - left) * share

    parts = [text(24, 30, "Largest error of a right kernel, as a part of its tolerance")]
    for power in range(4):
        x = place(10.0**-power)
        parts.append(line(x, 60, x, height - 40))
        label = "1" if power == 0 else f"{10.0**-power:g}"
        parts.append(text(x, height - 20, label, "middle", FAINT))
    for name, x, color in (("normal", left, OURS), ("any_order", left + 90, OTHERS)):
        parts += [dot(x, 50, color), text(x + 10, 54, name, color=FAINT)]
    for number, (op, row) in enumerate(rows):
        y = 78 + number * step
        parts.append(text(24, y + 4, op))
        for which, color in (("ratio_any_order", OTHERS), ("ratio_normal", OURS)):
            if row.get(which):  # tolerances of 0 have no ratio
                parts.append(dot(place(row[which]), y, color))
    return frame(height, "Worst error over tolerance by operation", parts)


def dot(x: float, y: float, color: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{color}" fill-opacity="0.85"/>'
