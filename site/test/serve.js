// Serves the built site to this machine: npm run serve.
import { serve } from "./browser.js";

const { url } = await serve();
console.log(url);
