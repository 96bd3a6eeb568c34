// Links hold what they were made of, and others are refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { fromFragment, maxState, toFragment } from "../playground/link.js";

const state = { definition: "a: é😀\n", object: "{}", stored: "b: 1", validation: "Warn", kep: true, values: false, yaml: true };
const fragment = (value) => `s=${deflateRawSync(JSON.stringify(value)).toString("base64url")}`;

test("a link holds the state", async () => {
  const made = await toFragment({ ...state, object: "x".repeat(100_000) });
  assert.match(made, /^s=[\w-]+$/);
  assert.ok(made.length < 1000);
  assert.deepEqual(await fromFragment(made), { ...state, object: "x".repeat(100_000) });
});

test("an older link has nothing that is stored", async () => {
  const { stored, ...older } = state;
  assert.equal(stored, "b: 1");
  assert.deepEqual(await fromFragment(fragment(older)), { ...state, stored: "" });
});

test("there is no link to what no link may hold", async () => {
  const length = maxState - JSON.stringify({ ...state, object: "" }).length - 4; // é and the smiley have more bytes
  await fromFragment(await toFragment({ ...state, object: "x".repeat(length) }));
  await assert.rejects(toFragment({ ...state, object: "x".repeat(length + 10) }));
});

for (const [name, text] of Object.entries({
  "no base64": "s=!",
  "not compressed": "s=aGVsbG8",
  "no object": fragment(7),
  "no texts": fragment({ ...state, object: 7 }),
  "no text that is stored": fragment({ ...state, stored: 7 }),
  "another validation": fragment({ ...state, validation: "<b>" }),
  "too much": fragment({ ...state, object: "x".repeat(maxState) }),
  "nothing": "s=",
})) {
  test(`a link with ${name} is refused`, () => assert.rejects(fromFragment(text)));
}
