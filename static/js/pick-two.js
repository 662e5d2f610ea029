/**
 * Choose two runs of the list and compare them. The older one (lower in the list) becomes the baseline. With a baseline
 * in the tray (data-baseline) one choice is enough. Without script the form sends both and the server puts them in order.
 */

export function start(form, { signal }) {
  const button = form.querySelector("[data-pick-button]");
  const text = form.querySelector("[data-pick-text]");
  const boxes = [...form.querySelectorAll('input[type="checkbox"]')];
  const needed = "baseline" in form.dataset ? 1 : 2;

  const show = () => {
    const chosen = boxes.filter((box) => box.checked);
    for (const box of boxes) box.disabled = chosen.length >= needed && !box.checked;
    button.disabled = chosen.length !== needed;
    text.textContent = sentence(chosen.length, needed);
  };
  form.addEventListener("change", show, { signal });
  addEventListener("pageshow", show, { signal });
  show();
}

function sentence(chosen, needed) {
  if (chosen === needed) return needed === 1 ? "Compares it with the baseline of the tray." : "The older one becomes the baseline.";
  if (needed === 1) return "Choose the candidate.";
  return chosen === 1 ? "Choose one more." : "Choose two runs; the older one becomes the baseline.";
}
