// An agent as a program that speaks JSON lines, in JavaScript (Node 18 or later, nothing to install).
// It is started anew for each conversation. Nothing but answers may be printed; console.error is free.
import { createInterface } from "node:readline";

const heard = [];

/** Return what the agent says to the last thing that it heard. */
function answer() {
  return heard.at(-1).toUpperCase();
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const reply = { seq: message.seq };
  if (message.type === "turn") {
    heard.push(message.input.text);
    reply.observation = { response: { text: answer() }, heard };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
