// The engine asks the worker, and hands on what it answers to the last question. Typing never waits: a new
// question replaces one that is not answered yet, and an answer to an older question is dropped.

// How long an answer may take, in milliseconds, before the worker is replaced.
export const patience = 10_000;

export class Engine {
  #newWorker;
  #on;
  #worker;
  #asked = 0; // the number of the last question
  #timer;

  // newWorker makes a Worker. on has the functions answer(answer, isWhole, took), progress(name, part),
  // program(module) and broken(why, isReplaced).
  constructor(newWorker, on) {
    this.#newWorker = newWorker;
    this.#on = on;
    this.#start();
  }

  // ask replaces the question. hasFindings says that only the rest of an answer is asked for.
  ask(request, hasFindings = false) {
    this.#asked++;
    this.#worker.postMessage({ number: this.#asked, request, hasFindings });
  }

  #start() {
    const worker = this.#newWorker();
    this.#worker = worker;
    let isLoaded = false; // another one would not be, either
    worker.onmessage = ({ data }) => {
      isLoaded = true;
      if (worker === this.#worker) this.#receive(data);
    };
    worker.onerror = (event) => {
      event.preventDefault?.();
      if (worker !== this.#worker) return;
      if (isLoaded) this.#replace(event.message || "the worker ended");
      else this.#on.broken("Espalier cannot be loaded: its worker is missing", false);
    };
  }

  #receive(data) {
    switch (data.what) {
      case "progress":
        this.#on.progress(data.name, data.part);
        break;
      case "program":
        this.#on.program(data.module);
        break;
      case "begun": // from here on it computes
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#replace("it took too long"), patience);
        break;
      case "answer":
        if (data.isWhole) clearTimeout(this.#timer);
        if (data.number === this.#asked) this.#on.answer(data.answer, data.isWhole, data.took);
        break;
      case "failed": // to load
        this.#on.broken(data.why, false);
        break;
      case "broken":
        this.#replace(data.why);
    }
  }

  // replace starts another worker. It is not asked the same again, which would end the same way.
  #replace(why) {
    clearTimeout(this.#timer);
    this.#worker.terminate();
    this.#asked++;
    this.#start();
    this.#on.broken(why, true);
  }
}
