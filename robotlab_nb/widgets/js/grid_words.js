// Two answers word by word, and the order in which columns stand when their names are hidden.

const MOST_WORDS = 700;

function wordsOf(text) {
  return text.match(/\s*\S+/g) ?? [];
}

// Pieces of both texts: [kind, text], kind one of "same", "del", "ins". The longest common
// sequence of words; where texts are long, what their ends have in common is found first.
export function wordDiff(before, after) {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  let from = 0;
  while (from < a.length && from < b.length && a[from].trim() === b[from].trim()) from += 1;
  let end = 0;
  const room = Math.min(a.length, b.length) - from;
  while (end < room && a.at(-1 - end).trim() === b.at(-1 - end).trim()) end += 1;
  const [x, y] = [a.slice(from, a.length - end), b.slice(from, b.length - end)];
  const middle = x.length > MOST_WORDS || y.length > MOST_WORDS
    ? [["del", x.join("")], ["ins", y.join("")]]
    : longest(x, y);
  const pieces = [
    ["same", b.slice(0, from).join("")], ...middle,
    ["same", b.slice(b.length - end).join("")],
  ];
  return joined(pieces);
}

function longest(x, y) {
  const wide = y.length + 1;
  const best = new Uint16Array((x.length + 1) * wide);
  for (let i = x.length - 1; i >= 0; i -= 1)
    for (let j = y.length - 1; j >= 0; j -= 1)
      best[i * wide + j] = x[i].trim() === y[j].trim()
        ? best[(i + 1) * wide + j + 1] + 1
        : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
  const found = [];
  let [i, j] = [0, 0];
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i].trim() === y[j].trim()) {
      found.push(["same", y[j]]);
      i += 1;
      j += 1;
    } else if (j >= y.length || (i < x.length && best[(i + 1) * wide + j] >= best[i * wide + j + 1])) {
      found.push(["del", x[i]]);
      i += 1;
    } else {
      found.push(["ins", y[j]]);
      j += 1;
    }
  }
  return found;
}

function joined(pieces) {
  const found = [];
  for (const [kind, text] of pieces) {
    if (!text) continue;
    if (found.at(-1)?.[0] === kind) found.at(-1)[1] += text;
    else found.push([kind, text]);
  }
  return found;
}

// The numbers 0 to count - 1 in an order that a word decides: the same each time, and never the
// order that they had.
export function mixed(count, word) {
  let seed = 2166136261;
  for (const char of word) seed = Math.imul(seed ^ char.codePointAt(0), 16777619) >>> 0;
  const order = [...Array(count).keys()];
  for (let at = count - 1; at > 0; at -= 1) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const other = Math.floor((seed / 4294967296) * (at + 1));
    [order[at], order[other]] = [order[other], order[at]];
  }
  return order.every((number, at) => number === at) ? order.reverse() : order;
}

// A letter for a column whose name is hidden.
export function letter(number) {
  const rest = Math.floor(number / 26);
  return (rest ? letter(rest - 1) : "") + String.fromCharCode(65 + (number % 26));
}
