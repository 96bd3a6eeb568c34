// What is judged in the page: keystrokes in objects, where the worker was quick.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Instant, longest, slowest } from "../playground/instant.js";
import { asker } from "../playground/program.js";

const request = (object, more = {}) => ({ definition: "d", object, stored: "", kep: false, values: false, ...more });
const none = { rules: false, faults: [] };

// begin returns an Instant whose program takes as long as the test says, with what it was asked.
function begin(took = { ms: 1 }) {
  const asked = [];
  let time = 0;
  const instant = new Instant((then) => then(), () => time);
  instant.start((r) => {
    time += took.ms;
    asked.push(r.object);
    return took.isBroken ? undefined : { findings: r.object };
  });
  return { instant, asked };
}

test("a definition that the worker has judged in time is judged in the page", () => {
  const { instant, asked } = begin();
  assert.equal(instant.answer(request("a")), undefined);
  instant.learn(request("a"), none, slowest);
  assert.deepEqual(asked, ["a"], "it is compiled before it is needed");
  assert.deepEqual(instant.answer(request("ab")), { findings: "ab" });
  for (const other of [{ definition: "e" }, { kep: true }, { values: true }]) assert.equal(instant.answer(request("ab", other)), undefined);
});

for (const [name, [object, findings, took, more]] of Object.entries({
  "a slow definition": ["a", none, slowest + 1],
  "a long object": ["a".repeat(longest + 1), none, 1],
  "a long stored object": ["a", none, 1, { stored: "a".repeat(longest) }],
  "rules to be evaluated": ["a", { rules: true, faults: [] }, 1, { values: true }],
  "rules with faults": ["a", { rules: true, faults: ["f"] }, 1],
})) {
  test(`the worker judges ${name}`, () => {
    const { instant, asked } = begin();
    instant.learn(request(object, more), findings, took);
    assert.equal(instant.answer(request(object, more)), undefined);
    assert.deepEqual(asked, []);
  });
}

test("rules that are not evaluated do not matter", () => {
  const { instant } = begin();
  instant.learn(request("a"), { rules: true, faults: [] }, 1);
  assert.ok(instant.answer(request("a")));
});

test("what is slow again and again, or very slow, comes from a link or breaks goes to the worker again", () => {
  const took = { ms: 1 };
  const { instant } = begin(took);
  instant.learn(request("a"), none, 1);
  for (const ms of [1, 3 * slowest, 1, slowest, slowest, slowest, slowest]) {
    took.ms = ms;
    assert.ok(instant.answer(request("a")));
  }
  assert.equal(instant.answer(request("a")), undefined);
  took.ms = 1;
  instant.learn(request("a"), none, 1);
  took.ms = 4 * slowest;
  assert.ok(instant.answer(request("a")));
  assert.equal(instant.answer(request("a")), undefined);
  took.ms = 1;
  instant.learn(request("a"), none, 1);
  instant.forget();
  assert.equal(instant.answer(request("a")), undefined);
  instant.learn(request("a"), none, 1);
  assert.ok(instant.answer(request("a")));
  took.isBroken = true;
  assert.equal(instant.answer(request("a")), undefined);
  instant.learn(request("a"), none, 1);
  assert.equal(instant.answer(request("a")), undefined);
});

test("before the program is there, the worker judges", () => {
  const instant = new Instant((then) => then());
  instant.learn(request("a"), none, 1);
  assert.equal(instant.answer(request("a")), undefined);
});

test("a definition is said once", () => {
  const asked = [];
  const ask = asker((text) => (asked.push(JSON.parse(text)), '{"kind":"K"}'));
  assert.deepEqual(ask({ definition: "d", object: "a" }), { kind: "K" });
  ask({ definition: "d", object: "b" });
  ask({ definition: "e", object: "b" });
  assert.deepEqual(asked, [{ definition: "d", object: "a" }, { definition: "", object: "b", same: true }, { definition: "e", object: "b" }]);
  assert.equal(asker(() => undefined)({}), undefined);
  assert.equal(asker(() => { throw new Error("it has ended"); })({}), undefined);
});
