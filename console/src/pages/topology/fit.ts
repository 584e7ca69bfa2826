// Where the nodes of a graph are, and how large, so that it fills its frame and can be read.
import { placed, type Place } from '../../lib/layers';

export const [boxWidth, boxHeight] = [116, 46];
/** A View is where the origin of the graph is, and how large. */
export interface View {
  x: number;
  y: number;
  zoom: number;
}
/** A Frame is the room for a graph in px; above and below are not for it. Scale is how much larger than usual text is. */
export interface Frame {
  width: number;
  height: number;
  above: number;
  below: number;
  scale: number;
}

/** A Fit is where nodes are, and the view of them all. */
export interface Fit {
  places: Map<number, Place>;
  view: View;
}

const largest = 1.5; // zoom, beyond which nodes stand further apart instead
const furthest = 3; // times the usual distance
const lines = [12, 8, 6, 5, 4, 3, 2]; // nodes that a line may have at most
const edges = { x: boxWidth * 1.2, y: boxHeight * 2.2 }; // around the middles of the outermost nodes, with what stands above and below them
const worth = 1.25; // times larger, for shorter lines: else the picture would change with any change of its frame

/** fit breaks tiers into lines where that makes the graph clearly larger, and spreads it over a frame that has room. */
export function fit(rows: number[][], frame: Frame): Fit {
  const most = Math.max(0, ...rows.map((row) => row.length));
  const room = { width: frame.width, height: frame.height - frame.above - frame.below };
  let places = placed(rows, Math.max(24, Math.ceil(Math.sqrt(most * 1.4))));
  let zoom = zoomOf(places, room);
  for (const longest of lines.filter((n) => n < most)) {
    const others = placed(rows, longest);
    const other = zoomOf(others, room);
    if (zoom < largest * frame.scale && other > zoom * worth) [places, zoom] = [others, other];
  }
  zoom = Math.min(zoom, largest * frame.scale);
  const { left, right, top, bottom } = extent(places);
  const stretch = (room: number, edge: number, length: number): number =>
    length > 0 ? Math.min(furthest, Math.max(1, (room / zoom - edge) / length)) : 1;
  const [wider, higher] = [stretch(room.width, edges.x, right - left), stretch(room.height, edges.y, bottom - top)];
  return {
    places: new Map(places.map((p) => [p.id, { ...p, x: p.x * wider, y: p.y * higher }])),
    view: {
      zoom,
      x: (frame.width - zoom * wider * (left + right)) / 2,
      y: frame.above + (room.height - zoom * higher * (top + bottom)) / 2,
    },
  };
}

/** sayView writes a view so that it shows the same part of the graph in another frame: how many times larger than fitted, and where in the graph its middle is. */
export function sayView(view: View, best: Fit, frame: Frame): string {
  const { left, right, top, bottom } = extent([...best.places.values()]);
  const [x, y] = [(frame.width / 2 - view.x) / view.zoom, (frame.height / 2 - view.y) / view.zoom];
  return [view.zoom / best.view.zoom, (x - left) / (right - left + edges.x), (y - top) / (bottom - top + edges.y)]
    .map((n) => Number(n.toFixed(5)))
    .join(',');
}

/** parseView reads what sayView wrote; undefined if it is nothing that can be shown. */
export function parseView(text: string, best: Fit, frame: Frame): View | undefined {
  const [times = NaN, across = NaN, down = NaN] = text.split(',').map(Number);
  if (!(times >= 0.01 && times <= 1000 && Math.abs(across) <= 100 && Math.abs(down) <= 100)) return undefined;
  const { left, right, top, bottom } = extent([...best.places.values()]);
  const zoom = zoomWithin(best.view.zoom * times, frame.scale);
  return within(
    {
      zoom,
      x: frame.width / 2 - zoom * (left + across * (right - left + edges.x)),
      y: frame.height / 2 - zoom * (top + down * (bottom - top + edges.y)),
    },
    best,
    frame,
  );
}

const least = 60; // px of a graph that are always in its frame

/** within returns a view, or the nearest in which the graph has not left its frame. */
export function within(view: View, best: Fit, frame: Frame): View {
  const { left, right, top, bottom } = extent([...best.places.values()]);
  const hold = (at: number, low: number, high: number, room: number): number =>
    Math.min(room - least - view.zoom * low, Math.max(least - view.zoom * high, at));
  return {
    ...view,
    x: hold(view.x, left - edges.x / 2, right + edges.x / 2, frame.width),
    y: hold(view.y, top - edges.y / 2, bottom + edges.y / 2, frame.height),
  };
}

/** zoomWithin returns a zoom, or the nearest that may be chosen. */
export function zoomWithin(zoom: number, scale: number): number {
  return Math.min(4 * scale, Math.max(0.03, zoom));
}

function zoomOf(places: Place[], room: { width: number; height: number }): number {
  const { left, right, top, bottom } = extent(places);
  return Math.min(
    Math.max(1, room.width) / (right - left + edges.x),
    Math.max(1, room.height) / (bottom - top + edges.y),
  );
}

function extent(places: Place[]): { left: number; right: number; top: number; bottom: number } {
  const [x, y] = [places.map((p) => p.x), places.map((p) => p.y)];
  return { left: Math.min(0, ...x), right: Math.max(0, ...x), top: Math.min(0, ...y), bottom: Math.max(0, ...y) };
}
