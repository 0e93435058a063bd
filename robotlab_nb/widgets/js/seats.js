// A front end that takes the place of its own picture. The picture is what a notebook stores; the
// view stands beside it, while there is a kernel, and hides it.

import { make } from "./dom.js";

const LOOK_MS = 250;

// Where a notebook shows the picture with a mark in it: the outputs, beside which a view can stand.
function places(seat) {
  const found = [...document.getElementsByClassName(`rlnb-seat-${seat}`)];
  return found.map((node) => node.closest(".jp-OutputArea-output")).filter((out) => out?.parentElement);
}

// Stores a picture in the place of the one with the mark. A page that was loaded again no longer
// knows which output an update is for; JupyterLab's model of the notebook does.
export function keep(manager, seat, data) {
  const cells = manager?.context?.model?.cells ?? [];
  for (const { outputs } of cells) {
    for (let at = 0; at < (outputs?.length ?? 0); at += 1) {
      const html = [outputs.get(at).data?.["text/html"]].flat().join("");
      if (!html.includes(`rlnb-seat-${seat}`)) continue;
      outputs.set(at, { output_type: "display_data", data, metadata: {} });
      return true;
    }
  }
  return false;
}

// Puts a view beside each output that holds the picture. `seat()` is its mark, or null where the
// picture is to be seen; `show(el)` makes a view, which has close().
export class Seats {
  constructor(seat, show) {
    this.seat = seat;
    this.show = show;
    this.views = new Map();
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.look();
  }

  look() {
    for (const out of this.views.keys()) if (!out.isConnected) this.leave(out);
    const seat = this.seat();
    if (seat === null) return;
    for (const out of places(seat)) if (!this.views.has(out)) this.take(out);
  }

  take(out) {
    const frame = make("div", `${out.className} rlnb-seat`);
    out.after(frame);
    out.style.display = "none";
    this.views.set(out, { frame, view: this.show(frame) });
  }

  leave(out) {
    const { frame, view } = this.views.get(out);
    view.close();
    frame.remove();
    out.style.display = "";
    this.views.delete(out);
  }

  close() {
    clearInterval(this.timer);
    for (const out of [...this.views.keys()]) this.leave(out);
  }
}
