// The playground: what is chosen and typed goes to the engine, and what it answers is shown.
import "wasm_exec.js";
import { resultView, textEditor } from "./editor.js";
import { Engine } from "./engine.js";
import { Instant } from "./instant.js";
import { fromFragment, toFragment } from "./link.js";
import { run } from "./program.js";

const $ = (id) => document.getElementById(id);
const choices = { validation: $("validation"), semantics: $("semantics"), values: $("values"), format: $("format") };
const examples = JSON.parse($("examples-data").textContent);

const definition = textEditor($("definition"), "Definition", ask);
const object = textEditor($("object"), "Object", ask);
const stored = textEditor($("stored"), "Stored object", ask);
const result = resultView($("result"), "Result");

let isQuiet = false; // while several things are set at once

let asked; // the last request

const whenIdle = globalThis.requestIdleCallback ?? setTimeout; // not all browsers say when they are idle
const instant = new Instant((then) => whenIdle(then));
const engine = new Engine(() => new Worker("worker.js"), {
  answer(answer, isWhole, took) {
    if (isWhole) return showRest(answer);
    instant.learn(asked, answer, took);
    show(answer, "worker");
  },
  program: (module) => run(module).then((ask) => instant.start(ask), () => {}), // without, the worker says all
  progress(name, part) {
    const what = name === "plain" ? "Espalier" : "CEL, for the rules of this definition,";
    write($("loading"), part === 1 ? "" : `${what} is being loaded: ${Math.floor(100 * part)} %`);
    $("progress").hidden = part === 1;
    $("progress").value = part;
  },
  broken(why, isReplaced) {
    $("progress").hidden = true;
    write($("loading"), "");
    if (isReplaced || $("answered").dataset.count === "0") {
      write($("verdict"), "This is not judged.");
      $("verdict").className = "";
    }
    say(isReplaced ? `Espalier has stopped at this (${why}) and was started again. Change something to go on.` : why, true);
  },
});

// say shows a line of the page's own state.
function say(text, isError = false) {
  write($("state"), text);
  $("state").classList.toggle("error", isError);
}

function state() {
  return {
    definition: definition.text,
    object: object.text,
    stored: stored.text,
    validation: choices.validation.value,
    kep: choices.semantics.value === "KEP",
    values: choices.values.checked,
    yaml: choices.format.value === "YAML",
  };
}

function ask() {
  if (isQuiet) return;
  say("");
  asked = { ...state(), difference: $("difference").checked };
  $("answered").dataset.asked = Number($("answered").dataset.asked) + 1;
  const findings = instant.answer(asked);
  engine.ask(asked, findings !== undefined);
  if (findings) show(findings, "page");
}

function set(s) {
  isQuiet = true;
  instant.forget();
  definition.text = s.definition;
  object.text = s.object;
  stored.text = s.stored;
  $("update").open = s.stored !== "";
  choices.validation.value = s.validation;
  choices.semantics.value = s.kep ? "KEP" : "Deployed";
  choices.values.checked = s.values;
  choices.format.value = s.yaml ? "YAML" : "JSON";
  isQuiet = false;
  ask();
}

// show shows the findings of an answer, at each keystroke. by says who has judged, for tests.
function show(answer, by) {
  object.show(answer.findings);
  definition.show(answer.faults);
  stored.show(answer.unstored);
  verdict(answer);
  const findings = [
    ...answer.faults.map((f) => ({ ...f, in: "definition" })),
    ...answer.unstored.map((f) => ({ ...f, in: "stored object" })),
    ...answer.findings.map((f) => ({ ...f, in: "object" })),
  ];
  list($("findings"), findings, item);
  write($("more-findings"), answer.omitted > 0 ? `and ${answer.omitted} more` : "");
  $("answered").dataset.by = by;
  $("answered").dataset.count = Number($("answered").dataset.count) + 1;
}

// showRest shows the rest of an answer, when nobody types.
function showRest(answer) {
  result.show(answer.before, answer.result);
  list($("changes"), answer.changes, change);
  write($("more-changes"), answer.more > 0 ? `and ${answer.more} more` : "");
  $("answered").dataset.whole = $("answered").dataset.asked; // answers to older questions do not come here
}

// write replaces the text of an element, if it is another one: it may be read out.
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function verdict(answer) {
  const errors = answer.faults.length + answer.findings.filter((f) => f.error).length;
  const warnings = answer.findings.length - answer.findings.filter((f) => f.error).length;
  let text = answer.faults.length > 0 ? "The API server refuses this definition" : answer.refused ? "The API server refuses this" : "The API server takes this";
  if (answer.kind && answer.faults.length === 0) text += ` ${answer.kind}`;
  if (answer.replaces) text += " as an update";
  const counts = [errors && count(errors, "error"), warnings && count(warnings, "warning")].filter(Boolean);
  text += counts.length > 0 ? `: ${counts.join(", ")}` : "";
  if (answer.rules && !answer.evaluated) text += ". Its rules in CEL are not evaluated" + (choices.values.checked ? " yet" : "");
  if (answer.unstored.length > 0) text += ". The stored object cannot be used: this is judged as a new one";
  write($("verdict"), `${text}.`);
  $("verdict").className = answer.refused ? "refused" : warnings > 0 ? "warned" : "taken";
}

const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

// list makes a list say things, of which the first hundred are shown. Items that are to say what they said stay,
// and with them the focus.
function list(element, things, make) {
  const shown = things.slice(0, 100);
  for (const [i, thing] of shown.entries()) {
    const made = make(thing);
    const old = element.children[i];
    if (!old) element.append(made);
    else if (old.textContent !== made.textContent || old.className !== made.className) old.replaceWith(made);
  }
  while (element.children.length > shown.length) element.lastElementChild.remove();
  write(element.previousElementSibling.querySelector("span"), String(things.length));
}

function item(finding) {
  const li = document.createElement("li");
  li.className = finding.error ? "error" : "warning";
  const editor = { definition, object, "stored object": stored }[finding.in];
  li.append(place(finding.line, `${finding.line}:${finding.column}`, editor, finding.in), ` ${finding.error ? "error" : "warning"}: ${finding.message}`);
  if (finding.rule) li.append(` [${finding.rule}]`);
  return li;
}

function change(c) {
  const li = document.createElement("li");
  li.className = c.comes ? "comes" : "goes";
  li.append(place(c.line, `${c.line}:${c.column}`, object, "object"), ` ${c.message}, because ${c.why}${c.why.endsWith("?") ? " " : ". "}`);
  const basis = document.createElement("small");
  basis.textContent = `Rule: ${c.basis}. `;
  if (c.schemaLine > 0) basis.append("See the ", place(c.schemaLine, `definition, line ${c.schemaLine}`, definition, "definition"), ".");
  li.append(basis);
  return li;
}

// place makes a button that leads to a line of an editor.
function place(line, text, editor, name) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "place";
  button.textContent = text;
  button.title = `Go to line ${line} of the ${name}`;
  button.addEventListener("click", () => editor.go(line));
  return button;
}

function setExample(id) {
  const e = examples.find((one) => one.id === id) ?? examples[0];
  $("examples").value = e.id;
  set({ definition: e.definition, object: e.object, stored: e.stored, validation: "Warn", kep: e.kep, values: e.values, yaml: e.yaml });
}

// open shows what the address says.
async function open() {
  const fragment = location.hash.slice(1);
  let problem = "";
  if (fragment.startsWith("s=")) {
    try {
      const state = await fromFragment(fragment);
      if (fragment !== location.hash.slice(1)) return; // there is a newer one
      set(state);
      $("examples").value = "";
      return;
    } catch (err) {
      problem = `This link cannot be read: ${err.message}`;
    }
  }
  setExample(fragment.replace(/^example=/, ""));
  say(problem, true);
}

for (const choice of Object.values(choices)) choice.addEventListener("change", ask);
$("difference").addEventListener("change", ask);
$("whole").addEventListener("change", ask);
$("examples").addEventListener("change", () => {
  history.replaceState(null, "", `#example=${$("examples").value}`);
  setExample($("examples").value);
});
$("share").addEventListener("click", async () => {
  try {
    history.replaceState(null, "", `#${await toFragment(state())}`);
  } catch (err) {
    say(`There is no link to this: ${err.message}`, true);
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied. It holds all that this page shows, and no server sees it.");
  } catch {
    say("The link is in the address bar. It holds all that this page shows.");
  }
});
addEventListener("hashchange", open);
open();
