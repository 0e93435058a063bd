// Questions of a run that is shown nowhere else: its cards, and nothing around them.

import { drawAsk } from "./asks.js";
import { make, PAGE, say } from "./dom.js";
import { follow, Records } from "./records.js";

class CardBox {
  constructor(el, records, send) {
    this.records = records;
    this.send = send;
    this.nodes = new Map();
    this.told = new Map();
    this.fresh = [];
    this.asks = make("div");
    this.news = make("div", "rlnb-news");
    this.news.setAttribute("role", "status");
    this.news.setAttribute("aria-live", "polite");
    el.append(make("div", "rlnb-c rlnb-live", this.asks, this.news));
    records.views.add(this);
    this.draw(new Set(records.all.keys()));
    send({ hello: PAGE });
    // Said more than once: while a page connects anew, what it says may be lost.
    this.hellos = [1000, 3000].map((ms) => setTimeout(() => send({ hello: PAGE }), ms));
  }

  close() {
    this.records.views.delete(this);
    this.hellos.forEach(clearTimeout);
  }

  draw(keys) {
    for (const key of keys) {
      if (key[0] !== "Q") continue;
      const ask = this.records.all.get(key);
      if (ask) drawAsk(this, key, ask);
      else this.remove(key);
    }
    if (this.fresh.length) say(this.news, this.fresh.slice(-6).join("; "));
    this.fresh = [];
  }

  remove(key) {
    this.nodes.get(key)?.node.remove();
    this.nodes.delete(key);
  }

  node(key, parent, build) {
    let parts = this.nodes.get(key);
    if (!parts) {
      parts = build();
      this.nodes.set(key, parts);
      parent.append(parts.node);
    }
    return parts;
  }

  note(key, name, word) {
    if (this.told.get(key) !== word) this.fresh.push(`${name} ${word}`);
    this.told.set(key, word);
  }
}

export default () => {
  const records = new Records();
  return {
    initialize({ model }) {
      follow(records, model);
    },
    render({ model, el }) {
      const box = new CardBox(el, records, (content) => model.send(content));
      return () => box.close();
    },
  };
};
