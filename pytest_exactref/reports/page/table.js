// The table: sorting, filtering, and opening a check. A check is drawn when it is first opened.

const table = document.getElementById("table");
const scale = stored("scale");
const words = new Intl.Collator("en", { numeric: true });
const heads = [...table.tHead.rows[0].cells];
const checks = [...table.tBodies].map((body) => {
  const cells = [...body.rows[0].cells];
  return {
    body,
    verdict: body.dataset.verdict,
    words: cells.map((cell) => cell.textContent).join(" ").toLowerCase(),
    keys: cells.map((cell) =>
      cell.dataset.key === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.key)),
  };
});

function toggle(body, open) {
  const button = body.querySelector(".open");
  let row = body.rows[1];
  if (open && !row) {
    const holder = make("td", { role: "cell", "aria-colspan": heads.length },
      detailOf(stored(`data-${body.id}`), scale, body.id));
    row = make("tr", { id: `${body.id}-detail`, class: "opened", role: "row" }, holder);
    button.setAttribute("aria-controls", row.id);
    body.append(row);
  }
  if (row) row.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
}

function openFromAddress() {
  const body = document.getElementById(location.hash.slice(1));
  if (!body?.classList.contains("check")) return;
  toggle(body, true);
  body.querySelector(".open").focus();
}

function sort(column) {
  const ascending = heads[column].getAttribute("aria-sort") === heads[column].dataset.first
    ? heads[column].dataset.first === "descending"
    : heads[column].dataset.first === "ascending";
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const sign = ascending ? 1 : -1;
  checks.sort(({ keys: { [column]: a } }, { keys: { [column]: b } }) =>
    sign * (typeof a === "string" ? words.compare(a, b) : a === b ? 0 : a < b ? -1 : 1));
  const open = document.activeElement;
  table.append(...checks.map(({ body }) => body));
  open?.focus();
}

function filter() {
  const typed = document.getElementById("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const verdicts = new Set([...document.querySelectorAll("fieldset input:checked")].map((box) => box.value));
  let shown = 0;
  for (const check of checks) {
    const fits = verdicts.has(check.verdict) && typed.every((word) => check.words.includes(word));
    if (check.body.hidden === fits) check.body.hidden = !fits;
    shown += fits;
  }
  document.getElementById("shown").value =
    shown === checks.length ? `${many(shown)} checks` : `${many(shown)} of ${many(checks.length)} checks`;
  document.getElementById("nothing").hidden = shown > 0;
}

table.addEventListener("click", ({ target }) => {
  const head = target.closest("thead th");
  if (head) return sort(heads.indexOf(head));
  const button = target.closest(".open");
  if (button) toggle(button.closest("tbody"), button.getAttribute("aria-expanded") !== "true");
});
document.querySelector(".tools").addEventListener("input", filter);
document.querySelector(".tools").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", openFromAddress);

filter(); // a browser may have kept what was typed before a reload
const failing = table.querySelector('tbody[data-fails="true"]');
if (failing && !location.hash) toggle(failing, true);
openFromAddress();
