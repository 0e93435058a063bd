// What is open under the table of a log browser: a run, its replay, or two runs side by side.

import { adopt } from "./adopt.js";
import { copier } from "./copy.js";
import { make, say } from "./dom.js";

const KINDS = { run: "", replay: "replay of ", compare: "" };

export class Pane {
  constructor(tell, leave) {
    this.tell = tell;
    this.leave = leave;
    this.title = make("b");
    this.tags = make("span", "rlnb-bar");
    this.again = make("button", "", "▸ Replay");
    this.again.type = "button";
    this.shut = make("button", "", "✕ Shut");
    this.shut.type = "button";
    this.shut.title = "shut this (Escape)";
    this.shut.onclick = () => this.close();
    this.code = make("code");
    this.codes = make("p", "rlnb-q rlnb-codes", this.code, " ", copier("the code", () => this.code.textContent, () => this.code));
    this.fault = make("p", "rlnb-i rlnb-kf");
    this.body = make("div", "rlnb-opened");
    this.body.tabIndex = 0;
    this.root = make(
      "section", "rlnb-pane",
      make("div", "rlnb-bar", this.title, this.tags, make("span", "rlnb-e rlnb-bar", this.again, this.shut)),
      this.codes, this.fault, this.body,
    );
    this.root.onkeydown = (event) => {
      if (event.key === "Escape") this.close();
    };
  }

  close() {
    this.tell({ shut: true });
    this.leave();
  }

  draw(open, { writable }) {
    this.root.hidden = !open;
    if (!open) {
      this.body.replaceChildren();
      this.drawn = null;
      return;
    }
    const replays = open.kind === "replay";
    say(this.title, `${KINDS[open.kind]}${open.title}`);
    this.root.setAttribute("aria-label", `${KINDS[open.kind]}${open.title}`);
    say(this.again, replays ? "The run" : "▸ Replay");
    this.again.hidden = open.kind === "compare" || Boolean(open.fault);
    this.again.onclick = () => this.tell(replays ? { run: open.runs } : { replay: open.runs });
    say(this.code, open.code);
    this.codes.hidden = !open.code;
    say(this.fault, open.fault);
    this.fault.hidden = !open.fault;
    const tags = JSON.stringify([open.tags, writable, open.runs]);
    if (tags !== this.tagged) {
      this.tags.replaceChildren(...open.tags.map(([number, word]) => this.tag(open.runs, number, word, writable)));
    }
    this.tagged = tags;
    const drawn = `${open.mark}\n${open.html}`;
    if (drawn !== this.drawn) this.fill(open);
    this.drawn = drawn;
  }

  // A replay's player looks for the mark and takes the place of the list in it.
  fill({ html, mark, runs }) {
    const same = this.runs === runs.join();
    const top = same ? this.body.scrollTop : 0;
    const folds = [...this.body.querySelectorAll("details")].map((node) => node.open);
    const inner = make("div", mark, ...adopt(html));
    this.body.replaceChildren(inner);
    if (same && !mark) {
      [...this.body.querySelectorAll("details")].forEach((node, n) => { node.open = folds[n] ?? node.open; });
    }
    this.body.scrollTop = top;
    this.runs = runs.join();
  }

  tag(runs, number, word, writable) {
    const node = make("button", "rlnb-chip", word, writable ? " ✕" : "");
    node.type = "button";
    node.disabled = !writable;
    node.setAttribute("aria-label", `take the tag ${word} away`);
    node.onclick = () => this.tell({ untag: number, runs });
    return node;
  }
}
