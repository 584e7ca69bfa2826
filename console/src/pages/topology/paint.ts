import { cut } from '../../lib/cut';
import { compact, counted, depth } from '../../lib/format';
import type { Place } from '../../lib/layers';
import { ramp } from '../../lib/palette';
import { boxHeight, boxWidth, type View } from './fit';
import type { Cable, Graph, Station } from './model';

const leastText = 10; // px, as for the usual text: smaller than that is not read
const quietMs = 10_000; // a cable without packets for so long is dashed; one that was not there at the moment is dotted
const perPart = 500; // cables that are drawn in a frame: more than that would be felt

export interface Scene {
  /** how much larger than usual text is */ scale: number;
  graph: Graph;
  places: Map<number, Place>;
  chosen: number | undefined;
  chosenCable: string | undefined;
  strongest: number;
  value: (cable: Cable) => number | null;
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
  const colours = ramp(tone, 16);
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
    const v = scene.value(cable);
    const share = v && strongest > 0 ? v / strongest : 0;
    const quiet = cable.lost || (newest > 0 && newest - cable.lastMs > quietMs);
    const chosen = cable.key === scene.chosenCable;
    c.strokeStyle = chosen
      ? tone('--accent')
      : cable.gone
        ? tone('--muted')
        : quiet
          ? tone('--bad')
          : cable.lossy
            ? tone('--warn')
            : share > 0
              ? colours[Math.round(share * 15)]!
              : tone('--cable');
    c.globalAlpha = share > 0 || quiet || few || chosen ? 1 : 0.4;
    c.lineWidth = (Math.max(1.5, cable.lossy ? 3 : 0) + 4.5 * share) * Math.max(thin, 0.35) + (chosen ? 4 : 0);
    c.setLineDash(cable.gone ? [2, 6] : quiet ? [6, 5] : cable.lossy ? [14, 4] : []);
    c.beginPath();
    c.moveTo(a.x, a.y);
    if (a.tier === b.tier) c.quadraticCurveTo((a.x + b.x) / 2, a.y - 70, b.x, b.y);
    else c.lineTo(b.x, b.y);
    c.stroke();
    if (++drawn % perPart === 0) yield;
  }
  if (drawn > perPart) yield;
  c.setLineDash([]);
  c.globalAlpha = 1;
  const base = c.font;
  for (const station of graph.stations) {
    const place = places.get(station.id);
    if (
      place &&
      place.x + boxWidth > left &&
      place.x - boxWidth < right &&
      place.y + boxHeight * 2 > top &&
      place.y - boxHeight * 2 < bottom
    )
      box(c, tone, scene, station, place, view.zoom / scene.scale, base);
  }
}

function box(
  c: CanvasRenderingContext2D,
  tone: Tone,
  { chosen }: Scene,
  station: Station,
  { x, y }: Place,
  size: number,
  font: string,
): void {
  const [left, top] = [x - boxWidth / 2, y - boxHeight / 2];
  c.fillStyle = tone('--panel');
  c.strokeStyle = station.id === chosen ? tone('--accent') : tone('--edge');
  c.lineWidth = (station.id === chosen ? 3 : 1) / Math.min(1, size);
  c.beginPath();
  c.roundRect(left, top, boxWidth, boxHeight, 8);
  c.fill();
  c.stroke();
  const share = station.queue !== null && station.longest > 0 ? Math.min(1, station.queue / station.longest) : 0;
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
    c.fillStyle = tone('--accent');
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
  if (roomy && station.hosts > 0)
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
