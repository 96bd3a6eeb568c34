// The licences of all that the page is made of: Go, modules and npm packages. A part without one fails the build.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const isLicence = (name) => /^(licen[cs]e|copying|notice|patents)/i.test(name);

// texts returns the licences in a folder: files, or all files of a folder of that name.
function texts(folder, what) {
  const found = readdirSync(folder, { withFileTypes: true }).filter((e) => isLicence(e.name)).flatMap((e) => {
    const path = join(folder, e.name);
    return e.isFile() ? [path] : readdirSync(path).map((name) => join(path, name));
  });
  if (!found.some((path) => /licen[cs]e|copying/i.test(basename(path)))) throw new Error(`${what} has no licence`);
  return found.sort().map((path) => readFileSync(path, "utf8").trim()).join("\n\n");
}

const part = (what, text) => `${"=".repeat(80)}\n${what}\n${"=".repeat(80)}\n\n${text}\n\n`;

// goLicences returns those of Go and of the modules that a program is made of.
export function goLicences(go, program) {
  let all = part("The Go programming language", texts(go(["env", "GOROOT"]).trim(), "Go"));
  const format = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}";
  const listed = go(["list", "-deps", "-f", format, program], { GOOS: "js", GOARCH: "wasm" });
  for (const line of [...new Set(listed.split("\n"))].sort()) {
    const [path, version, folder] = line.split("\t");
    if (!folder || path.startsWith("github.com/espalier-dev/espalier")) continue;
    all += part(`${path} ${version}`, texts(folder, path));
  }
  return all;
}

// npmLicences returns those of the packages that bundled files come from, and of others.
export function npmLicences(files, others) {
  const names = new Set(others);
  for (const file of files) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
    if (name) names.add(name);
  }
  return [...names].sort().map((name) => part(name, texts(`node_modules/${name}`, name))).join("");
}
