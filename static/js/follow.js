/**
 * Keeps the newest entry of a growing list in sight while its switch is on. Scrolling back by hand turns it off,
 * scrolling to the end on again. The list never holds more than `longest` entries.
 */

const NEAR_END = 24; // pixels

export function start(root, { signal, longest = 500 }) {
  const list = root.querySelector("[data-follow-list]");
  const follow = root.querySelector("[data-follow]");
  const toEnd = () => list.scrollTo({ top: list.scrollHeight });
  const isAtEnd = () => list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END;

  const observer = new MutationObserver(() => {
    while (list.childElementCount > longest) list.firstElementChild.remove();
    if (follow.checked) toEnd();
  });
  observer.observe(list, { childList: true });
  signal.addEventListener("abort", () => observer.disconnect());
  follow.addEventListener("change", () => follow.checked && toEnd(), { signal });
  list.addEventListener("wheel", () => requestAnimationFrame(() => { follow.checked = isAtEnd(); }), { signal, passive: true });
  list.addEventListener("keyup", () => { follow.checked = isAtEnd(); }, { signal });
  toEnd();
}
