// The colours and folds of YAML.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ensureSyntaxTree, foldable } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { yaml } from "../playground/yaml.js";

const stateOf = (doc) => EditorState.create({ doc, extensions: yaml() });

// tokens returns the tokens of a text with their tags: "a=propertyName".
function tokens(doc) {
  const all = [];
  ensureSyntaxTree(stateOf(doc), doc.length, 5000).iterate({
    enter: ({ name, from, to }) => {
      if (name !== "Document") all.push(`${doc.slice(from, to)}=${name}`);
    },
  });
  return all.filter((t) => !t.endsWith("=punctuation")).join(" ");
}

for (const [name, text, want] of [
  ["names and values", "a: 1\nb c: x y # z\nd:\n  e: true\nf: null", "a=propertyName 1=number b c=propertyName x y=string # z=comment d=propertyName e=propertyName true=bool f=propertyName null=null"],
  ["what is no name", "a: b:c\nd: e#f\ng: 1.2.3", "a=propertyName b:c=string d=propertyName e#f=string g=propertyName 1.2.3=string"],
  ["brackets", 'a: {b: [1, x y], "c":2}\nd: 1', 'a=propertyName b=propertyName 1=number x y=string "c"=propertyName 2=number d=propertyName 1=number'],
  ["quotes", `"a: b": 'it''s'\nc: "x\n  y: \\" z"\nd: 1`, `"a: b"=propertyName 'it''s'=string c=propertyName "x=string   y: \\" z"=string d=propertyName 1=number`],
  ["a block", "- a: |\n    b: 1\n\n    # c\n  d: 2\n- >-\n  e: f\n- g: 3", "a=propertyName     b: 1=string     # c=string d=propertyName 2=number   e: f=string g=propertyName 3=number"],
  ["documents and anchors", "---\na: &b 1\nc: *b\n...", "---=meta a=propertyName &b=meta 1=number c=propertyName *b=meta ...=meta"],
]) {
  test(`colours: ${name}`, () => assert.equal(tokens(text), want));
}

test("colours of any text come to an end", () => {
  for (const odd of [":", "\t", "]}", "'", '"\\', "- - -", "? :", "|", "|2-", "&", "#", "a:#", "é😀: 😀", "- ", "\u2028"]) {
    tokens(odd.repeat(50));
    tokens(`${odd}\n`.repeat(50));
  }
});

test("folds", () => {
  const text = "a:\n  b:\n\n    c: 1\nd:\n- e: 1\n  f: 2\n- g\nh: 1";
  const state = stateOf(text);
  const folds = [];
  for (let n = 1; n <= state.doc.lines; n++) {
    const { from, to } = state.doc.line(n);
    const range = foldable(state, from, to);
    if (range) folds.push(`${n}-${state.doc.lineAt(range.to).number}`);
  }
  assert.deepEqual(folds, ["1-4", "2-4", "5-8", "6-7"]);
  const long = stateOf(`a:\n${"  b: 1\n".repeat(10_000)}`);
  assert.equal(foldable(long, 0, 2), null, "it would be looked at with each keystroke");
});
