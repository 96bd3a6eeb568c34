// A link holds all that the page shows, compressed, in its fragment, which no server sees.

// The longest state that a link may hold, in bytes, because links come from strangers.
export const maxState = 2 << 20;

// toFragment returns the fragment for a state, or throws an error that says why there is none.
export async function toFragment(state) {
  const blob = new Blob([JSON.stringify(state)]);
  if (blob.size > maxState) throw new Error("it would hold too much");
  const text = blob.stream();
  const bytes = new Uint8Array(await new Response(text.pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer());
  let binary = "";
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return "s=" + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// fromFragment returns the state of a fragment, or throws an error that says why there is none.
export async function fromFragment(fragment) {
  const text = fragment.replace(/^s=/, "").replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > maxState) {
      await reader.cancel();
      throw new Error("it holds too much");
    }
    parts.push(value);
  }
  return checked(JSON.parse(await new Blob(parts).text()));
}

// checked returns what is known of a state, if it has the right types.
function checked(state) {
  const { definition, object, stored = "", validation, kep, values, yaml } = state ?? {};
  if (typeof definition !== "string" || typeof object !== "string" || typeof stored !== "string") throw new Error("it has no texts");
  if (!["Ignore", "Warn", "Strict"].includes(validation)) throw new Error("it has no validation");
  return { definition, object, stored, validation, kep: kep === true, values: values === true, yaml: yaml === true };
}
