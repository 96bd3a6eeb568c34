// Runs the programs in WebAssembly, in the worker and in the page, by what wasm_exec.js of Go has set up there.

/* global Go */

// run runs a compiled program, and returns the function that asks it: it takes a request and returns the answer,
// or undefined once the program has panicked.
export async function run(module) {
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  await new Promise((resolve, reject) => {
    globalThis.espalierReady = resolve;
    go.run(instance).then(() => reject(new Error("it ended at once")), reject);
  });
  return asker(globalThis.espalierJudge);
}

// asker returns a function that asks judge, and does not say again what the last definition was.
export function asker(judge) {
  let last;
  return (request) => {
    const isSame = request.definition === last;
    last = request.definition;
    let text;
    try {
      text = judge(JSON.stringify(isSame ? { ...request, definition: "", same: true } : request));
    } catch {
      // it has panicked
    }
    return typeof text === "string" ? JSON.parse(text) : undefined;
  };
}
