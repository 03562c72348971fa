// The histogram of error/tolerance: one strip for each verdict, both axes logarithmic.

const BAR = 13; // pixels of an octave
const STRIP = 78;
const PLOT = 52;
const ASIDE = 12; // the gap before the bins of 0 and of infinity
const EDGE = 46;
const RAISED = Object.fromEntries([..."-0123456789"].map((digit, place) => [digit, [..."⁻⁰¹²³⁴⁵⁶⁷⁸⁹"][place]]));

function binsAt({ lowest, highest }) {
  const octaves = highest - lowest;
  const at = (power) => EDGE + BAR + ASIDE + BAR + (power - lowest) * BAR;
  const left = (bin) => {
    if (bin === 0) return EDGE;
    if (bin === octaves + 3) return at(highest) + BAR + ASIDE;
    return at(lowest + bin - 2);
  };
  return { at, left, count: octaves + 4, right: left(octaves + 3) + BAR, last: octaves + 3 };
}

function named(bin, { lowest, highest }) {
  const power = (exponent) => (2 ** exponent).toPrecision(3).replace(/\.?0+$|\.?0+(?=e)/, "");
  if (bin === 0) return "0";
  if (bin === 1) return `up to ${power(lowest)}`;
  if (bin === highest - lowest + 2) return `above ${power(highest)}, finite`;
  if (bin === highest - lowest + 3) return "infinite";
  return `${power(lowest + bin - 2)} to ${power(lowest + bin - 1)}`;
}

function strip(name, counts, top, most, bins, scale) {
  const height = (count) => (PLOT * Math.log2(1 + count)) / Math.log2(1 + most);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const base = top + STRIP - 4;
  const group = draw("g", {},
    draw("text", { class: "strong", x: EDGE, y: top + 14 }, `${WORDS[name]}: ${many(total)}`));
  for (let power = 1; power <= most; power *= 10) {
    const y = base - height(power);
    group.append(draw("path", { class: "grid", d: `M${EDGE} ${y}H${bins.right}` }));
    if (power === 1 || power * 10 > most || most < 2000) {
      group.append(draw("text", { x: EDGE - 6, y: y + 4, "text-anchor": "end" }, many(power)));
    }
  }
  counts.forEach((count, bin) => {
    if (!count) return;
    const box = { x: bins.left(bin) + 0.5, y: base - height(count), width: BAR - 1, height: height(count) };
    group.append(draw("rect", { class: name, ...box },
      draw("title", {}, `${named(bin, scale)}: ${many(count)} ${WORDS[name]}`)));
  });
  group.append(draw("path", { class: "axis", d: `M${EDGE} ${base}H${bins.right}` }));
  return group;
}

function powerOfTen(power) {
  if (Math.abs(power) <= 2) return String(Number(`1e${power}`));
  return `10${[...String(power)].map((digit) => RAISED[digit]).join("")}`;
}

function scaleTexts(base, bins, { lowest, highest }) {
  const texts = [];
  const label = (x, text) => texts.push(draw("text", { x, y: base + 15, "text-anchor": "middle" }, text));
  label(bins.left(0) + BAR / 2, "0");
  label(bins.left(bins.last) + BAR / 2, "∞");
  for (let power = -30; power <= 30; power += 1) {
    const octave = power * Math.log2(10);
    if (octave < lowest || octave > highest) continue;
    texts.push(draw("path", { class: "axis", d: `M${bins.at(octave)} ${base}v4` }));
    label(bins.at(octave), powerOfTen(power));
  }
  return texts;
}

function countsTable(histogram, kinds, scale) {
  const heads = ["error/tolerance", ...kinds.map((kind) => WORDS[kind.name])];
  const rows = histogram[0].map((_, bin) => bin).filter((bin) => histogram.some((row) => row[bin]));
  return make("details", {}, make("summary", {}, "The counts"),
    make("table", { class: "elements" },
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...rows.map((bin) =>
        make("tr", {}, make("th", { scope: "row" }, named(bin, scale)),
          ...kinds.map((kind) => make("td", {}, many(kind.counts[bin]))))))));
}

function histogramOf(histogram, standard, scale, examples) {
  const section = make("section", {}, make("h4", {}, "Error in units of the tolerance"));
  const kinds = Object.keys(WORDS)
    .map((name, kind) => ({ name, counts: histogram[kind] }))
    .filter(({ counts }) => counts.some(Boolean));
  if (!kinds.length) {
    section.append(make("p", { class: "remark" }, "No element was judged."));
    return section;
  }
  const bins = binsAt(scale);
  const most = Math.max(...kinds.flatMap(({ counts }) => counts));
  const base = 16 + kinds.length * STRIP - 4;
  const [width, height] = [bins.right + 12, base + 36];
  const limit = bins.at(0);
  const words = kinds.map(({ name, counts }) => `${many(counts.reduce((a, b) => a + b, 0))} ${WORDS[name]}`);
  section.append(make("figure", {},
    draw("svg", {
      class: "histogram", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `Histogram of error/tolerance: ${words.join(", ")}; the counts are below`,
    },
      ...kinds.map(({ name, counts }, place) => strip(name, counts, 16 + place * STRIP, most, bins, scale)),
      ...scaleTexts(base, bins, scale),
      draw("path", { class: "limit", d: `M${limit} 14V${base}` }),
      draw("text", { class: "strong", x: limit, y: 10, "text-anchor": "middle" }, "tolerance"),
      draw("text", { x: (bins.left(0) + bins.right) / 2, y: base + 32, "text-anchor": "middle" },
        `error / tolerance under ${standard}`)),
    make("figcaption", {}, `All elements of ${examples}; both axes are logarithmic. Not every element left of 1 is covered: outputs can be bounded more closely on one side.`)),
  countsTable(histogram, kinds, scale));
  return section;
}
