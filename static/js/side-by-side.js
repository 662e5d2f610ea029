/**
 * Side by side: n and p walk the differences, and the rail marks the turn that is being read. Without script each
 * difference is reached by its link in the rail, which marks the turn at which the page opened.
 */

import { placeOf } from "site/anchors";
import { onKey } from "site/keys";

export function start(root, { signal }) {
  const walk = (by) => {
    const differences = [...root.querySelectorAll("[data-difference]")];
    const next = following(differences, by);
    if (!next) return false;
    next.scrollIntoView({ block: "start" });
    next.focus({ preventScroll: true });
    history.replaceState(null, "", `#${next.id}`);
    return true;
  };
  onKey("n", () => walk(1), { signal });
  onKey("p", () => walk(-1), { signal });
  follow(root, signal);
}

/** The difference after or before the one that has focus; else the one that the address names; else the first. */
function following(differences, by) {
  const now = differences.findIndex((each) => each === document.activeElement || each.contains(document.activeElement));
  const named = placeOf(document, location.hash);
  const at = now >= 0 ? now : differences.findIndex((each) => named && (each === named || each.contains(named)));
  if (at < 0) return differences[by > 0 ? 0 : differences.length - 1];
  return differences[at + by];
}

/** Mark in the rail the first turn below the heads, and keep it in the rail's own sight. */
function follow(root, signal) {
  const rail = root.querySelector(".sbs__rail");
  const pairs = [...root.querySelectorAll(".pair")];
  const inSight = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) inSight[isIntersecting ? "add" : "delete"](target);
    const link = linkTo(rail, pairs.find((pair) => inSight.has(pair)));
    if (link) mark(rail, link);
  }, { rootMargin: "-30% 0px -50% 0px" });
  pairs.forEach((pair) => observer.observe(pair));
  signal.addEventListener("abort", () => observer.disconnect());
  const opened = rail.querySelector("[aria-current]");
  if (opened) mark(rail, opened);
}

function linkTo(rail, pair) {
  return pair && [...rail.querySelectorAll("a.rail")].find((link) => link.hash === `#${pair.id}`);
}

function mark(rail, link) {
  rail.querySelector("[aria-current]")?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  const top = link.getBoundingClientRect().top - rail.getBoundingClientRect().top;
  if (top < 0 || top > rail.clientHeight - link.offsetHeight) rail.scrollTop += top - rail.clientHeight / 2;
}
