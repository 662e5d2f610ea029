/** Open the help page as a dialog when its link is pressed; without script the link leads to the page. */

export function startHelp(document) {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("[data-help]") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(document, link);
  });
}

async function open(document, link) {
  const answer = await fetch(link.href, { headers: { "HX-Request": "true" } });
  if (!answer.ok) return location.assign(link.href);
  const dialog = make(document, await answer.text());
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.showModal();
}

function make(document, content) {
  const dialog = document.createElement("dialog");
  dialog.className = "dialog";
  dialog.setAttribute("aria-labelledby", "help-title");
  const parsed = new DOMParser().parseFromString(content, "text/html");
  dialog.innerHTML =
    '<div class="dialog__head"><h2 id="help-title">Keys and signs</h2>' +
    '<form method="dialog"><button class="button button--small">Close</button></form></div>';
  dialog.append(...parsed.body.childNodes);
  return dialog;
}
