// Building blocks: elements and numbers as text. Strings become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";
const NAMES = { ".": "normal", o: "worse", x: "wrong" };
const WORDS = { normal: "normal", worse: "correct but worse", wrong: "wrong" };

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const make = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

const draw = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

const stored = (id) => JSON.parse(document.getElementById(id).textContent);

const many = (count) => count.toLocaleString("en-US");

const times = (numbers) => numbers.map(many).join(" × ");
