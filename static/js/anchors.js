/**
 * Places that an address opens at (#turn-3:response.facts[0].price) and the addresses that lead to them. Without script
 * the browser scrolls to the anchor and opens the folds around it; here is what older ones leave out, and what `c` copies.
 *   data-link         on a link or a place: its anchor or address (on a link its href, where the attribute is empty)
 *   data-link-base    around it: the address that shows it whatever the page's own address shows now
 */

export function startAnchors(document) {
  const open = () => reveal(placeOf(document, location.hash));
  addEventListener("hashchange", open);
  open();
}

/** The element that a fragment names, as it is written or decoded; null where there is none. */
export function placeOf(document, hash) {
  const name = hash.slice(1);
  if (!name) return null;
  return document.getElementById(name) ?? document.getElementById(decoded(name));
}

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Open the folds that hide a place and bring it into sight. */
function reveal(place) {
  if (!place || place.checkVisibility()) return;
  for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  place.scrollIntoView({ block: "start" });
}

/** The lasting address of the place that has focus; null where none has a link. */
export function focusedAddress(document) {
  const place = document.activeElement?.closest("[data-link]");
  return place ? lastingAddress(place) : null;
}

/** The address of a place: of a path it asks for the path, so that it is shown even when it no longer differs. */
export function lastingAddress(place) {
  const link = place.dataset.link || place.getAttribute("href");
  if (!link.startsWith("#")) return new URL(link, location.href).href;
  const base = place.closest("[data-link-base]")?.dataset.linkBase;
  const address = new URL(base ?? location.href, location.href);
  const path = link.slice(link.indexOf(":") + 1);
  if (base && link.includes(":") && !path.startsWith("~")) address.search += `&path=${path}`;
  address.hash = link;
  return address.href;
}
