/**
 * Starts a module for each element that asks for one: <div data-module="pick-two"> gets pick-two.js, whose
 * `start(element, { signal })` improves it. Parts that htmx swaps in are started too; the signal aborts when they go.
 * Once all modules of the page have started, <html> carries `data-started`: every key and button is heard from then on.
 */

import { startAnchors } from "site/anchors";
import { startKeys } from "site/keys";
import { startHelp } from "site/help";
import { startMenus } from "site/menus";

const controllers = new WeakMap();

async function startOne(element) {
  if (controllers.has(element)) return;
  const controller = new AbortController();
  controllers.set(element, controller);
  for (const name of element.dataset.module.split(/\s+/).filter(Boolean)) {
    const { start } = await import(`site/${name}`);
    if (!controller.signal.aborted) start(element, { signal: controller.signal });
  }
}

function modulesOf(root) {
  const inside = [...root.querySelectorAll("[data-module]")];
  return root instanceof Element && root.matches("[data-module]") ? [root, ...inside] : inside;
}

startAnchors(document);
startKeys(document, { clipboard: navigator.clipboard });
startHelp(document);
startMenus(document);
Promise.allSettled(modulesOf(document).map(startOne)).then(() => {
  document.documentElement.dataset.started = "";
});
document.addEventListener("htmx:load", (event) => modulesOf(event.detail.elt).forEach(startOne));
document.addEventListener("htmx:beforeCleanupElement", (event) => {
  const gone = event.detail.elt;
  if (gone instanceof Element) modulesOf(gone).forEach((element) => controllers.get(element)?.abort());
});
