// The pages: the repository's Markdown, as it is, and those of the folder pages.
import MarkdownIt from "markdown-it";
import { anchor, documents, exampleGroups, picture, target } from "./content.js";

export default function (config) {
  const all = documents();
  const groups = exampleGroups();
  config.setLibrary("md", markdown(all));
  config.addGlobalData("documents", all.map(({ title, url }) => ({ title: url === "" ? "Start" : title, url })));
  config.addGlobalData("exampleGroups", groups);
  config.addGlobalData("examplesJSON", JSON.stringify(groups.flatMap((g) => g.examples)).replaceAll("<", "\\u003c"));
  config.addPassthroughCopy({ "../docs/plots": "docs/plots" });
  for (const { file, text, title, url } of all) {
    config.addTemplate(`documents/${file}`, text, {
      layout: "doc.njk", title, file, permalink: `/${url}`, root: url === "" ? "./" : "../",
    });
  }
  return { dir: { input: "pages", includes: "../layouts", output: "_site" }, markdownTemplateEngine: false };
}

// markdown returns what renders a page: with the anchors of GitHub, links to where things are here, and code and
// tables that can be scrolled without a mouse.
function markdown(all) {
  const md = new MarkdownIt({ html: true });
  md.core.ruler.push("links", (state) => {
    const from = state.env.file;
    const used = new Map();
    for (const [i, token] of state.tokens.entries()) {
      if (token.type === "heading_open") head(state, i, used);
      for (const t of token.children ?? []) {
        if (t.type === "link_open") t.attrSet("href", target(t.attrGet("href"), from, all));
        if (t.type === "image") t.attrSet("src", picture(t.attrGet("src"), from));
      }
    }
  });
  md.renderer.rules.table_open = () => '<div class="table" tabindex="0" role="region" aria-label="Table"><table>\n';
  md.renderer.rules.table_close = () => "</table></div>\n";
  md.renderer.rules.fence = (tokens, i) => {
    const { content, info } = tokens[i];
    const name = info.trim().split(" ")[0];
    return `<pre tabindex="0" role="region" aria-label="${md.utils.escapeHtml(name || "text")}"><code>${md.utils.escapeHtml(content)}</code></pre>\n`;
  };
  return md;
}

// head gives a heading its anchor, and a link to it.
function head(state, i, used) {
  const inline = state.tokens[i + 1];
  const text = inline.children.filter((t) => t.type === "text" || t.type === "code_inline").map((t) => t.content).join("");
  let id = anchor(text);
  const before = used.get(id) ?? 0;
  used.set(id, before + 1);
  if (before > 0) id += `-${before}`;
  state.tokens[i].attrSet("id", id);
  if (inline.children.some((t) => t.type === "link_open")) return;
  const open = new state.Token("link_open", "a", 1);
  open.attrSet("href", `#${id}`);
  open.attrSet("class", "anchor");
  inline.children.unshift(open);
  inline.children.push(new state.Token("link_close", "a", -1));
}
