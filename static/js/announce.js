/** Say something in the page's live region: read aloud, shown for a moment, and never moving the page. */

let clearing;

export function announce(text) {
  let region = document.querySelector("[data-announcer]");
  if (!region) {
    region = document.createElement("div");
    region.className = "announcer";
    region.setAttribute("role", "status");
    region.dataset.announcer = "";
    document.body.append(region);
  }
  region.textContent = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => (region.textContent = ""), 4000);
}
