/** A Cursor is where the charts that share it are read: a place on their horizontal axis, or null. */
export class Cursor {
  at = $state<number | null>(null);
}

/** The cursor of all charts of a page that are over time, in ms since 1970. */
export const cursor = new Cursor();

/** nearest returns which of the points, in their order, is nearest to a place; -1: there is none. */
export function nearest(points: number[], place: number | null): number {
  if (place === null) return -1;
  const next = points.findIndex((p) => p >= place);
  if (next < 0) return points.length - 1;
  return next > 0 && place - points[next - 1]! < points[next]! - place ? next - 1 : next;
}
