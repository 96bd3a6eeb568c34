// What the site is made of, read in place: the pages of the repository, and the examples of the playground.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = join(dirname(fileURLToPath(import.meta.url)), "..");
export const source = "https://github.com/espalier-dev/espalier";

const read = (name) => readFileSync(join(repository, name), "utf8");

// documents returns the pages: those of the README's table of questions, and then others that it names.
export function documents() {
  const readme = read("README.md");
  const questions = readme.match(/^\| .* \|$/gm).join("\n");
  const linked = [...(questions + readme).matchAll(/\]\(([\w/.-]+\.md)\)/g)].map((m) => m[1]);
  return ["README.md", ...new Set(linked)].map((file) => {
    const text = read(file);
    const title = file === "README.md" ? "Espalier" : /^# (.*)$/m.exec(text)[1].replaceAll("`", "");
    return { file, text, title, url: urlOf(file) };
  });
}

// urlOf returns the address of a page, from that of the site.
export function urlOf(file) {
  return file === "README.md" ? "" : `${basename(file, ".md").toLowerCase()}/`;
}

// target returns where a link of a page leads to: to another page, or into the repository.
export function target(href, from, all) {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [path, fragment] = href.split("#");
  const file = normalize(join(dirname(from), path));
  const page = all.find((d) => d.file === file);
  const end = fragment ? `#${fragment}` : "";
  const root = from === "README.md" ? "./" : "../";
  return page ? root + page.url + end : `${source}/blob/main/${file}${end}`;
}

// picture returns where a picture of a page is: where it is in the repository.
export function picture(src, from) {
  return (from === "README.md" ? "./" : "../") + normalize(join(dirname(from), src));
}

// anchor returns the anchor of a heading, as GitHub makes it.
export function anchor(text) {
  return text.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");
}

// sections returns those of a text in the format txtar, and what stands before the first as "".
export function sections(text) {
  const parts = text.split(/^-- (.+) --\n/m);
  const all = { "": parts[0] };
  for (let i = 1; i < parts.length; i += 2) all[parts[i]] = parts[i + 1];
  return all;
}

// exampleGroups returns the examples: the one of the README, real definitions made small, and those of the
// KEPs, which are the cases of the tests.
export function exampleGroups() {
  return [
    {
      name: "To start with",
      examples: [
        example("backup", "A plan for backups", read("testdata/quickstart/crd.yaml"), read("testdata/readme/plan.yaml"), {}),
        example("values", "The same, with values that are not valid", read("testdata/quickstart/crd.yaml"), read("testdata/readme/values.yaml"), { values: true }),
      ],
    },
    { name: "Real definitions, made small", examples: small() },
    { name: "KEP-2332, pruning", examples: kep("kep-2332") },
    { name: "KEP-575, defaulting", examples: kep("kep-575") },
  ];
}

function example(id, title, definition, object, { stored = "", kep = false, values = false, yaml = true }) {
  return { id, title, definition, object, stored, kep, values, yaml };
}

function small() {
  const folder = "playground/examples";
  return readdirSync(join(repository, folder)).filter((name) => name.endsWith(".txtar")).map((name) => {
    const parts = sections(read(`${folder}/${name}`));
    const title = parts[""].split("\n")[0].replace(/\.$/, "");
    return example(basename(name, ".txtar"), title, parts["definition.yaml"], parts["object.yaml"], { stored: parts["stored.yaml"], values: true });
  });
}

// kep returns the cases of a KEP. One file may have several, in folders.
function kep(folder) {
  const all = [];
  for (const name of readdirSync(join(repository, "testdata", folder)).sort()) {
    const parts = sections(read(`testdata/${folder}/${name}`));
    const about = parts[""].split(/\.\s/)[0].replaceAll("\n", " ").replace(/^KEP-\d+, example /, "");
    for (const section of Object.keys(parts)) {
      const of = /^(?:(.+)\/)?in\.json$/.exec(section);
      if (!of) continue;
      const id = `${folder}-${basename(name, ".txtar")}${of[1] ? `-${of[1]}` : ""}`;
      all.push(example(id, about.slice(0, 90) + (of[1] ? ` (${of[1]})` : ""), parts["schema.yaml"], parts[section], { kep: true, yaml: false }));
    }
  }
  return all;
}
