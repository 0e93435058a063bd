// The player of a replay. All steps are here; nothing is asked of the kernel. It is not a widget's
// view: the widget's model looks for the places that bear its mark and plays there, over the list of
// steps that the notebook has stored. What a model or a tool wrote only ever enters text nodes.

import { make, own, say, sign } from "./dom.js";
import { Records } from "./records.js";
import { Calls } from "./replay_calls.js";
import { Times } from "./replay_times.js";
import { View } from "./view.js";

const PLAY_MS = 40;
const SPEEDS = [["¼×", 0.25], ["½×", 0.5], ["1×", 1], ["2×", 2], ["4×", 4], ["8×", 8]];
const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

// The records of the run's view as they were at a step: its changes and all before it.
class Past extends Records {
  constructor(steps) {
    super();
    this.steps = steps;
    this.folded = { step: -1, all: new Map() };
  }

  elapsed() {
    return this.at;
  }

  fold(step) {
    if (step < this.folded.step) this.folded = { step: -1, all: new Map() };
    const { all } = this.folded;
    for (let at = this.folded.step + 1; at <= step; at += 1) for (const change of this.steps[at].ops) applyTo(all, change);
    this.folded.step = step;
    return new Map(all);
  }

  // Shows a step, and of answers that are being written then what there is of them.
  show(step, elapsed, written) {
    const all = this.fold(step);
    for (const change of written) applyTo(all, change);
    const keys = new Set();
    for (const key of this.all.keys()) if (!all.has(key)) keys.add(key);
    for (const [key, record] of all) if (this.all.get(key) !== record) keys.add(key);
    // A question that was settled later is open again: its card is made anew.
    const open = [...keys].filter((key) => key[0] === "Q" && this.all.get(key)?.over && !all.get(key)?.over);
    Object.assign(this, { all, at: elapsed });
    for (const view of this.views) {
      for (const key of open) view.remove(key);
      view.draw(keys);
    }
  }
}

function applyTo(all, [key, change]) {
  if (change === null) all.delete(key);
  else if (typeof change === "string") all.set(key, { ...all.get(key), text: all.get(key).text + change });
  else all.set(key, { ...all.get(key), ...change });
}

class Player {
  // place: where the list of steps stands; data: all there is; kept: the step that was shown last
  constructor(place, data, kept) {
    this.place = place;
    this.data = data;
    this.kept = kept;
    this.steps = data.steps;
    this.times = new Times(data.steps);
    this.records = new Past(data.steps);
    this.calls = new Calls(data);
    this.at = -1;
    this.build();
    this.view = new View(this.stage, this.records, () => {});
    // What is news is told here, once.
    for (const name of ["role", "aria-live"]) this.view.news.removeAttribute(name);
    this.go(kept.step);
  }

  button(words, title, act) {
    const button = make("button", "", words);
    button.type = "button";
    button.title = title;
    button.onclick = act;
    return button;
  }

  build() {
    this.back = this.button("‹ Back", "one step back (←)", () => this.move(-1));
    this.play = this.button("▸ Play", "play and pause (space)", () => this.toggle());
    this.next = this.button("Step ›", "one step on (→)", () => this.move(1));
    this.slider = make("input", "rlnb-slide");
    Object.assign(this.slider, { type: "range", min: 0, max: this.steps.length - 1, step: 1 });
    this.slider.setAttribute("aria-label", "step");
    this.slider.oninput = () => {
      this.pause();
      this.go(Number(this.slider.value));
    };
    this.speed = make("select");
    this.speed.setAttribute("aria-label", "speed");
    for (const [words, speed] of [...SPEEDS, ["as it happened", 0]]) this.speed.append(new Option(words, speed));
    this.speed.value = String(this.kept.speed);
    this.speed.title = "slow motion and fast; pauses are evened out, except as it happened";
    this.speed.onchange = () => this.change();
    this.count = make("span", "rlnb-q rlnb-s rlnb-count");
    this.shut = this.button("■ Close", "leave the list of steps", () => this.close());
    const bar = make(
      "div", "rlnb-bar rlnb-keys",
      this.back, this.play, this.next, this.slider, this.count, this.speed, this.shut,
    );
    this.now = make("p", "rlnb-now");
    this.stage = make("div", "rlnb-stage");
    this.list = make("ol", "rlnb-steps");
    this.folded = make(
      "details", "",
      make("summary", "", make("span", "", "All steps"), ` · ${this.steps.length}`), this.list,
    );
    this.folded.ontoggle = () => this.fill();
    this.news = make("div", "rlnb-news");
    this.news.setAttribute("role", "status");
    this.news.setAttribute("aria-live", "polite");
    this.strides = make("p", "rlnb-q", `A long run: its view moves on at every ${this.data.every}th step.`);
    this.strides.hidden = this.data.every === 1;
    const halves = make("div", "rlnb-halves", this.stage, this.calls.root);
    this.root = make(
      "div", "rlnb-c rlnb-box rlnb-live rlnb-replay", bar, this.now, this.strides, halves, this.folded, this.news,
    );
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "replay: arrow keys step, space plays");
    // JupyterLab would take keys for its own.
    own(this.root);
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.still = [...this.place.children];
    this.again = this.button("▸ Play again", "show the player", () => this.open());
    this.open();
  }

  open() {
    for (const node of this.still) node.hidden = true;
    this.again.remove();
    this.place.append(this.root);
  }

  close() {
    this.pause();
    this.root.remove();
    for (const node of this.still) node.hidden = false;
    this.place.append(make("p", "rlnb-c rlnb-live", this.again));
    this.again.focus();
  }

  // The replay is over for good: the list of steps stays.
  end() {
    this.close();
    this.place.lastChild.remove();
    this.view.close();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = event.target;
    const writes = on.matches("input:not([type=range]), select, textarea");
    const presses = on.matches("button, summary, [role=button]");
    const boxes = on.closest("[role=button]");
    if (event.key in KEYS && !writes && !boxes) this.move(KEYS[event.key]);
    else if (event.key === " " && !writes && !presses) this.toggle();
    else {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // -- where it is ---------------------------------------------------------------------------

  move(by) {
    this.pause();
    this.go(Math.min(Math.max(this.at + by, 0), this.steps.length - 1));
    say(this.news, this.now.textContent);
  }

  go(step, written = []) {
    const fresh = step !== this.at;
    this.at = this.kept.step = step;
    if (fresh) this.tell();
    const { at } = this.steps[step];
    this.records.show(step, written.length ? Math.max(this.real, at) : at, written);
    this.view.root.setAttribute("aria-label", "the run at this step");
    if (fresh && !this.timer) this.times.seek(step);
    if (this.wrote && !written.length) this.sort();
    this.wrote = written.length > 0 || (this.wrote && !fresh);
  }

  tell() {
    const step = this.steps[this.at];
    const [mark, number] = [make("span"), make("span", "rlnb-q", `${this.at + 1}.`)];
    sign(mark, step.icon, "", step.hue);
    const where = make("span", "rlnb-q", [step.when, step.where].filter(Boolean).join(" · "));
    const words = make("span", "", make("strong", "", step.who), " ", step.words);
    this.now.replaceChildren(number, " ", mark, " ", words, " ", where);
    say(this.count, `step ${this.at + 1} of ${this.steps.length}`);
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", `${this.at + 1}: ${step.who} ${step.words}`);
    this.back.disabled = this.at === 0;
    this.next.disabled = this.at === this.steps.length - 1;
    // A button that can no longer be pressed hears no keys.
    if (document.activeElement?.disabled && this.root.contains(document.activeElement)) this.root.focus();
    this.calls.show(step);
    this.mark();
  }

  // Entries that were written out of turn, back in order.
  sort() {
    const { log, nodes } = this.view.transcript;
    const entries = [...nodes].filter(([key]) => key[0] === "E");
    entries.sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)));
    for (const [key, { node }] of entries)
      if (node.parentNode === log) this.view.transcript.settle?.(key, node);
  }

  fill() {
    if (!this.folded.open || this.list.children.length) return;
    this.steps.forEach((step, at) => {
      const [mark, when] = [make("span"), make("span", "rlnb-q rlnb-e", step.when)];
      sign(mark, step.icon, "", step.hue);
      const words = make("span", "", make("strong", "", step.who), " ", step.words);
      const go = this.button("", "", () => this.move(at - this.at));
      go.replaceChildren(make("span", "rlnb-q", `${at + 1}.`), mark, words, when);
      this.list.append(make("li", "", go));
    });
    this.mark();
  }

  mark() {
    const rows = this.list.children;
    this.marked?.removeAttribute("aria-current");
    this.marked = rows[this.at]?.firstChild;
    this.marked?.setAttribute("aria-current", "step");
  }

  // -- playing -------------------------------------------------------------------------------

  change() {
    this.kept.speed = Number(this.speed.value);
    this.times.even = this.kept.speed > 0;
    this.times.seek(this.at, this.timer ? this.real : undefined);
  }

  toggle() {
    if (this.timer) this.pause();
    else {
      if (this.at === this.steps.length - 1) this.go(0);
      this.change();
      this.stamp = performance.now();
      this.timer = setInterval(() => this.tick(), PLAY_MS);
      say(this.play, "‖ Pause");
    }
  }

  pause() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
    say(this.play, "▸ Play");
    this.go(this.at);
  }

  tick() {
    const now = performance.now();
    const passed = (now - this.stamp) / 1000;
    this.stamp = now;
    if (!this.root.isConnected) return;
    const step = this.times.pass(passed * (this.kept.speed || 1));
    this.real = this.times.real();
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.go(step, calm ? [] : this.times.written(step));
    if (step === this.steps.length - 1) this.pause();
  }
}

export default () => ({
  initialize({ model }) {
    const mark = model.get("mark");
    const data = model.get("replay");
    const kept = { step: 0, speed: 1 };
    const players = new Map();
    let [due, over] = [false, false];
    const look = () => {
      due = false;
      for (const place of over ? [] : document.getElementsByClassName(mark))
        if (!players.has(place)) players.set(place, new Player(place, data, kept));
    };
    // Outputs come and go, and may come later than we do.
    const observer = new MutationObserver(() => {
      if (!due) requestAnimationFrame(look);
      due = true;
    });
    observer.observe(document.body, { childList: true, subtree: true });
    look();
    return () => {
      over = true;
      observer.disconnect();
      for (const player of players.values()) player.end();
    };
  },
  render() {},
});
