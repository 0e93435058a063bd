// The grid of an experiment: it fills while cells are asked, and a person reads and rates in it. It
// takes the place of its own picture, which is what the notebook stores.

import { GridView } from "./grid_view.js";
import { Line } from "./line.js";
import { follow, Records } from "./records.js";
import { keep, Seats } from "./seats.js";

export default () => {
  const records = new Records();
  let line = null;
  return {
    initialize({ model }) {
      follow(records, model);
      line = new Line((content) => model.send(content));
      const grid = () => records.all.get("grid");
      const seats = new Seats(
        () => (grid()?.open ? grid().seat : null),
        (frame) => new GridView(frame, records, line),
      );
      model.on("msg:custom", ({ still, last }) => {
        if (!still) return;
        let kept = false;
        try {
          kept = keep(model.widget_manager, grid().seat, still);
        } catch { /* another front end, or another version of this one */ }
        if (kept && last) seats.close();
      });
      // A kernel that is gone takes the grid along; its picture stays, with the ratings.
      let alive = true;
      model.on("comm_live_update", () => {
        alive = !alive;
        if (!alive) seats.close();
      });
      return () => seats.close();
    },
    render({ el }) {
      const view = new GridView(el, records, line);
      return () => view.close();
    },
  };
};
