// What is drawn of the topology as rows of a table.
import type { Cable, Graph } from './model';

const titles = ['From', 'Port', 'To', 'Port', 'Packets', 'Mean delay, ns', 'Drops', 'Utilization', 'Last seen'];

/** sideRows are the directions of cables. */
export function sideRows(cables: Cable[], name: (node: number) => string): string[][] {
  const cell = (value: number | null | undefined): string => `${value ?? ''}`;
  return [
    titles,
    ...cables
      .flatMap(({ sides }) => sides)
      .map((s) => [
        name(s.from),
        cell(s.fromPort),
        name(s.to),
        cell(s.toPort),
        cell(s.packets),
        cell(s.delayNs),
        cell(s.drops),
        cell(s.use),
        s.last,
      ]),
  ];
}

/** linkRows are the links of a map, with what is marked of them. */
export function linkRows(graph: Graph, over: Set<string>, what: string): string[][] {
  const name = (node: number): string => graph.stations.find((s) => s.id === node)?.name ?? `node ${node}`;
  const marks = (cable: Cable): string =>
    [cable.lost ? 'lost' : '', over.has(`${cable.a} ${cable.b}`) ? what : ''].filter(Boolean).join(', ');
  return [['From', 'To', 'Marked'], ...graph.cables.map((cable) => [name(cable.a), name(cable.b), marks(cable)])];
}
