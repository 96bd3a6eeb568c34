// Builds the site into _site: the programs in WebAssembly, the scripts, the pages, the licences, the index of the
// search and the list of files for the service worker. It needs Go and what npm ci installs.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import Eleventy from "@11ty/eleventy";
import { build } from "esbuild";
import * as pagefind from "pagefind";
import { repository } from "./content.js";
import { goLicences, npmLicences } from "./licences.js";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "_site");
const playground = join(out, "playground");
process.chdir(here);

const go = (args, env = {}) =>
  execFileSync("go", args, { cwd: join(repository, "playground"), env: { ...process.env, ...env }, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

rmSync(out, { recursive: true, force: true });
mkdirSync(playground, { recursive: true });

const sizes = programs();
await scripts(sizes);
await new Eleventy("pages", "_site", { quietMode: true, configPath: "eleventy.config.js" }).write();
cpSync("styles/icon.svg", join(out, "icon.svg"));
await index();
serviceWorker();
for (const [name, size] of Object.entries(sizes)) console.log(`${name}.wasm.gz: ${(size / 1e6).toFixed(2)} MB`);

// programs builds the two programs, and returns their sizes in bytes, compressed.
function programs() {
  const all = {};
  for (const name of ["plain", "withcel"]) {
    const file = join(playground, `${name}.wasm`);
    go(["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, `./${name}`], { GOOS: "js", GOARCH: "wasm" });
    const packed = gzipSync(readFileSync(file), { level: 9 });
    writeFileSync(`${file}.gz`, packed);
    rmSync(file);
    all[name] = packed.length;
  }
  return all;
}

// scripts bundles scripts and styles, and writes the licences of all that is in them and in the programs.
async function scripts(sizes) {
  const runtime = join(go(["env", "GOROOT"]).trim(), "lib", "wasm", "wasm_exec.js");
  const common = { bundle: true, minify: true, metafile: true, target: "es2022", logLevel: "warning", alias: { "wasm_exec.js": runtime } };
  const made = [
    await build({ ...common, entryPoints: ["playground/main.js"], outfile: join(playground, "main.js"), format: "esm" }),
    await build({
      ...common, entryPoints: ["playground/worker.js"], outfile: join(playground, "worker.js"), format: "iife",
      define: { SIZES: JSON.stringify(sizes) },
    }),
    await build({ ...common, entryPoints: ["styles/playground.css"], outfile: join(playground, "playground.css") }),
    await build({ ...common, entryPoints: ["styles/site.css", "scripts/site.js"], outdir: out, entryNames: "[name]", format: "esm" }),
    await build({ ...common, bundle: false, alias: {}, entryPoints: ["scripts/search.js"], outdir: out, format: "esm" }),
  ];
  const inputs = made.flatMap((m) => Object.keys(m.metafile.inputs));
  writeFileSync(join(playground, "licences.txt"), goLicences(go, "./withcel") + npmLicences(inputs, ["pagefind"]));
}

async function index() {
  const { index } = await pagefind.createIndex();
  await index.addDirectory({ path: out });
  const { errors } = await index.writeFiles({ outputPath: join(out, "pagefind") });
  await pagefind.close();
  if (errors.length > 0) throw new Error(errors.join("\n"));
}

// serviceWorker writes the service worker with the files that it fetches at once: all but CEL and the index.
function serviceWorker() {
  const hash = createHash("sha256");
  const files = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(out, join(entry.parentPath, entry.name)))
    .sort();
  for (const file of files) hash.update(file).update(readFileSync(join(out, file)));
  const now = files
    .filter((file) => !file.startsWith("pagefind/") && file !== "playground/withcel.wasm.gz" && file !== "404.html")
    .map((file) => file.replace(/(^|\/)index\.html$/, "$1") || "./");
  const text = readFileSync("scripts/sw.js", "utf8");
  writeFileSync(join(out, "sw.js"), text.replace("espalier-BUILD", `espalier-${hash.digest("hex").slice(0, 16)}`).replace("= FILES", `= ${JSON.stringify(now)}`));
}
