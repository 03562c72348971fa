// What opens under a check: its pictures, its worst elements, and how to run it again.

function sentence(check) {
  const shape = `(${check.shown.shape.join(", ")}${check.shown.shape.length === 1 ? "," : ""})`;
  const { wrong, worse, normal } = check.shown;
  return `${check.op} in ${check.dtype}, shape ${shape}, judged under ${check.standard}: ${many(wrong)} wrong, ${many(worse)} correct but worse, ${many(normal)} normal.`;
}

function whichExample(check) {
  const judged = check.examples === 1 ? "1 example was" : `${many(check.examples)} examples were`;
  if (check.drawn && check.shown.fails) {
    return `Shown is the failing example after shrinking. ${judged} judged up to the failure, and counted in the table and the histogram.`;
  }
  if (check.examples === 1) return "";
  const examples = check.drawn ? "examples" : "calls of check";
  if (!check.shown.fails) {
    return `Shown is the one with the largest error/tolerance of ${many(check.examples)} ${examples}.`;
  }
  return `Shown is the worst of ${many(check.examples)} calls of check.`;
}

function worstElements({ rows, wrong, worse }) {
  if (rows.length < 2) return [];
  const [heads, ...elements] = rows;
  const cell = (text, place) =>
    place === 0 ? make("th", { scope: "row" }, text) : make("td", {}, text);
  const hidden = wrong + worse - elements.length;
  return [
    make("h4", {}, "Worst elements"),
    make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Worst elements" },
      make("table", { class: "elements" },
        make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
        make("tbody", {}, ...elements.map((row) => make("tr", {}, ...row.map(cell)))))),
    ...(hidden > 0 ? [make("p", { class: "remark" }, `and ${many(hidden)} more`)] : []),
  ];
}

function runAgain(lines) {
  const entries = lines.flatMap(([name, line]) => [
    make("dt", {}, name),
    make("dd", {}, make("pre", {}, line)),
  ]);
  return [make("h4", {}, "Run it again"), make("dl", { class: "run" }, ...entries)];
}

function detailOf(check, scale, id) {
  const heading = make("h3", { id: `${id}-title` }, check.title);
  const body = [heading];
  if (check.shown) {
    const noun = check.drawn ? "example" : "call";
    const examples = check.examples === 1 ? `one ${noun}` : `${many(check.examples)} ${noun}s`;
    body.push(make("p", {}, sentence(check)),
      ...[whichExample(check), ...check.remarks].filter(Boolean)
        .map((remark) => make("p", { class: "remark" }, remark)),
      make("div", { class: "figures" }, verdictMap(check.shown.drawing),
        histogramOf(check.histogram, check.standard, scale, examples)),
      ...worstElements(check.shown));
  }
  body.push(...runAgain(check.again));
  return make("article", { class: "detail", "aria-labelledby": `${id}-title` }, ...body);
}
