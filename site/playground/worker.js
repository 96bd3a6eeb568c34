// The worker runs Espalier. It answers the last question twice, first with the findings alone, if they were not made
// already, and loads CEL when a definition has rules.
import "wasm_exec.js";
import { run } from "./program.js";

let asked; // the last question
let answered = 0; // the number of the last question that was answered in full
let judge; // the function that asks the program that runs
let isAtWork = false;
let cel = "unloaded";

self.onmessage = ({ data }) => {
  asked = data;
  wake();
  work();
};

// work answers questions until there is no newer one.
async function work() {
  if (isAtWork || !judge) return;
  isAtWork = true;
  while (judge && asked && asked.number !== answered) {
    const { number, request, hasFindings } = asked;
    self.postMessage({ what: "begun" });
    if (!hasFindings && !answer(number, { ...request, brief: true }, false)) break;
    await pause(quiet);
    if (asked.number !== number) continue;
    const whole = answer(number, request, true);
    if (!whole) break;
    answered = number;
    if (whole.rules && !whole.evaluated && request.values && cel === "unloaded") loadCEL();
    await pause(0);
  }
  isAtWork = false;
}

// quiet is how long nothing is to be asked before the rest of an answer is made, in milliseconds: whoever types
// on waits for findings only.
const quiet = 200;

// pause lets messages in that arrive meanwhile.
const pause = (time) => new Promise((resolve) => {
  wake = resolve;
  setTimeout(resolve, time);
});
let wake = () => {};

// answer asks the program. Without an answer, it has panicked.
function answer(number, request, isWhole) {
  const begun = performance.now();
  const made = judge(request);
  if (!made) {
    judge = undefined;
    self.postMessage({ what: "broken", why: "the program ended" });
    return undefined;
  }
  self.postMessage({ what: "answer", number, isWhole, answer: made, took: performance.now() - begun });
  return made;
}

async function loadCEL() {
  cel = "loading";
  try {
    judge = await start("withcel");
    cel = "loaded";
    answered = 0;
    work();
  } catch (err) {
    cel = "unloaded"; // the next question tries again
    self.postMessage({ what: "failed", why: `rules in CEL cannot be evaluated: ${err.message}` });
  }
}

// start loads a program and runs it, and returns the function that asks it.
async function start(name) {
  const module = await WebAssembly.compile(await load(name));
  const ask = await run(module);
  self.postMessage({ what: "progress", name, part: 1 });
  if (name === "plain") self.postMessage({ what: "program", module });
  return ask;
}

// load fetches a program, and says how far it is.
async function load(name) {
  const response = await fetch(`${name}.wasm.gz`);
  if (!response.ok) throw new Error(`${name}.wasm.gz: ${response.status} ${response.statusText}`);
  const size = sizes[name];
  const parts = [];
  let loaded = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    loaded += value.length;
    self.postMessage({ what: "progress", name, part: Math.min(loaded / size, 0.99) });
  }
  const file = new Blob(parts);
  const [a, b] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (a !== 0x1f || b !== 0x8b) return file.arrayBuffer(); // the server has said that it is compressed
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/* global SIZES */
const sizes = SIZES; // of the files, set by the build

start("plain").then(
  (ask) => {
    judge = ask;
    work();
  },
  (err) => self.postMessage({ what: "failed", why: `Espalier cannot be loaded: ${err.message}` }),
);
