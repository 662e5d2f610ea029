/**
 * A JSON tree: copy a value, its path or its link, and search within. The tools stand beside the member under the pointer or in
 * focus; without script the path is in the tooltip and the text behind "As text".
 */

import { announce } from "site/announce";
import { lastingAddress } from "site/anchors";

export function start(root, { signal }) {
  const tools = makeTools();
  const show = (event) => {
    const item = event.target.closest?.("[data-json-path]");
    if (item && !tools.contains(event.target)) place(tools, item);
  };
  root.addEventListener("pointerover", show, { signal });
  root.addEventListener("focusin", show, { signal });
  tools.addEventListener("click", (event) => copy(event), { signal });
  root.querySelector("[data-json-search]")?.addEventListener("input", (event) => find(root, event.target.value), { signal });
}

const COPIES = {
  value: (item) => ["Value", valueText(item)],
  path: (item) => ["Path", item.dataset.jsonPath],
  link: (item) => ["Link", lastingAddress(linkOf(item))],
};

/** A member's own link stands beside its fold, or is its name. */
function linkOf(item) {
  return item.querySelector(":scope > [data-link]");
}

function makeTools() {
  const tools = document.createElement("span");
  tools.className = "json__tools";
  for (const [what, words] of [["value", "Copy value"], ["path", "Copy path"], ["link", "Copy link"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button--small";
    button.dataset.copy = what;
    button.textContent = words;
    tools.append(button);
  }
  return tools;
}

function place(tools, item) {
  const line = item.querySelector(":scope > details > summary") ?? item;
  tools.querySelector('[data-copy="link"]').hidden = linkOf(item) === null;
  if (tools.parentElement !== line) line.append(tools);
}

function copy(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  event.preventDefault();
  const item = button.closest("[data-json-path]");
  const [words, text] = COPIES[button.dataset.copy](item);
  navigator.clipboard.writeText(text).then(
    () => announce(`${words} copied.`),
    () => announce("The browser did not allow copying."),
  );
}

/** The value as it is shown: a text without its quotation marks, a container by its visible members. */
function valueText(item) {
  const scalar = item.querySelector(":scope > [data-json-value]");
  if (scalar) return scalar.textContent.replace(/^“|”$/g, "");
  return [...item.querySelectorAll("[data-json-value]")]
    .map((value) => `${value.closest("[data-json-path]").dataset.jsonPath}: ${value.textContent}`)
    .join("\n");
}

/** Mark the members whose name or value holds the text, open what holds them, and go to the first. */
function find(root, text) {
  const sought = text.trim().toLowerCase();
  let first = null;
  for (const item of root.querySelectorAll(".json li")) {
    const own = [item.querySelector(":scope > .json__key, :scope > details > summary > .json__key"), item.querySelector(":scope > [data-json-value]")];
    const isFound = sought !== "" && own.some((part) => part?.textContent.toLowerCase().includes(sought));
    item.classList.toggle("is-found", isFound && item.querySelector("ul") === null);
    if (!isFound) continue;
    for (let fold = item.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    first ??= item;
  }
  first?.scrollIntoView({ block: "nearest" });
}
