// On each page: what was seen once can be seen offline.
const worker = new URL("sw.js", import.meta.url);
if ("serviceWorker" in navigator) navigator.serviceWorker.register(worker);

// On a phone the list of pages would come before the page.
const pages = document.querySelector(".pages details");
if (pages && matchMedia("(max-width: 50rem)").matches) pages.open = false;
