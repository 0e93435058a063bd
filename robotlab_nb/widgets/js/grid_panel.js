// A cell that is opened: its whole answer, prompt, input, errors and scores, and a person's rating.

import { copier } from "./copy.js";
import { make, own, say, SPACE } from "./dom.js";
import { drawDiff, drawScores } from "./grid_cells.js";
import { drafts } from "./line.js";
import { build } from "./prose.js";

const WAITS = "the kernel is busy: the rest of it comes when it hears this";

export class Panel {
  // grid: has records, reader, head, rate(), keepNote(), shut(), back(), baseOf() and title()
  constructor(grid) {
    this.grid = grid;
    this.index = null;
    this.build();
  }

  build() {
    this.title = make("strong");
    this.shut = this.button("Close", () => this.grid.shut());
    this.shut.title = "Esc";
    const copy = copier("the answer", () => this.answer(), () => this.said);
    this.stars = [1, 2, 3, 4, 5].map((number) => {
      const star = this.button(`★${SPACE}${number}`, () => this.grid.rate(this.index, number));
      star.setAttribute("aria-label", `rate ${number} of 5`);
      return star;
    });
    this.none = this.button("no rating", () => this.grid.rate(this.index, null));
    const stars = make("span", "rlnb-bar rlnb-stars", ...this.stars, this.none);
    stars.setAttribute("role", "group");
    stars.setAttribute("aria-label", "Rating");
    this.field = make("textarea");
    this.field.rows = 1;
    this.field.placeholder = "A note: Enter keeps it";
    this.field.setAttribute("aria-label", "Note");
    this.field.oninput = () => drafts.set(this.draftKey(), this.field.value);
    this.field.onkeydown = (event) => this.key(event);
    this.about = make("p", "rlnb-q");
    this.wait = make("p", "rlnb-q", WAITS);
    this.fault = make("blockquote", "rlnb-r rlnb-kf", make("p"));
    this.said = make("div", "rlnb-a");
    this.plain = make("p", "rlnb-t");
    this.changed = make("p", "rlnb-t");
    this.end = make("p", "rlnb-q");
    this.scores = make("div");
    this.folds = Object.fromEntries(
      ["Prompt", "Input"].map((name) => {
        const text = make("pre");
        own(text).tabIndex = 0;
        const node = make("details", "", make("summary", "", make("span", "", name)), text);
        return [name, { node, text }];
      }),
    );
    this.fields = make("dl");
    this.node = make(
      "div", "rlnb-panel",
      make("div", "rlnb-bar", this.title, make("span", "rlnb-e rlnb-bar", copy, this.shut)),
      make("div", "rlnb-bar rlnb-judge", stars, this.field),
      this.fault, this.said, this.plain, this.changed, this.end, this.wait, this.scores, this.about,
      this.folds.Prompt.node, this.folds.Input.node, this.fields,
    );
    own(this.node).tabIndex = -1;
    this.node.setAttribute("role", "region");
    this.node.hidden = true;
  }

  button(words, press) {
    const node = make("button", "", words);
    node.type = "button";
    node.onclick = press;
    return node;
  }

  draftKey() {
    return `${this.grid.head.seat}-note-${this.index}`;
  }

  key(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.grid.keepNote(this.index, this.field.value);
      drafts.set(this.draftKey(), "");
      this.grid.back();
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.forget();
      this.grid.back();
    }
    event.stopPropagation();
  }

  // What was typed and not kept goes; what is kept stands there.
  forget() {
    drafts.set(this.draftKey(), "");
    this.field.value = this.grid.noted(this.index);
  }

  answer() {
    const { all } = this.grid.records;
    return all.get(`D${this.index}`)?.text ?? all.get(`K${this.index}`)?.text ?? "";
  }

  // Shows a cell; null shows none.
  show(index) {
    if (this.index !== index) {
      this.index = index;
      if (index !== null) {
        this.field.value = drafts.get(this.draftKey()) || this.grid.noted(index);
        this.node.scrollTop = 0;
      }
    }
    this.draw();
  }

  draw() {
    const { all } = this.grid.records;
    const cell = this.index === null ? null : all.get(`K${this.index}`);
    this.node.hidden = !cell;
    if (!cell) return;
    const more = all.get(`D${this.index}`);
    const { blind } = this.grid.reader;
    const title = this.grid.title(this.index);
    say(this.title, title);
    this.node.setAttribute("aria-label", `Cell ${title}`);
    const rating = this.grid.rating(this.index);
    this.stars.forEach((star, at) => star.setAttribute("aria-pressed", String(at + 1 === rating)));
    this.none.hidden = !rating;
    this.wait.hidden = Boolean(more) || !this.grid.late();
    const error = more?.error?.length ? more.error.join("\n") : cell.err;
    this.fault.hidden = !error || blind;
    say(this.fault.firstChild, blind ? "" : `✕${SPACE}failed${more?.type ? ` · ${more.type}` : ""} · ${error}`);
    this.drawAnswer(cell, more);
    drawScores(this.scores, cell.scores);
    const told = [cell.word, more?.axes, cell.fig, cell.sim && "simulated", more?.run && `run ${more.run}`];
    say(this.about, blind ? cell.word : told.filter(Boolean).join(" · "));
    this.drawTexts(more, blind);
  }

  drawAnswer(cell, more) {
    const base = this.grid.baseOf(this.index);
    const other = base && this.grid.records.all.get(`D${base.index}`);
    const text = cell.ended && more ? more.text : cell.text;
    const compared = Boolean(base && cell.ended && base.record.ended);
    const tree = !compared && cell.ended && more?.tree?.length ? more.tree : null;
    if (tree && this.tree !== tree) this.said.replaceChildren(...tree.map(build));
    this.tree = tree;
    this.said.hidden = !tree;
    this.plain.hidden = Boolean(tree) || compared;
    if (!this.plain.hidden) say(this.plain, text);
    this.changed.hidden = !compared;
    if (compared) drawDiff(this.changed, other?.text ?? base.record.text, text);
    const left = cell.ended && more ? more.more : cell.more;
    const words = left ? `… ${left.toLocaleString("en")} more characters` : "";
    say(this.end, compared ? `${words} difference against ${base.name}`.trim() : words);
    this.end.hidden = !words && !compared;
  }

  drawTexts(more, blind) {
    const texts = { Prompt: blind ? "" : more?.prompt, Input: more?.input };
    for (const [name, text] of Object.entries(texts)) {
      this.folds[name].node.hidden = !text;
      say(this.folds[name].text, text ?? "");
    }
    const columns = more?.columns ?? [];
    const known = JSON.stringify(columns);
    if (this.known !== known)
      this.fields.replaceChildren(
        ...columns.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]),
      );
    this.known = known;
    this.fields.hidden = !columns.length;
  }
}
