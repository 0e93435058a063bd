// What was sent to a model and what it answered, beside the step at which that happened.

import { copier } from "./copy.js";
import { make, own } from "./dom.js";

export class Calls {
  constructor(data) {
    this.data = data;
    // Sections that a reader opened stay open from step to step.
    this.open = new Set(["new"]);
    this.root = make("div", "rlnb-calls");
    own(this.root).tabIndex = 0;
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", "sent and received");
    this.shown = "";
  }

  show(step) {
    const asks = step.call !== undefined;
    const answered = step.kind === "answer";
    const shown = asks ? `${step.call} ${answered}` : `tool ${step.tool ?? ""}`;
    if (shown === this.shown && asks) return;
    this.shown = shown;
    const parts = asks ? this.call(step.call, answered) : this.other(step);
    this.root.replaceChildren(...parts);
    this.root.scrollTop = 0;
  }

  other({ given, got }) {
    const note = make("p", "rlnb-q", "No model is asked at this step.");
    if (given === undefined) return [note];
    const parts = [make("p", "", make("strong", "", "ƒ arguments")), make("pre", "", given)];
    if (got !== undefined) parts.push(make("p", "", make("strong", "", "result")), make("pre", "", got));
    return parts;
  }

  call(number, answered) {
    const call = this.data.calls[number];
    if (!call) {
      const where = make("code", "", `replay.exchanges[${number}]`);
      return [make("p", "rlnb-q", "More than a page can hold: ", where, " has it.")];
    }
    const sent = [
      make("p", "", make("strong", "", "→ sent to "), call.to),
      ...this.rows(call.sent),
      this.json("request as JSON", call.request),
    ];
    if (!answered) return [...sent, make("p", "rlnb-q", "← nothing has come back yet")];
    const got = [
      make("p", "", make("strong", "", "← received "), call.back),
      ...this.rows(call.got),
      this.json("answer as JSON", call.response),
    ];
    return [...got, this.fold("→ what had been sent", [...sent], "sent")];
  }

  rows(rows) {
    const old = rows.filter((row) => row[3]);
    const parts = [];
    if (old.length) {
      const title = `sent again · ${old.length} ${old.length === 1 ? "piece" : "pieces"}, as before`;
      parts.push(this.fold(title, old.map((row) => this.row(row)), "again"));
    }
    for (const row of rows) if (!row[3]) parts.push(this.row(row));
    return parts;
  }

  row([kind, who, place]) {
    const text = this.data.texts[place];
    if (kind === "tool" || kind === "think") return this.fold(who, [make("pre", "", text)], kind);
    if (kind === "note") return make("p", "rlnb-q", `${who}: ${text}`);
    const head = make("p", kind === "fault" ? "rlnb-i rlnb-kf" : "rlnb-q");
    head.append(make("strong", "", kind === "fault" ? `✕ ${who}` : kind === "call" ? `ƒ ${who}` : who));
    return make("div", "rlnb-said", head, make("pre", "", text));
  }

  json(title, pieces) {
    const text = pieces.map((place) => this.data.texts[place]).join("");
    const shown = make("pre", "", text);
    const copy = copier(title, () => text, () => shown);
    return this.fold(title, [copy, shown], title);
  }

  fold(title, inside, name) {
    const node = make("details", "", make("summary", "", make("span", "", title)), ...inside);
    node.open = this.open.has(name);
    node.addEventListener("toggle", () => this.open[node.open ? "add" : "delete"](name));
    return node;
  }
}
