/** Arrow keys move between the cells of a grid; what is not a cell and what is folded is stepped over. */

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export function start(box, { signal }) {
  box.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const cell = event.target.closest?.("td");
    if (!step || !cell || !event.target.matches(".cell")) return;
    const next = neighbour(cell, step);
    if (!next) return;
    event.preventDefault();
    next.focus();
  }, { signal });
}

function neighbour(cell, [down, right]) {
  const rows = [...cell.closest("table").rows].filter((row) => row.getClientRects().length > 0);
  let at = rows.indexOf(cell.parentElement);
  let place = cell.cellIndex;
  for (;;) {
    at += down;
    place += right;
    const found = rows[at]?.cells[place];
    if (!found || found.tagName !== "TD") return null;
    const link = found.querySelector(".cell");
    if (link) return link;
  }
}
