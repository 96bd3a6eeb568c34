// A second copy of the program, in the page itself. A browser puts messages of workers off until it has drawn a
// keystroke, and findings would come a frame late. So a keystroke in an object is judged at once, where that is
// known to be quick: the worker has judged the definition in time, the object is not long, and there are no rules
// in CEL to be evaluated.

// The longest object that is judged in the page, in characters with what is stored, and the longest time that it
// may take, in milliseconds. Links come from strangers, and the page is not to hang.
export const longest = 100_000;
export const slowest = 40;

const isLong = ({ object, stored }) => object.length + stored.length > longest;

export class Instant {
  #ask; // the function that asks the program, once it runs
  #known; // a request with the definition that is judged here
  #slow = 0; // how slow the last answers were
  #later;
  #now;

  // later calls a function when the page is idle, and now returns the time in milliseconds.
  constructor(later, now = () => performance.now()) {
    this.#later = later;
    this.#now = now;
  }

  // start says by what to ask.
  start(ask) {
    this.#ask = ask;
  }

  // learn takes what the worker has found for a request, and how long that took.
  learn(request, findings, took) {
    if (this.#knows(request)) return;
    const needsCEL = findings.rules && (request.values || findings.faults.length > 0); // faults of rules among them
    if (!this.#ask || took > slowest || isLong(request) || needsCEL) return;
    this.#later(() => {
      this.#known = request;
      this.answer(request);
    });
  }

  // forget leaves the next request to the worker, because it comes from elsewhere than the keyboard.
  forget() {
    this.#slow = 0;
    this.#known = undefined;
  }

  // answer returns the findings for a request, or undefined if the worker is to say.
  answer(request) {
    if (!this.#ask || isLong(request) || !this.#knows(request)) return undefined;
    const begun = this.#now();
    const answer = this.#ask({ ...request, brief: true });
    if (!answer) this.#ask = undefined; // it has panicked, as the worker will
    // A machine that is busy may be slow once, or twice.
    const times = Math.floor((this.#now() - begun) / slowest);
    this.#slow = times > 0 ? this.#slow + times : 0;
    if (this.#slow > 3) this.forget();
    return answer;
  }

  #knows({ definition, kep, values }) {
    const known = this.#known;
    return known !== undefined && known.definition === definition && known.kep === kep && known.values === values;
  }
}
