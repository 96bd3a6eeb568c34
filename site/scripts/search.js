// The search page, by the index that Pagefind has made.
const pagefind = await import(new URL("pagefind/pagefind.js", import.meta.url));
const $ = (id) => document.getElementById(id);
$("search").addEventListener("submit", (event) => event.preventDefault());
$("words").addEventListener("input", find);
const words = new URLSearchParams(location.search).get("q");
if (words) {
  $("words").value = words;
  find();
}

async function find() {
  const text = $("words").value;
  const found = await pagefind.debouncedSearch(text);
  if (!found || text !== $("words").value) return; // there are newer words
  const results = await Promise.all(found.results.slice(0, 20).map((r) => r.data()));
  if (text !== $("words").value) return;
  $("found").textContent = text === "" ? "" : `${found.results.length} page${found.results.length === 1 ? "" : "s"}`;
  $("results").replaceChildren(...results.map(item));
}

function item(page) {
  const li = document.createElement("li");
  const title = document.createElement("a");
  title.href = page.url;
  title.textContent = page.meta.title;
  const excerpt = document.createElement("p");
  excerpt.innerHTML = page.excerpt; // of our own pages, escaped, with marks
  li.append(title, excerpt);
  for (const part of page.sub_results.slice(0, 3)) {
    const link = document.createElement("a");
    link.href = part.url;
    link.textContent = part.title;
    li.append(link, document.createElement("br"));
  }
  return li;
}
