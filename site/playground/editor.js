// The editors: CodeMirror with line numbers, findings in the margin and colours of the page's own. Tab moves
// the focus on, as everywhere on the page; Shift-Alt-ArrowDown and the like are CodeMirror's.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { yaml } from "./yaml.js";

const common = (label) => [
  lineNumbers(),
  foldGutter(),
  drawSelection(),
  bracketMatching(),
  syntaxHighlighting(classHighlighter),
  EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
  keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap]),
];

const languageOf = (text) => (/^\s*\{/.test(text) ? json() : yaml());

// textEditor makes an editor in an element. changed is called when its text has changed.
export function textEditor(parent, label, changed) {
  const language = new Compartment();
  let isMarked = false;
  let text = ""; // of doc
  let doc;
  const view = new EditorView({
    parent,
    extensions: [
      ...common(label),
      history(),
      highlightActiveLine(),
      lintGutter(),
      language.of(yaml()),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) changed();
      }),
    ],
  });
  return {
    view,
    get text() {
      if (doc !== view.state.doc) {
        doc = view.state.doc;
        text = doc.toString();
      }
      return text;
    },
    set text(text) {
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        effects: language.reconfigure(languageOf(text)),
        selection: { anchor: 0 },
        scrollIntoView: true,
      });
    },
    // show marks findings in the text and its margin.
    show(findings) {
      if (!isMarked && findings.length === 0) return;
      isMarked = findings.length > 0;
      const end = view.state.doc.length;
      view.dispatch(
        setDiagnostics(
          view.state,
          findings
            .filter((f) => f.line > 0)
            .map((f) => ({
              from: Math.min(f.from, end),
              to: Math.min(f.to, end),
              severity: f.error ? "error" : "warning",
              message: f.message,
              source: f.rule,
            })),
        ),
      );
    },
    // go moves the cursor to a line, counted from 1, and the focus to the editor.
    go(number) {
      const line = view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
      const first = line.from + /^\s*/.exec(line.text)[0].length;
      view.dispatch({ selection: { anchor: first }, effects: EditorView.scrollIntoView(first, { y: "center" }) });
      view.focus();
    },
  };
}

// change returns what makes one text of another: what is between their common beginning and end. Only that is
// parsed and drawn again, and who has scrolled stays there.
function change(before, after) {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from++;
  let end = 0;
  while (end < most - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

// resultView makes a view of a result, by itself or beside what it was made of.
export function resultView(parent, label) {
  const mode = new Compartment();
  const language = new Compartment();
  const view = new EditorView({
    parent,
    extensions: [...common(label), EditorState.readOnly.of(true), language.of(yaml()), mode.of([])],
  });
  let shown = "";
  let wasJSON = false;
  return {
    view,
    // show shows a result, and where there is something before it, the difference.
    show(before, result) {
      const isDifference = before !== "";
      if (!isDifference) result = result.trimEnd(); // a difference would be one of the last line, too
      const key = JSON.stringify([before, result]);
      if (key === shown) return;
      shown = key;
      if (mode.get(view.state)?.length !== 0) view.dispatch({ effects: mode.reconfigure([]) });
      const isJSON = result.startsWith("{");
      const effects = isJSON === wasJSON ? [] : language.reconfigure(languageOf(result));
      wasJSON = isJSON;
      view.dispatch({ changes: change(view.state.doc.toString(), result), effects });
      if (isDifference) {
        const diffConfig = { scanLimit: 2000, timeout: 200 }; // of large texts it is a coarse one
        const difference = unifiedMergeView({
          original: before, mergeControls: false, gutter: true, highlightChanges: false, diffConfig,
          collapseUnchanged: { margin: 3, minSize: 8 },
        });
        view.dispatch({ effects: mode.reconfigure(difference) });
      }
    },
  };
}
