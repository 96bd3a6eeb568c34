// The playground: what is chosen and typed goes to the engine, and what it answers is shown.
import { resultView, textEditor } from "./editor.js";
import { Engine } from "./engine.js";
import { fromFragment, toFragment } from "./link.js";

const $ = (id) => document.getElementById(id);
const choices = { validation: $("validation"), semantics: $("semantics"), values: $("values"), format: $("format") };
const examples = JSON.parse($("examples-data").textContent);

const definition = textEditor($("definition"), "Definition", ask);
const object = textEditor($("object"), "Object", ask);
const result = resultView($("result"), "Result");

let isQuiet = false; // while several things are set at once

const engine = new Engine(() => new Worker("worker.js"), {
  answer: show,
  progress(name, part) {
    const what = name === "plain" ? "Espalier" : "CEL, for the rules of this definition,";
    say(part === 1 ? "" : `${what} is being loaded: ${Math.floor(100 * part)} %`);
    $("progress").hidden = part === 1;
    $("progress").value = part;
  },
  broken(why, isReplaced) {
    $("progress").hidden = true;
    say(isReplaced ? `Espalier has stopped at this (${why}) and was started again. Change something to go on.` : why, true);
  },
});

// say shows a line of the page's own state.
function say(text, isError = false) {
  $("state").textContent = text;
  $("state").classList.toggle("error", isError);
}

function state() {
  return {
    definition: definition.text,
    object: object.text,
    validation: choices.validation.value,
    kep: choices.semantics.value === "KEP",
    values: choices.values.checked,
    yaml: choices.format.value === "YAML",
  };
}

function ask() {
  if (!isQuiet) engine.ask({ ...state(), difference: $("difference").checked });
}

function set(s) {
  isQuiet = true;
  definition.text = s.definition;
  object.text = s.object;
  choices.validation.value = s.validation;
  choices.semantics.value = s.kep ? "KEP" : "Deployed";
  choices.values.checked = s.values;
  choices.format.value = s.yaml ? "YAML" : "JSON";
  isQuiet = false;
  ask();
}

// show shows an answer. One that is not whole has no result: the one before stays.
function show(answer, isWhole) {
  definition.show(answer.faults);
  object.show(answer.findings);
  verdict(answer);
  list($("findings"), [
    ...answer.faults.map((f) => item(f, definition, "definition")),
    ...answer.findings.map((f) => item(f, object, "object")),
  ]);
  $("more-findings").textContent = answer.omitted > 0 ? `and ${answer.omitted} more` : "";
  $("answered").dataset.count = Number($("answered").dataset.count) + 1;
  if (!isWhole) return;
  result.show(answer.before, answer.result);
  list($("changes"), answer.changes.map(change));
  $("more-changes").textContent = answer.more > 0 ? `and ${answer.more} more` : "";
  $("answered").dataset.whole = Number($("answered").dataset.whole) + 1;
}

function verdict(answer) {
  const errors = answer.faults.length + answer.findings.filter((f) => f.error).length;
  const warnings = answer.findings.length - answer.findings.filter((f) => f.error).length;
  let text = answer.faults.length > 0 ? "The API server refuses this definition" : answer.refused ? "The API server refuses this" : "The API server takes this";
  if (answer.kind && answer.faults.length === 0) text += ` ${answer.kind}`;
  const counts = [errors && count(errors, "error"), warnings && count(warnings, "warning")].filter(Boolean);
  text += counts.length > 0 ? `: ${counts.join(", ")}` : "";
  if (answer.rules && !answer.evaluated) text += ". Its rules in CEL are not evaluated" + (choices.values.checked ? " yet" : "");
  $("verdict").textContent = `${text}.`;
  $("verdict").className = answer.refused ? "refused" : warnings > 0 ? "warned" : "taken";
}

const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

// list replaces the items of a list; the first hundred are shown.
function list(element, items) {
  element.replaceChildren(...items.slice(0, 100));
  element.previousElementSibling.querySelector("span").textContent = items.length;
}

function item(finding, editor, name) {
  const li = document.createElement("li");
  li.className = finding.error ? "error" : "warning";
  li.append(place(finding.line, `${finding.line}:${finding.column}`, editor, name), ` ${finding.error ? "error" : "warning"}: ${finding.message}`);
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
  set({ definition: e.definition, object: e.object, validation: "Warn", kep: e.kep, values: e.values, yaml: e.yaml });
}

// open shows what the address says.
async function open() {
  const fragment = location.hash.slice(1);
  if (fragment.startsWith("s=")) {
    try {
      set(await fromFragment(fragment));
      $("examples").value = "";
      return;
    } catch (err) {
      say(`This link cannot be read: ${err.message}`, true);
    }
  }
  setExample(fragment.replace(/^example=/, ""));
}

for (const choice of Object.values(choices)) choice.addEventListener("change", ask);
$("difference").addEventListener("change", ask);
$("whole").addEventListener("change", ask);
$("examples").addEventListener("change", () => {
  history.replaceState(null, "", `#example=${$("examples").value}`);
  setExample($("examples").value);
});
$("share").addEventListener("click", async () => {
  history.replaceState(null, "", `#${await toFragment(state())}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied. It holds all that this page shows, and no server sees it.");
  } catch {
    say("The link is in the address bar. It holds all that this page shows.");
  }
});
addEventListener("hashchange", open);
open();
