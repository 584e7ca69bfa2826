// Tables and charts as CSV, as they are shown: for what no list of the API has.
import { tick } from 'svelte';
import { whole } from './slots';

const quoted = (cell: string): string => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** csv writes rows of cells, as RFC 4180 says. */
export const csv = (rows: string[][]): string => rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');

/** tablesOf reads the tables of a part of a page: their titles, and all of their rows. */
export async function tablesOf(part: HTMLElement): Promise<string[][]> {
  const tables = [...part.querySelectorAll('table')];
  const draw = async (all: boolean): Promise<void> => {
    for (const table of tables) table.dispatchEvent(new CustomEvent(whole, { bubbles: true, detail: all }));
    await tick();
  };
  await draw(true);
  part.classList.add('copied'); // without the buttons in cells
  const rows = tables.flatMap((table) =>
    [...table.rows]
      .filter((row) => !row.classList.contains('rest'))
      .map((row) => [...row.cells].map((cell) => cell.innerText.replaceAll(/\s+/g, ' ').trim())),
  );
  part.classList.remove('copied');
  await draw(false);
  return rows;
}

/** linesOf are measures over time as rows: what is not known is empty. */
export const linesOf = (
  start: number,
  stepMs: number,
  lines: { title: string; values: (number | null)[]; before?: (number | null)[] }[],
): string[][] => {
  const columns = lines.flatMap(({ title, values, before }) => [
    { title, values },
    ...(before ? [{ title: `${title}, before`, values: before }] : []),
  ]);
  const count = Math.max(0, ...columns.map(({ values }) => values.length));
  return [
    ['Time', ...columns.map(({ title }) => title)],
    ...Array.from({ length: count }, (_, i) => [
      new Date(start + i * stepMs).toISOString(),
      ...columns.map(({ values }) => (values[i] ?? '').toString()),
    ]),
  ];
};

interface Column {
  at: number;
  values: (number | null)[];
}

/** cellsOf are the cells of a heat map as rows, one for each time; names are those of its rows from below, more is what else is known of a time. */
export function cellsOf(
  columns: Column[],
  names: string[],
  before: Column[] | null = null,
  more: { title: string; of: (at: number) => number | undefined }[] = [],
): string[][] {
  const then = new Map((before ?? []).map((column) => [column.at, column]));
  const times = [...new Set([...columns, ...(before ?? [])].map((column) => column.at))].toSorted((a, b) => a - b);
  const now = new Map(columns.map((column) => [column.at, column]));
  const cells = (column: Column | undefined): string[] => names.map((_, i) => (column?.values[i] ?? '').toString());
  return [
    ['Time', ...more.map(({ title }) => title), ...names, ...(before ? names.map((name) => `${name}, before`) : [])],
    ...times.map((at) => [
      new Date(at).toISOString(),
      ...more.map(({ of }) => (of(at) ?? '').toString()),
      ...cells(now.get(at)),
      ...(before ? cells(then.get(at)) : []),
    ]),
  ];
}

/** bandsOf are the bands of a Sankey diagram as rows: from where, by what, to where, and how much. */
export const bandsOf = (chains: { labels: string[]; value: number }[], titles: string[]): string[][] => [
  titles,
  ...chains.map(({ labels, value }) => [...labels, `${value}`]),
];
