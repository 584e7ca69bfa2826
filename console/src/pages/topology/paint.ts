import { cut } from '../../lib/cut';
import { compact, counted, depth } from '../../lib/format';
import { columnGap, type Place } from '../../lib/layers';
import { ramp } from '../../lib/palette';
import { boxHeight, boxWidth, type View } from './fit';
import { hostsText, type Behind } from './hosts';
import type { Carried, Graph, Station } from './model';

const leastText = 10; // px, as for the usual text: smaller than that is not read
const quietMs = 10_000; // a cable without packets for so long is dashed; one that was not there at the moment is dotted
const perPart = 500; // cables that are drawn in a frame: more than that would be felt
const mostHalved = 1000; // cables of which each direction is drawn: of more they could not be told apart

export interface Scene {
  /** how much larger than usual text is */ scale: number;
  graph: Graph;
  places: Map<number, Place>;
  chosen: number | undefined;
  chosenCable: string | undefined;
  strongest: number;
  value: (part: Carried) => number | null;
  /** keys of cables that something goes by which is drawn over them */ over?: Set<string>;
  /** what is behind the ports of nodes, if it is to be seen */ hosts?: Map<number, Behind[]>;
  /** marks directions where nobody would notice that packets are lost */ blind?: boolean;
}
type Tone = (name: string) => string;

/** painting draws a scene part by part: each step of it is little enough for a frame. Small graphs are one part. */
export function* painting(
  c: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  ratio: number,
  tone: Tone,
): Generator<void> {
  const { graph, places, strongest } = scene;
  const colours = ramp(tone, 16, true);
  // Against the latest packet of all: where no reports come at all, no single link is to blame.
  let newest = 0;
  for (const cable of graph.cables) newest = Math.max(newest, cable.lastMs);
  const left = -view.x / view.zoom;
  const top = -view.y / view.zoom;
  const [right, bottom] = [left + c.canvas.width / ratio / view.zoom, top + c.canvas.height / ratio / view.zoom];
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, c.canvas.width, c.canvas.height);
  c.setTransform(ratio * view.zoom, 0, 0, ratio * view.zoom, ratio * view.x, ratio * view.y);
  c.textAlign = 'center';

  const few = graph.cables.length < 60;
  const thin = Math.min(1, 200 / Math.max(1, graph.cables.length)); // many cables are drawn thinner
  let drawn = 0;
  for (const cable of graph.cables) {
    const [a, b] = [places.get(cable.a), places.get(cable.b)];
    if (!a || !b) continue;
    if (
      Math.max(a.x, b.x) < left ||
      Math.min(a.x, b.x) > right ||
      Math.max(a.y, b.y) < top ||
      Math.min(a.y, b.y) - 70 > bottom
    )
      continue;
    const chosen = cable.key === scene.chosenCable;
    if (scene.over?.has(cable.key) || chosen) {
      c.setLineDash([]);
      c.strokeStyle = tone('--accent');
      c.globalAlpha = chosen ? 0.5 : 0.35;
      c.lineWidth = 14;
      line(c, a, b, false);
    }
    const halved = graph.cables.length <= mostHalved;
    const ways: [Carried, Place, Place][] = halved
      ? [
          [cable.halves[0], a, b],
          [cable.halves[1], b, a],
        ]
      : [[cable, a, b]];
    for (const [part, from, to] of ways) {
      const v = scene.value(part);
      const share = v && strongest > 0 ? v / strongest : 0;
      // One direction may have nothing to carry: it is quiet only where the other is too.
      const quiet = newest > 0 && newest - cable.lastMs > quietMs;
      const carries = newest > 0 && newest - part.lastMs <= quietMs;
      const drops = part.lossy || part.drops > 0;
      const warns = drops || part.busy;
      c.strokeStyle = part.lost
        ? tone('--bad')
        : part.gone && cable.gone
          ? tone('--muted')
          : quiet
            ? tone('--cable')
            : warns
              ? tone('--warn')
              : share > 0 || (carries && v !== null)
                ? colours[Math.round(share * 15)]!
                : tone('--cable');
      c.globalAlpha = share > 0 || quiet || few || chosen || warns || part.lost ? 1 : 0.4;
      c.lineWidth = (Math.max(1.5, warns || part.lost ? 3 : 0) + 4.5 * share) * Math.max(thin, 0.35);
      c.setLineDash(cable.gone ? [2, 6] : part.lost || quiet ? [6, 5] : drops ? [14, 4] : []);
      line(c, from, to, halved);
      if (part.lost) cross(c, from, to, halved ? 0.35 : 0.5);
      else if (scene.blind && part.blind && carries) mark(c, tone, from, to, halved ? 0.3 : 0.5);
    }
    if (++drawn % perPart === 0) yield;
  }
  if (drawn > perPart) yield;
  c.setLineDash([]);
  c.globalAlpha = 1;
  const base = c.font;
  const rows = scene.hosts ? [...new Set([...places.values()].map((p) => p.y))].sort((a, b) => a - b) : [];
  for (const station of graph.stations) {
    const place = places.get(station.id);
    if (
      place &&
      place.x + boxWidth > left &&
      place.x - boxWidth < right &&
      place.y + boxHeight * 2 > top &&
      place.y - boxHeight * 2 < bottom
    )
      box(c, tone, scene, station, place, { size: view.zoom / scene.scale, font: base, below: roomBelow(place, rows) });
  }
}

/** line draws a cable from one place to another, or the half of it at the first. */
function line(c: CanvasRenderingContext2D, from: Place, to: Place, half: boolean): void {
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const high = from.y - 70; // what a cable between nodes of the same row bends to
  c.beginPath();
  c.moveTo(from.x, from.y);
  if (from.tier !== to.tier) c.lineTo(...(half ? ([middle.x, middle.y] as const) : ([to.x, to.y] as const)));
  else if (half) c.quadraticCurveTo((from.x + middle.x) / 2, (from.y + high) / 2, middle.x, (middle.y + high) / 2);
  else c.quadraticCurveTo(middle.x, high, to.x, to.y);
  c.stroke();
}

/** along is at a share of the way of a cable. */
const along = (from: Place, to: Place, share: number): [x: number, y: number] => [
  from.x + (to.x - from.x) * share,
  from.y + (to.y - from.y) * share - (from.tier === to.tier ? 140 * share * (1 - share) : 0),
];

/** mark says that nobody would notice lost packets, at a share of the way. */
function mark(c: CanvasRenderingContext2D, tone: Tone, from: Place, to: Place, share: number): void {
  const [x, y] = along(from, to, share);
  const alpha = c.globalAlpha;
  c.globalAlpha = 1;
  c.setLineDash([]);
  c.fillStyle = tone('--muted');
  c.font = c.font.replace(/^.*?px/, '600 14px');
  onCables(c, tone, '?', x, y + 5);
  c.globalAlpha = alpha;
}

/** cross marks a direction by which nothing comes, at a share of the way. */
function cross(c: CanvasRenderingContext2D, from: Place, to: Place, share: number): void {
  const [x, y] = along(from, to, share);
  const r = 7;
  c.setLineDash([]);
  c.lineWidth = 3.5;
  c.beginPath();
  c.moveTo(x - r, y - r);
  c.lineTo(x + r, y + r);
  c.moveTo(x + r, y - r);
  c.lineTo(x - r, y + r);
  c.stroke();
}

export const hostLine = 14; // px that a line of hosts is high
export const mostHosts = 6; // lines of hosts below a node

/** roomBelow is how many lines are free below a node. */
function roomBelow({ y }: Place, rows: number[]): number {
  const next = rows.find((row) => row > y);
  return next === undefined ? mostHosts : Math.min(mostHosts, Math.floor((next - y - boxHeight - 6) / hostLine));
}

function box(
  c: CanvasRenderingContext2D,
  tone: Tone,
  { chosen, hosts }: Scene,
  station: Station,
  { x, y }: Place,
  { size, font, below }: { size: number; font: string; /** lines */ below: number },
): void {
  const [left, top] = [x - boxWidth / 2, y - boxHeight / 2];
  c.fillStyle = tone('--panel');
  c.strokeStyle = station.id === chosen ? tone('--accent') : tone('--edge');
  c.lineWidth = (station.id === chosen ? 3 : 1) / Math.min(1, size);
  c.beginPath();
  c.roundRect(left, top, boxWidth, boxHeight, 8);
  c.fill();
  c.stroke();
  const share = station.filled;
  if (size < 0.35) {
    // too small to read: the whole box is its bar
    c.fillStyle = tone('--accent');
    c.fillRect(left + 4, top + 4, (boxWidth - 8) * share, boxHeight - 8);
    if (station.drops > 0) {
      c.fillStyle = tone('--bad');
      c.fillRect(left, top - 14, boxWidth, 10);
    }
    return;
  }
  if (station.queue !== null) {
    // its queue: a bar at the lower edge
    c.fillStyle = tone('--line');
    c.fillRect(left + 8, top + boxHeight - 9, boxWidth - 16, 4);
    c.fillStyle = station.full ? tone('--warn') : tone('--accent');
    c.fillRect(left + 8, top + boxHeight - 9, (boxWidth - 16) * share, 4);
  }
  c.fillStyle = tone('--text');
  const least = leastText / size;
  const roomy = least <= 13; // there is room for more than the name
  c.font = font.replace(/^.*?px/, `600 ${Math.max(13, least)}px`);
  c.fillText(
    cut(station.name, boxWidth - 10, (text) => c.measureText(text).width),
    x,
    roomy ? y - 5 : y + 0.3 * least - (station.queue === null ? 0 : 3),
  );
  c.font = font.replace(/^.*?px/, `${Math.max(11, least)}px`);
  c.fillStyle = tone('--muted');
  if (roomy)
    c.fillText(
      station.queue === null
        ? `${compact(station.packets)} packets`
        : `queue ${station.unit === undefined || station.unit === 'unknown' ? compact(station.queue) : depth(station.queue, station.unit)}`,
      x,
      y + 9,
      boxWidth - 10,
    );
  const behind = hosts?.get(station.id);
  if (roomy && behind && below > 0) {
    const shown = behind.length > below ? behind.slice(0, below - 1) : behind;
    const lines = shown.map((at) => `${at.port === null ? '' : `${at.port}: `}${hostsText(at)}`);
    if (shown.length < behind.length) lines.push(`and ${counted(behind.length - shown.length, 'other port')}`);
    lines.forEach((text, i) => {
      const fits = cut(text, columnGap - 8, (part) => c.measureText(part).width);
      onCables(c, tone, fits, x, y + boxHeight / 2 + hostLine * (i + 1));
    });
  } else if (roomy && station.hosts > 0)
    onCables(c, tone, counted(station.hosts, 'address', 'addresses'), x, y + boxHeight / 2 + 14);
  if (station.drops > 0) {
    c.fillStyle = tone('--bad');
    c.textAlign = 'left'; // beside the cables
    onCables(c, tone, `✕ ${compact(station.drops)}`, left, top - 6);
    c.textAlign = 'center';
  }
}

/** onCables writes a text with an edge of the ground, so that it can be read where cables pass behind it. */
function onCables(c: CanvasRenderingContext2D, tone: Tone, text: string, x: number, y: number): void {
  c.strokeStyle = tone('--panel');
  c.lineWidth = 4;
  c.lineJoin = 'round';
  c.strokeText(text, x, y);
  c.fillText(text, x, y);
}
