/** Close an open menu (a details element with a .menu inside) by Escape or by a press elsewhere. */

const OPEN = "details[open]:has(> .menu)";

export function startMenus(document) {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = document.querySelector(OPEN);
    if (!open) return;
    open.open = false;
    open.querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", (event) => {
    for (const open of document.querySelectorAll(OPEN)) if (!open.contains(event.target)) open.open = false;
  });
}
