// The verdict map: a picture of each slice, and a cursor that reads out its cells.

const SIDE = { one: 384, several: 260 }; // pixels that a slice's longer side takes at most
const MARGIN = { left: 42, top: 20 };

function cellsOf(runs) {
  return [...runs.matchAll(/(\d+)([.ox])/g)].map(([, n, mark]) => mark.repeat(Number(n))).join("");
}

// Where a cell lies and what it stands for; one axis is read like text, row below row.
function geometry(drawing) {
  const [rows, columns] = drawing.grid;
  const side = drawing.slices.length > 1 ? SIDE.several : SIDE.one;
  const size = (cells) => Math.max(4, Math.min(26, Math.floor(side / cells)));
  const [height, width] = [size(rows), size(columns)];
  const folded = drawing.axes.length < 2;
  return { rows, columns, height, width, folded, gap: Math.min(height, width) >= 8 ? 1 : 0 };
}

function range(cell, step, extent) {
  const [first, last] = [cell * step, Math.min((cell + 1) * step, extent) - 1];
  return first === last ? String(first) : `${first}–${last}`;
}

function indexOf(drawing, slice, cell) {
  const columns = drawing.grid[1];
  const parts =
    drawing.axes.length < 2
      ? [range(cell, drawing.step[1], drawing.extents[0] ?? 1)]
      : [Math.floor(cell / columns), cell % columns].map((place, axis) =>
          range(place, drawing.step[axis], drawing.extents[axis]),
        );
  return slice.label.replaceAll(":", () => parts.shift());
}

function tiles(cells, at) {
  const paths = { normal: "", worse: "", wrong: "" };
  const [width, height] = [at.width - at.gap, at.height - at.gap];
  for (let cell = 0; cell < cells.length; cell += 1) {
    const x = (cell % at.columns) * at.width;
    const y = Math.floor(cell / at.columns) * at.height;
    paths[NAMES[cells[cell]]] += `M${x} ${y}h${width}v${height}h-${width}z`;
  }
  return Object.entries(paths)
    .filter(([, path]) => path)
    .map(([name, path]) => draw("path", { class: name, d: path }));
}

function ticks(count, size, apart, label, place) {
  const every = [1, 2, 4, 8, 16, 32, 64].find((step) => step * size >= apart) ?? 64;
  const marks = [];
  for (let cell = 0; cell < count; cell += every) {
    marks.push(draw("text", place((cell + 0.5) * size), String(label(cell))));
  }
  return marks;
}

function axes(drawing, at) {
  const perRow = at.folded ? at.columns * drawing.step[1] : drawing.step[0];
  const left = (y) => ({ x: -6, y: y + 4, "text-anchor": "end" });
  const top = (x) => ({ x, y: -6, "text-anchor": "middle" });
  return [
    ...ticks(at.rows, at.height, 22, (cell) => cell * perRow, left),
    ...ticks(at.columns, at.width, 40, (cell) => cell * drawing.step[1], top),
  ];
}

const KEYS = {
  ArrowLeft: () => -1,
  ArrowRight: () => 1,
  ArrowUp: (at) => -at.columns,
  ArrowDown: (at) => at.columns,
  Home: (at, cell) => -(cell % at.columns),
  End: (at, cell) => at.columns - 1 - (cell % at.columns),
};

function explore(picture, cursor, readout, at, cells, text) {
  let cell = Math.max(0, [cells.indexOf("x"), cells.indexOf("o")].find((found) => found >= 0) ?? 0);
  const show = (next) => {
    if (next < 0 || next >= cells.length) return;
    cell = next;
    cursor.setAttribute("x", (cell % at.columns) * at.width);
    cursor.setAttribute("y", Math.floor(cell / at.columns) * at.height);
    readout.value = `${text(cell)} ${WORDS[NAMES[cells[cell]]]}`;
  };
  picture.addEventListener("focus", () => show(cell));
  picture.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    show(cell + KEYS[event.key](at, cell));
  });
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const scale = picture.viewBox.baseVal.width / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - MARGIN.left) / at.width);
    const row = Math.floor(((event.clientY - box.top) * scale - MARGIN.top) / at.height);
    if (column >= 0 && column < at.columns) show(row * at.columns + column);
  });
}

function sliceFigure(drawing, slice) {
  const at = geometry(drawing);
  const cells = cellsOf(slice.cells);
  const [width, height] = [at.columns * at.width, at.rows * at.height];
  const cursor = draw("rect", { class: "cursor", width: at.width, height: at.height });
  const counts = ["wrong", "worse"].filter((name) => slice[name])
    .map((name) => `${many(slice[name])} ${WORDS[name]}`).join(", ") || "all normal";
  const view = [width + MARGIN.left + 8, height + MARGIN.top + 4];
  const picture = draw(
    "svg",
    {
      class: "map",
      width: view[0],
      height: view[1],
      viewBox: `0 0 ${view.join(" ")}`,
      tabindex: 0,
      role: "application",
      "aria-roledescription": "verdict map",
      "aria-label": `Slice ${slice.label}: ${counts}. Arrow keys read out the cells.`,
    },
    draw("g", { transform: `translate(${MARGIN.left} ${MARGIN.top})` },
      draw("rect", { class: "frame", x: -1, y: -1, width: width + 2 - at.gap, height: height + 2 - at.gap }),
      ...tiles(cells, at), ...axes(drawing, at), cursor),
  );
  const readout = make("output", { class: "readout", "aria-live": "polite" });
  explore(picture, cursor, readout, at, cells, (cell) => indexOf(drawing, slice, cell));
  return make("figure", {}, picture,
    make("figcaption", {}, ...(/\d/.test(slice.label) ? [make("code", {}, slice.label), " "] : []), counts), readout);
}

function rule(drawing) {
  const elements = drawing.step[0] * drawing.step[1];
  const cell =
    elements === 1
      ? "A cell is an element."
      : `A cell stands for ${times(drawing.axes.length < 2 ? [elements] : drawing.step)} elements and shows the worst verdict among them.`;
  const order =
    drawing.axes.length < 2
      ? drawing.grid[0] > 1 ? " Cells follow each other as words in a text." : ""
      : ` Rows are axis ${drawing.axes[0]}, columns axis ${drawing.axes[1]}.`;
  return cell + order + hidden(drawing);
}

function hidden(drawing) {
  if (!drawing.hidden) return "";
  const more = drawing.hidden === 1 ? " One more slice is" : ` ${many(drawing.hidden)} more slices are`;
  return drawing.hidden_failing
    ? `${more} not shown, ${many(drawing.hidden_failing)} of them with fewer elements that are not normal.`
    : `${more} not shown: all normal.`;
}

function legend() {
  const entry = (name) =>
    make("li", {},
      draw("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" },
        draw("rect", { class: name, width: 10, height: 10, rx: 2 })),
      WORDS[name]);
  return make("ul", { class: "key" }, ...["normal", "worse", "wrong"].map(entry));
}

function verdictMap(drawing) {
  const section = make("section", {}, make("h4", {}, "Verdicts over the tensor"));
  if (!drawing.slices.length) {
    section.append(make("p", { class: "remark" }, "The tensor has no elements."));
    return section;
  }
  const slices = drawing.slices.map((slice) => sliceFigure(drawing, slice));
  section.append(legend(), make("div", { class: "slices" }, ...slices),
    make("p", { class: "rule" }, rule(drawing)));
  return section;
}
