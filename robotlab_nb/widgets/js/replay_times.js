// The time of a replay. Even time gives each step a moment that can be followed and shortens what
// took long; real time is that of the run.

const LEAST_S = 0.7;
const MOST_S = 3;
const WRITTEN = new Set(["text", "think"]);

export class Times {
  constructor(steps) {
    this.steps = steps;
    this.realAt = steps.map((step) => step.at);
    this.evenAt = [0];
    for (let at = 1; at < steps.length; at += 1) {
      const gap = Math.min(Math.max(steps[at].at - steps[at - 1].at, LEAST_S), MOST_S);
      this.evenAt.push(this.evenAt[at - 1] + gap);
    }
    this.even = true;
    this.time = 0;
    // Answers that are written while other steps pass: when, and what.
    this.writing = steps.flatMap((step, at) =>
      step.asked === undefined ? [] : [[at, step.asked, step.first, writtenIn(step.ops)]]);
  }

  get scale() {
    return this.even ? this.evenAt : this.realAt;
  }

  seek(step, real) {
    this.time = real === undefined ? this.scale[step] : this.mapped(real, this.realAt, this.scale);
  }

  // Lets time pass; which step it is now.
  pass(seconds) {
    this.time += seconds;
    return this.place(this.time, this.scale);
  }

  real() {
    return this.mapped(this.time, this.scale, this.realAt);
  }

  place(time, scale) {
    let [low, high] = [0, scale.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (scale[middle] <= time + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  mapped(time, from, to) {
    const at = this.place(time, from);
    if (at + 1 >= from.length) return to[at];
    const gap = from[at + 1] - from[at];
    const share = gap > 0 ? Math.min(Math.max((time - from[at]) / gap, 0), 1) : 0;
    return to[at] + share * (to[at + 1] - to[at]);
  }

  // Changes that show what there is by now of answers whose step is still to come.
  written(step) {
    const changes = [];
    for (const [at, asked, first, [entry, texts, whole]] of this.writing) {
      const end = this.scale[at];
      const start = this.scale[asked] + first * (end - this.scale[asked]);
      if (at <= step || this.time < start || !whole) continue;
      let left = Math.floor((whole * (this.time - start)) / Math.max(end - start, 1e-9));
      if (entry) changes.push(entry);
      for (const [key, record] of texts) {
        if (left <= 0) break;
        changes.push([key, { ...record, text: record.text.slice(0, left), on: left < record.text.length }]);
        left -= record.text.length;
      }
    }
    return changes;
  }
}

// Of an answer's changes: the entry that it begins, the texts in it, and how long these are.
function writtenIn(ops) {
  const texts = ops.filter(([, change]) => change?.in && WRITTEN.has(change.kind) && change.text);
  const entry = ops.find(([key]) => key === texts[0]?.[1].in);
  return [entry, texts, texts.reduce((sum, [, record]) => sum + record.text.length, 0)];
}
