/**
 * The catalogue agent as a command, in JavaScript (Node 18 or later, nothing to install):
 *
 *     evalrunner run SUITE --adapter "command:node command_agent.mjs" …
 *
 * Each line of standard input is a message, each line of standard output its answer with the same `seq`.
 * Nothing but answers may be printed; `console.error` is free.
 */
import { createInterface } from "node:readline";

const products = [
  { id: "desk-lamp", name: "Desk lamp", price: 40 },
  { id: "floor-lamp", name: "Floor lamp", price: 90 },
];
const searches = new Map([
  ["Show available products", products],
  ["Please show available products", products],
  ["Show unavailable products", []],
]);
const wrongSelection = process.argv.includes("--wrong-selection");

/** What the conversation remembers; it is also the checkpoint from which it can go on. */
let state = { offered: [], selected: null };

function search(text) {
  state.offered = searches.get(text);
  if (state.offered.length === 0) {
    return { status: "completed", message: "No products matched.", reason: "no_results" };
  }
  const options = state.offered.map((product) => ({ id: product.id, label: product.name, value: product }));
  return { status: "completed", message: "Choose a product.", interaction: { kind: "choice", options } };
}

function select(index) {
  state.selected = state.offered[wrongSelection ? (index + 1) % state.offered.length : index];
  return { status: "completed", message: `Selected ${state.selected.name}.` };
}

function takeTurn({ text, selection }) {
  if (selection === undefined && !searches.has(text)) {
    return { error: { code: "CATALOGUE_INPUT_UNKNOWN" } };
  }
  if (selection !== undefined && state.offered[selection.optionIndex] === undefined) {
    return { error: { code: "CATALOGUE_SELECTION_UNKNOWN" } };
  }
  const response = selection === undefined ? search(text) : select(selection.optionIndex);
  const facts = state.selected === null ? [] : [{ type: "product.selected", value: state.selected }];
  const observation = { response, checkpoint: { facts }, catalogue: { count: state.offered.length } };
  return { observation, checkpoint: state };
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "open" && message.checkpoint !== undefined) {
    state = message.checkpoint;
  }
  const answer = message.type === "turn" ? takeTurn(message.input) : {};
  process.stdout.write(`${JSON.stringify({ seq: message.seq, ...answer })}\n`);
  if (message.type === "close") {
    break;
  }
}
