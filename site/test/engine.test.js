// The engine, with workers that answer when the test says so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine, patience } from "../playground/engine.js";

class FakeWorker {
  static all = [];
  asked = [];
  constructor() {
    FakeWorker.all.push(this);
  }
  postMessage(message) {
    this.asked.push(message);
  }
  terminate() {
    this.isEnded = true;
  }
  say(data) {
    this.onmessage({ data });
  }
}

function begin() {
  FakeWorker.all = [];
  const heard = { answers: [], broken: [] };
  const engine = new Engine(() => new FakeWorker(), {
    answer: (answer, isWhole) => heard.answers.push([answer, isWhole]),
    progress() {},
    broken: (why, isReplaced) => heard.broken.push([why, isReplaced]),
  });
  return { engine, heard, worker: FakeWorker.all[0] };
}

test("a late answer does not replace a newer one", () => {
  const { engine, heard, worker } = begin();
  engine.ask("a");
  engine.ask("b");
  worker.say({ what: "answer", number: 2, isWhole: true, answer: "to b" });
  worker.say({ what: "answer", number: 1, isWhole: true, answer: "to a" });
  assert.deepEqual(heard.answers, [["to b", true]]);
});

test("a worker that breaks is replaced, and heard no more", () => {
  const { engine, heard, worker } = begin();
  engine.ask("a");
  worker.say({ what: "broken", why: "the program ended" });
  assert.deepEqual(heard.broken, [["the program ended", true]]);
  assert.ok(worker.isEnded);
  worker.say({ what: "answer", number: 1, isWhole: true, answer: "to a" });
  const [, second] = FakeWorker.all;
  assert.deepEqual(second.asked, [], "the same would break it again");
  engine.ask("b");
  second.say({ what: "answer", number: second.asked[0].number, isWhole: true, answer: "to b" });
  assert.deepEqual(heard.answers, [["to b", true]]);
});

test("a worker that takes too long is replaced, even if somebody types meanwhile", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { engine, heard, worker } = begin();
  engine.ask("a");
  t.mock.timers.tick(2 * patience); // while it is being loaded, it is not late
  assert.deepEqual(heard.broken, []);
  worker.say({ what: "begun" });
  engine.ask("b");
  t.mock.timers.tick(patience);
  assert.deepEqual(heard.broken, [["it took too long", true]]);
});

test("a worker that cannot be loaded says so", () => {
  const { heard, worker } = begin();
  worker.say({ what: "failed", why: "404" });
  assert.deepEqual(heard.broken, [["404", false]]);
});

test("a worker that is missing is not asked for again", () => {
  const { heard, worker } = begin();
  worker.onerror({});
  assert.equal(FakeWorker.all.length, 1);
  assert.equal(heard.broken.length, 1);
  assert.equal(heard.broken[0][1], false);
  worker.say({ what: "progress" });
  worker.onerror({ message: "later" });
  assert.deepEqual(heard.broken[1], ["later", true]);
  assert.equal(FakeWorker.all.length, 2);
});
