/** Side by side: n and p walk the differences. Without script each is reached by its link in the rail. */

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
}

/** The difference after or before the one that has focus; else the one that the address names; else the first. */
function following(differences, by) {
  const now = differences.findIndex((each) => each === document.activeElement || each.contains(document.activeElement));
  const named = document.getElementById(location.hash.slice(1));
  const at = now >= 0 ? now : differences.findIndex((each) => named && (each === named || each.contains(named)));
  if (at < 0) return differences[by > 0 ? 0 : differences.length - 1];
  return differences[at + by];
}
