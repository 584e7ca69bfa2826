// Boxes in columns with bands between them, as high as what goes through them; d3-sankey lays them out.
import { sankey as layout, type SankeyLink, type SankeyNode } from 'd3-sankey';

interface Place {
  key: string;
  label: string;
  column: number;
}
export type Box = SankeyNode<Place, object>;
export type Band = SankeyLink<Place, object> & { source: Box; target: Box };

const gap = 16; // so that the label of a box has room, however low the box is

/** sankey lines up chains of labels, a column for each place in the chain, in which the largest is at the top. */
export function sankey(
  chains: { labels: string[]; value: number }[],
  height: number,
): { boxes: Box[]; bands: Band[]; height: number } {
  const boxes = new Map<string, Place & { fixedValue: number }>();
  const bands = new Map<string, { source: string; target: string; value: number }>();
  const add = <T, K extends keyof T>(to: Map<string, T>, key: string, fresh: T, field: K, value: number): void => {
    const one = to.get(key) ?? fresh;
    (one[field] as number) += value;
    to.set(key, one);
  };
  for (const { labels, value } of chains.filter((chain) => chain.value > 0)) {
    const keys = labels.map((label, column) => `${column} ${label}`);
    keys.forEach((key, column) => {
      add(boxes, key, { key, label: labels[column]!, column, fixedValue: 0 }, 'fixedValue', value);
      const source = keys[column - 1];
      if (source !== undefined) add(bands, `${source}>${key}`, { source, target: key, value: 0 }, 'value', value);
    });
  }
  if (boxes.size === 0) return { boxes: [], bands: [], height: 0 };
  const columns = Math.max(...[...boxes.values()].map((box) => box.column));
  const most = Math.max(
    ...Array.from({ length: columns + 1 }, (_, i) => [...boxes.values()].filter((box) => box.column === i).length),
  );
  const all = height + (most - 1) * gap;
  const graph = layout<Place, object>()
    .nodeId((box) => box.key)
    .nodeAlign((box) => box.column)
    .nodeSort((a, b) => b.value! - a.value!)
    .nodePadding(gap)
    .extent([
      [0, 0],
      [1, all],
    ])({ nodes: [...boxes.values()], links: [...bands.values()] });
  return { boxes: graph.nodes, bands: graph.links as Band[], height: all };
}
