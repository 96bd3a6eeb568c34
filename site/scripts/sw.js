// The service worker: whole pages offline. All of a build is one cache, so that a page never meets parts of
// another one; CEL and the index of the search are kept once they were asked for.
/* global FILES */
const build = "espalier-BUILD";
const files = FILES;

self.addEventListener("install", (event) => {
  const fresh = files.map((file) => new Request(file, { cache: "reload" })); // a browser may have kept older ones
  event.waitUntil(caches.open(build).then((cache) => cache.addAll(fresh)));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name.startsWith("espalier-") && name !== build) await caches.delete(name);
      await self.clients.claim();
    })(),
  );
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin) return;
  event.respondWith(answer(event.request));
});

async function answer(request) {
  const cache = await caches.open(build);
  const kept = await cache.match(request, { ignoreSearch: true });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}
