"""Scripts that the tests of the HTML report run in the page: what is measured, not judged."""

from __future__ import annotations

# Every text that is shown, with its contrast to what lies behind it, as WCAG 2 defines it.
CONTRASTS = """
const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const behind = (node) => {
  for (; node; node = node.parentElement) {
    const color = parse(getComputedStyle(node).backgroundColor);
    if (color.length < 4 || color[3] === 1) return color;
    if (color[3] !== 0) throw new Error("a background that shines through");
  }
  throw new Error("nothing lies behind");
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || node.closest("script, style, title, noscript")) continue;
  if (!node.checkVisibility()) continue;
  const style = getComputedStyle(node);
  const front = parse(node.namespaceURI.endsWith("svg") ? style.fill : style.color);
  const [a, b] = [luminance(front), luminance(behind(node))].sort((x, y) => y - x);
  found.push([walker.currentNode.data.trim().slice(0, 40), (a + 0.05) / (b + 0.05)]);
}
return found;
"""
# Milliseconds that an action takes with the layout that follows from it.
TIMED = """
const start = performance.now();
(() => { %s })();
document.documentElement.getBoundingClientRect();
return performance.now() - start;
"""
LOADED = "const [it] = performance.getEntriesByType('navigation'); return it.loadEventEnd"
