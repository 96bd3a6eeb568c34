// The pages as they were built: links lead somewhere, and sizes are what the page promises.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { documents, exampleGroups, repository, source } from "../content.js";
import { site } from "./browser.js";

const pages = new Map(
  readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html")).map((name) => [name, readFileSync(join(site, name), "utf8")]),
);

test("each document is a page", () => {
  for (const { url, title } of documents()) assert.match(pages.get(join(url, "index.html")) ?? "", new RegExp(`<title>${title}`), url);
  assert.ok(pages.size > 20);
});

test("links lead to pages, anchors, and files of the repository", () => {
  let count = 0;
  for (const [name, html] of pages) {
    for (const [, href] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      count++;
      const link = href.replaceAll("&amp;", "&");
      const inRepository = link.startsWith(`${source}/blob/main/`) && link.slice(`${source}/blob/main/`.length).split("#")[0];
      if (inRepository) assert.ok(existsSync(join(repository, inRepository)), `${name}: ${link}`);
      if (/^[a-z]+:/.test(link)) continue;
      const url = new URL(link, `http://site/espalier/${name}`);
      assert.ok(url.pathname.startsWith("/espalier/"), `${name}: ${link}`);
      let file = decodeURIComponent(url.pathname.slice("/espalier/".length));
      if (file === "" || file.endsWith("/")) file += "index.html";
      assert.ok(existsSync(join(site, file)), `${name}: ${link}`);
      if (url.hash && !link.includes("#example=")) assert.ok(pages.get(file).includes(` id="${decodeURIComponent(url.hash.slice(1))}"`), `${name}: ${link}`);
    }
  }
  assert.ok(count > 500);
});

test("a page has what its document has", () => {
  for (const { url, text } of documents()) {
    const html = pages.get(join(url, "index.html"));
    const blocks = [...text.matchAll(/^```\w*\n([^]*?)^```$/gm)];
    assert.equal([...html.matchAll(/<pre /g)].length, blocks.length, url);
    for (const [, block] of blocks) assert.ok(unescaped(html).includes(block), `${url}: ${block}`);
    for (const [, heading] of text.replace(/^```[^]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)) {
      assert.ok(unescaped(html.replace(/<[^>]+>/g, "")).includes(heading.replaceAll("`", "")), `${url}: ${heading}`);
    }
  }
});

const unescaped = (html) => html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

test("the examples have what they need", () => {
  const examples = exampleGroups().flatMap((g) => g.examples);
  assert.ok(examples.length > 20);
  assert.equal(new Set(examples.map((e) => e.id)).size, examples.length);
  for (const e of examples) assert.ok(e.definition && e.object && e.title, e.id);
});

test("sizes", () => {
  const size = (name) => statSync(join(site, name)).size;
  const plain = size("playground/plain.wasm.gz");
  console.log(`plain ${plain}, with CEL ${size("playground/withcel.wasm.gz")}, main.js ${size("playground/main.js")} bytes`);
  assert.ok(plain <= 3_000_000, "without CEL it is at most 3 MB, compressed");
  assert.ok(size("playground/main.js") < 600_000);
});

test("the licences of all parts are there", () => {
  const text = readFileSync(join(site, "playground/licences.txt"), "utf8");
  for (const part of ["The Go programming language", "github.com/google/cel-go", "gopkg.in/yaml.v3", "@codemirror/view", "@lezer/highlight", "pagefind"]) {
    assert.ok(text.includes(`\n${part}`), part);
  }
});

test("the service worker keeps what is there, and neither CEL nor the index before they are asked for", () => {
  const files = JSON.parse(/const files = (\[.*\]);/.exec(readFileSync(join(site, "sw.js"), "utf8"))[1]);
  for (const file of files) assert.ok(existsSync(join(site, file)), file);
  assert.ok(files.includes("playground/plain.wasm.gz") && !files.includes("playground/withcel.wasm.gz"));
  assert.ok(!files.some((file) => relative("pagefind", file) === "" || file.startsWith("pagefind/")));
});
