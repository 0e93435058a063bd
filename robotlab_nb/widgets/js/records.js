// The records of a view. They come from Python: a snapshot, then numbered batches of changes.

export class Records {
  constructor() {
    this.all = new Map();
    this.n = -1;
    this.at = 0;
    this.stamp = 0;
    this.views = new Set();
  }

  // Returns whether nothing is missing before this batch.
  batch(message) {
    if (message.n > this.n + 1) return false;
    if (message.n === this.n + 1) this.apply(message);
    return true;
  }

  load(snapshot) {
    if (!(snapshot?.n > this.n)) return;
    const kept = new Set(snapshot.ops.map(([key]) => key));
    const gone = [...this.all.keys()].filter((key) => !kept.has(key));
    this.apply({ ...snapshot, ops: [...gone.map((key) => [key, null]), ...snapshot.ops] });
  }

  apply({ n, at, ops }) {
    for (const [key, change] of ops) {
      const record = this.all.get(key) ?? {};
      if (change === null) this.all.delete(key);
      else if (typeof change === "string") record.text += change;
      else Object.assign(record, change);
      if (change !== null) this.all.set(key, record);
    }
    Object.assign(this, { n, at, stamp: performance.now() });
    const keys = new Set(ops.map(([key]) => key));
    for (const view of this.views) view.draw(keys);
  }

  elapsed() {
    const since = this.all.get("run")?.live ? (performance.now() - this.stamp) / 1000 : 0;
    return this.at + since;
  }
}

// Keeps records up to date with a widget's model; what is missing is asked for.
export function follow(records, model) {
  records.load(model.get("snapshot"));
  model.on("change:snapshot", () => records.load(model.get("snapshot")));
  model.on("msg:custom", (message) => {
    if (!records.batch(message)) model.send({ want: records.n });
  });
}
