// What a view says to the kernel, said again until it was heard; and what was typed and not said yet.

import { PAGE } from "./dom.js";

const HEARD_MS = 1500;
const RAREST_MS = 30000;

// Shared by all views of a model. A message is said more and more rarely; it counts once.
export class Line {
  constructor(send) {
    this.send = send;
    this.open = new Map();
    this.count = 0;
  }

  tell(content) {
    this.count += 1;
    const id = `${PAGE}.${this.count}`;
    const now = performance.now();
    this.open.set(id, { content, at: now, next: now + HEARD_MS, wait: HEARD_MS });
    this.send({ ...content, id, hello: PAGE });
  }

  // Forgets what was heard; says the rest again when it is time.
  look(heard) {
    for (const id of heard) this.open.delete(id);
    const now = performance.now();
    for (const [id, each] of this.open) {
      if (now < each.next) continue;
      each.wait = Math.min(each.wait * 2, RAREST_MS);
      each.next = now + each.wait;
      this.send({ ...each.content, id, hello: PAGE });
    }
  }

  late(each) {
    return performance.now() - each.at > HEARD_MS;
  }
}

// What was typed and not sent, kept over a page that is loaded again.
export const drafts = {
  get: (seat) => {
    try { return sessionStorage.getItem(`rlnb-${seat}`) ?? ""; } catch { return ""; }
  },
  set: (seat, text) => {
    try {
      if (text) sessionStorage.setItem(`rlnb-${seat}`, text);
      else sessionStorage.removeItem(`rlnb-${seat}`);
    } catch { /* a page may not store */ }
  },
};
