// YAML's colours and folds, line by line. A parser of the whole language has to read on to the end of the text after
// many a keystroke, which takes longer than all else; here the lines that are seen are read, each in linear time.
import { foldService, LanguageSupport, StreamLanguage } from "@codemirror/language";

const doubleQuoted = /^(?:[^"\\]|\\.?)*("?)/;
const singleQuoted = /^(?:[^']|'')*('?)/;
// A plain scalar ends before a colon and before a comment, in brackets before their signs, too.
const plain = /^(?:[^\s:]|:(?=\S)|[ \t]+(?=[^\s:#]))+/;
const plainInFlow = /^(?:[^\s:,[\]{}]|:(?=[^\s,[\]{}])|[ \t]+(?=[^\s:#,[\]{}]))+/;
const colon = /^\s*:(?=[\s,[\]{}]|$)/;
const anyColon = /^\s*:/; // after what is quoted in brackets, as in JSON
const number = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

// token reads the next token of a line and returns its tag, as of @lezer/highlight.
function token(stream, state) {
  if (stream.sol()) {
    state.indent = stream.indentation();
    if (state.indent > state.block) {
      stream.skipToEnd();
      return "string";
    }
    state.block = Infinity;
    if (state.quote === "" && stream.match(/^(?:---|\.\.\.)(?=\s|$)/)) {
      state.flow = 0;
      return "meta";
    }
  }
  if (state.quote !== "") return quoted(stream, state);
  if (stream.eatSpace()) return null;
  if (stream.match(/^[-?:](?=[\s,[\]{}]|$)/)) return "punctuation";
  if (state.flow > 0 && stream.match(/^[,:]/)) return "punctuation";
  if (stream.match(/^[[{]/)) return bracket(state, 1);
  if (stream.match(/^[\]}]/)) return bracket(state, -1);
  if (stream.match(/^[&*!][^\s,[\]{}]*/)) return "meta";
  if (state.flow === 0 && stream.match(/^[|>][-+\d]*(?=\s*$|\s+#)/)) {
    state.block = state.indent;
    return "punctuation";
  }
  if (stream.match(/^["']/)) {
    state.quote = stream.current();
    return quoted(stream, state);
  }
  if (isComment(stream)) {
    stream.skipToEnd();
    return "comment";
  }
  return scalar(stream, state);
}

const isComment = (stream) => stream.peek() === "#" && (stream.sol() || /\s/.test(stream.string[stream.pos - 1]));

function bracket(state, change) {
  state.flow = Math.max(0, state.flow + change);
  return "punctuation";
}

// quoted reads on in a quoted scalar, which may have more lines.
function quoted(stream, state) {
  const [, end] = stream.match(state.quote === '"' ? doubleQuoted : singleQuoted);
  if (end !== "") state.quote = "";
  return name(stream, state, state.flow > 0 ? anyColon : colon) ?? "string";
}

function scalar(stream, state) {
  if (!stream.match(state.flow > 0 ? plainInFlow : plain)) {
    stream.next();
    return null;
  }
  const text = stream.current();
  return name(stream, state, colon) ?? (number.test(text) ? "number" : /^(?:true|false)$/.test(text) ? "bool" : /^(?:null|~)$/.test(text) ? "null" : "string");
}

// name returns the tag of a name if the scalar before is one. The lines of a block scalar are indented further.
function name(stream, state, colon) {
  if (!stream.match(colon, false)) return undefined;
  state.indent = stream.column();
  return "propertyName";
}

const language = StreamLanguage.define({
  name: "yaml",
  startState: () => ({ indent: 0, flow: 0, quote: "", block: Infinity }),
  token,
  languageData: { commentTokens: { line: "#" } },
});

// The most lines that are folded. All of them are looked at while somebody types.
const mostFolded = 5000;

// fold returns what can be folded at a line: the lines after it that are indented further, and the items of its list.
function fold(state, from, to) {
  const { text, number } = state.doc.lineAt(from);
  const indent = text.search(/\S/);
  if (indent < 0 || number === state.doc.lines) return null;
  const isItem = text[indent] === "-";
  let end = to;
  let at = to;
  let count = 0;
  for (const line of state.doc.iterLines(number + 1)) {
    if (++count > mostFolded) return null;
    at += 1 + line.length;
    const first = line.search(/\S/);
    if (first < 0) continue;
    if (first < indent || (first === indent && (isItem || line[first] !== "-"))) break;
    end = at;
  }
  return end > to ? { from: to, to: end } : null;
}

export const yaml = () => new LanguageSupport(language, foldService.of(fold));
