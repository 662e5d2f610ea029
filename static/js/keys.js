/**
 * The one keymap. Declared in markup:
 *   data-key="/"          the key focuses this field, or presses this link or button (the first visible one)
 *   data-key-list         j and k walk its [data-key-item]s; the chosen one carries data-current and its link has focus
 *   data-link             on an item: what c copies (else its first link's address); on what has focus: see anchors.js
 * and by code: onKey("n", handler, { signal }) for keys that a page's own module answers.
 */

import { announce } from "site/announce";
import { focusedAddress } from "site/anchors";

const handlers = new Map();

/** Let `handler(event)` answer a key until the signal aborts; the newest handler of a key wins. */
export function onKey(key, handler, { signal } = {}) {
  const stack = handlers.get(key) ?? [];
  stack.push(handler);
  handlers.set(key, stack);
  signal?.addEventListener("abort", () => stack.splice(stack.indexOf(handler), 1));
}

/** Move the choice in a list by a step and return the chosen item; at an end it stays. */
export function step(list, by) {
  const items = [...list.querySelectorAll("[data-key-item]")].filter(isVisible);
  if (!items.length) return null;
  const now = items.findIndex((item) => "current" in item.dataset);
  const next = now < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, now + by));
  if (now >= 0) delete items[now].dataset.current;
  choose(items[next]);
  return items[next];
}

function choose(item) {
  item.dataset.current = "";
  const link = item.matches("a, button") ? item : item.querySelector("a[href], button");
  link?.focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
}

export function startKeys(document, { clipboard }) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isField(event.target)) event.target.blur();
    if (isTaken(event)) return;
    if (answer(document, event, clipboard)) event.preventDefault();
  });
}

function answer(document, event, clipboard) {
  const handler = handlers.get(event.key)?.at(-1);
  if (handler) return handler(event) !== false;
  const declared = [...document.querySelectorAll(`[data-key="${CSS.escape(event.key)}"]`)];
  const pressed = declared.find(isVisible) ?? unfolded(declared[0]);
  if (pressed) return press(pressed);
  if (event.key === "j" || event.key === "k") return walk(document, event.key === "j" ? 1 : -1);
  return event.key === "c" && clipboard ? copyLink(document, clipboard) : false;
}

function press(element) {
  if (isField(element)) {
    element.focus();
    element.select?.();
  } else {
    element.click();
  }
  return true;
}

/** What lies in a fold is pressed there; in a narrow window the search stands in the folded menu: open it first. */
function unfolded(element) {
  if (element?.closest("a")?.closest("details:not([open])")) return element;
  const menu = element?.closest(".bar-top")?.querySelector(".bar-top__menu");
  if (menu) menu.open = true;
  return menu && isVisible(element) ? element : undefined;
}

function walk(document, by) {
  const list = [...document.querySelectorAll("[data-key-list]")].find(isVisible);
  return list ? step(list, by) !== null : false;
}

function copyLink(document, clipboard) {
  const item = document.querySelector("[data-key-item][data-current]");
  const listed = item?.dataset.link ?? item?.querySelector("a[href]")?.getAttribute("href");
  const address = focusedAddress(document) ?? listed ?? location.href;
  clipboard.writeText(new URL(address, location.href).href).then(
    () => announce("Link copied."),
    () => announce("The browser did not allow copying."),
  );
  return true;
}

function isTaken(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  return isField(event.target) || document.querySelector("dialog[open]") !== null;
}

function isField(element) {
  if (!(element instanceof HTMLElement)) return false;
  if (element instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(element.type);
  return element.isContentEditable || element.matches("textarea, select");
}

function isVisible(element) {
  return element.checkVisibility();
}
