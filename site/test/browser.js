// What the tests in a browser share: a server of the built site, and a browser if the machine has one.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const site = join(dirname(fileURLToPath(import.meta.url)), "..", "_site");

const types = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
  ".json": "application/json", ".txt": "text/plain; charset=utf-8", ".gz": "application/gzip",
};

const executable = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((name) => existsSync(name));

// why says why there is no browser, or is false.
export const why = executable ? false : "there is no chromium on this machine: apt-get install chromium";

// serve serves the site below a folder, as GitHub's pages do.
export async function serve(prefix = "/espalier") {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    let file = normalize(join(site, path.slice(prefix.length)));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (!path.startsWith(prefix + "/") || !file.startsWith(site) || !existsSync(file)) {
      response.writeHead(404).end("there is no such file");
      return;
    }
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}${prefix}/`, close: () => server.close() };
}

export const launch = () => chromium.launch({ executablePath: executable, args: ["--no-sandbox"] });

// A Page drives the playground.
export class Playground {
  constructor(page) {
    this.page = page;
  }

  // open opens the playground and waits for its first whole answer.
  async open(url) {
    await this.page.goto(url);
    await this.whole(1);
    return this;
  }

  // whole waits for a whole answer to the last question, which is the nth or a later one.
  whole(n) {
    return this.page.waitForFunction((n) => {
      const { asked, whole } = document.getElementById("answered").dataset;
      return Number(asked) >= n && whole === asked;
    }, n);
  }

  // after does something that asks, and waits for the whole answer to that, not to what was asked before.
  async after(does) {
    const asked = await this.page.$eval("#answered", (e) => Number(e.dataset.asked));
    await does();
    await this.whole(asked + 1);
  }

  // type replaces the text of an editor, as somebody who pastes does.
  type(id, text) {
    return this.after(async () => {
      await this.page.locator(`#${id} .cm-content`).focus();
      await this.page.keyboard.press("Control+a");
      await this.page.keyboard.insertText(text);
    });
  }

  // text returns the text of an editor that is not longer than its window.
  async text(id) {
    return (await this.page.locator(`#${id} .cm-line`).allTextContents()).join("\n");
  }

  findings() {
    return this.page.locator("#findings > li").allTextContents();
  }

  changes() {
    return this.page.locator("#changes > li").allTextContents();
  }

  verdict() {
    return this.page.locator("#verdict").textContent();
  }
}
