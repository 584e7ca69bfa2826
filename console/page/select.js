// A selection is a node, {node}, or a connection of two nodes as layout.js makes them, {a, b, silent}; null is none.

// passes reports whether hops lead through what is selected, a connection in either direction.
export function passes(hops, selection) {
  if (!selection) return true;
  if (selection.node !== undefined) return hops.some((hop) => hop.node === selection.node);
  const { a, b, silent } = selection;
  return steps(hops).some((step) => step.silent === silent && (joins(step, a, b) || joins(step, b, a)));
}

const joins = ({ from, to }, a, b) =>
  from.node === a.node && from.egress_port === a.port && to.node === b.node && to.ingress_port === b.port;

// steps returns the pairs of known hops that follow each other, and how many silent ones are in between.
export function steps(hops) {
  const found = [];
  let from = null;
  let silent = 0;
  for (const hop of hops) {
    if (hop.node === null) {
      silent += Math.max(1, hop.missing ?? 0);
      continue;
    }
    if (from) found.push({ from, to: hop, silent });
    from = hop;
    silent = 0;
  }
  return found;
}

// shownPath returns the latest path of a flow that leads through what is selected, or undefined.
export function shownPath(flow, selection) {
  return flow.paths?.find((path) => passes(path.hops, selection));
}

// matchesText reports whether every word occurs in one of the texts.
export function matchesText(words, texts) {
  const all = texts.join('\n').toLowerCase();
  return words.every((word) => all.includes(word));
}

export const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
