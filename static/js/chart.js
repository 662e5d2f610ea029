/**
 * Draw a Plotly figure when it comes into view: data-figure is its address, data-library that of Plotly.
 * Colours named "var(--accent)" become those of the theme (Plotly reads no custom properties), and follow it when it changes; a point whose customdata is an
 * address leads there.
 */

const loads = new Map();
// Plotly brings the style sheet of a map library that we never use, and the CSP refuses it with a console error. It is
// left out where an element with this id is there already (tests/test_chart_library.py checks the id).
const UNWANTED_SHEET = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";
const TOKEN = /^var\((--[a-z-]+)\)$/;

export function start(element, { signal }) {
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    show(element, signal);
  }, { rootMargin: "200px" });
  watcher.observe(element);
  signal.addEventListener("abort", () => watcher.disconnect());
}

async function show(element, signal) {
  try {
    const [answer] = await Promise.all([
      fetch(element.dataset.figure, { headers: { Accept: "application/json" }, signal }),
      load(element.dataset.library),
    ]);
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    await draw(element, await answer.json(), signal);
  } catch {
    if (!signal.aborted) refuse(element);
  }
}

async function draw(element, figure, signal) {
  const paint = () => {
    const { data, layout } = coloured(figure, getComputedStyle(document.documentElement));
    return globalThis.Plotly.react(element, data, layout, { displayModeBar: false, responsive: true });
  };
  await paint();
  element.on("plotly_click", ({ points }) => {
    const address = points[0]?.customdata;
    if (typeof address === "string" && address.startsWith("/")) location.assign(address);
  });
  document.addEventListener("theme-changed", paint, { signal });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint, { signal });
}

/** Return a copy of a figure in which each "var(--name)" is the value of that custom property. */
export function coloured(value, style) {
  if (typeof value === "string") {
    const token = TOKEN.exec(value);
    return token ? style.getPropertyValue(token[1]).trim() : value;
  }
  if (Array.isArray(value)) return value.map((item) => coloured(item, style));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, coloured(item, style)]));
}

function load(address) {
  if (!loads.has(address)) {
    document.head.append(Object.assign(document.createElement("template"), { id: UNWANTED_SHEET }));
    loads.set(address, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = () => reject(new Error("the chart library did not load"));
      document.head.append(script);
    }));
  }
  return loads.get(address);
}

function refuse(element) {
  const text = document.createElement("p");
  text.className = "chart__failed";
  text.textContent = "The chart could not be drawn; the table says the same.";
  element.replaceChildren(text);
}
