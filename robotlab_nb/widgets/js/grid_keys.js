// The keyboard of a grid, and what a reader has chosen in it: kept over a page that is loaded again.

import { drafts } from "./line.js";

const PAGE_ROWS = 5;
const NOTHING = { at: null, open: false, only: false, blind: false, base: null };

export const choices = {
  get: (seat) => {
    try { return { ...NOTHING, ...JSON.parse(drafts.get(`${seat}-grid`) || "{}") }; } catch { return { ...NOTHING }; }
  },
  set: (seat, chosen) => drafts.set(`${seat}-grid`, JSON.stringify(chosen)),
};

// What a key does: name of the grid's method, and what it is given.
export function keyed(event) {
  if (event.ctrlKey || event.metaKey) {
    if (event.key === "Home") return ["edge", -1];
    return event.key === "End" ? ["edge", 1] : null;
  }
  if (event.altKey || event.isComposing) return null;
  if (event.key >= "1" && event.key <= "5") return ["rateHere", Number(event.key)];
  return KEYS[event.key] ?? null;
}

const KEYS = {
  ArrowLeft: ["move", 0, -1],
  ArrowRight: ["move", 0, 1],
  ArrowUp: ["move", -1, 0],
  ArrowDown: ["move", 1, 0],
  PageUp: ["move", -PAGE_ROWS, 0],
  PageDown: ["move", PAGE_ROWS, 0],
  Home: ["move", 0, -1e6],
  End: ["move", 0, 1e6],
  Enter: ["open"],
  Escape: ["shut"],
  0: ["rateHere", null],
  n: ["write"],
  b: ["toggle", "blind"],
  f: ["toggle", "only"],
  d: ["compare"],
};

// Which cell is reached from another. rows: numbers of the rows that are shown; columns: numbers of
// the columns as they stand; cells(row, column): the indexes of the cells there, in order.
export function reached({ row, column, again }, down, right, { rows, columns, cells }) {
  const [y, x] = [Math.max(rows.indexOf(row), 0), columns.indexOf(column)];
  const step = Math.sign(down);
  const here = cells(rows[y], columns[x]) ?? [];
  if (Math.abs(down) === 1 && here[again + step] !== undefined) return here[again + step];
  let [toY, toX] = [clamped(y + down, rows.length), clamped(x + right, columns.length)];
  if (toY === y && toX === x) return null;
  // Where nothing stands, the next one; from an edge, inwards.
  const side = Math.abs(right) > 1 ? -Math.sign(right) : Math.sign(right);
  for (; rows[toY] !== undefined && columns[toX] !== undefined; toY += step, toX += side) {
    const there = cells(rows[toY], columns[toX]) ?? [];
    if (!there.length) continue;
    if (step) return step > 0 ? there[0] : there.at(-1);
    return there[Math.min(again, there.length - 1)];
  }
  return null;
}

function clamped(number, count) {
  return Math.min(Math.max(number, 0), count - 1);
}
