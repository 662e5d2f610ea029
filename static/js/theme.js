/** Change the theme at once and store it for the reader; without script the form posts and the page comes back. */

export function start(form, { signal }) {
  form.addEventListener("submit", (event) => {
    const chosen = event.submitter;
    if (!chosen) return;
    event.preventDefault();
    apply(form, chosen);
    const body = new FormData(form, chosen);
    fetch(form.action, { method: "POST", body, headers: { "X-Requested-With": "fetch" } });
  }, { signal });
}

function apply(form, chosen) {
  const root = document.documentElement;
  if (chosen.value) root.dataset.theme = chosen.value;
  else delete root.dataset.theme;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === chosen));
  form.closest("details").open = false;
  document.dispatchEvent(new CustomEvent("theme-changed"));
}
