// A picture of what is drawn, as a file.
import { cut } from './cut';
import { save } from './save';

const styles = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'paint-order',
  'opacity',
  'fill-opacity',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
];

/** What a picture is of, for who sees it without the page. A colour is a custom property of the page. */
export interface Caption {
  title: string;
  notes: string[];
  legend: { text: string; colour: string; dashed?: boolean }[];
}

const lineHeight = 18;

/** write puts a caption above a picture, and its legend below. */
function write(to: CanvasRenderingContext2D, caption: Caption, width: number, below: number): void {
  const tone = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name);
  const family = getComputedStyle(document.body).fontFamily;
  to.textBaseline = 'top';
  to.fillStyle = tone('--text');
  to.font = `600 15px ${family}`;
  to.fillText(caption.title, 8, 6, width - 16);
  to.font = `12px ${family}`;
  caption.notes.forEach((note, i) => {
    to.fillText(note, 8, 8 + lineHeight * (i + 1), width - 16);
  });
  caption.legend.forEach(({ text, colour, dashed }, i) => {
    const y = below + lineHeight * i;
    to.strokeStyle = tone(colour);
    to.lineWidth = 4;
    to.setLineDash(dashed ? [6, 3] : []);
    to.beginPath();
    to.moveTo(8, y + 7);
    to.lineTo(28, y + 7);
    to.stroke();
    to.fillText(text, 36, y, width - 44);
  });
}

/** imageOf is an SVG of the page with the colours that it has there. */
async function imageOf(svg: SVGSVGElement, width: number, height: number): Promise<HTMLImageElement> {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const drawn = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((element, i) => {
    const style = getComputedStyle(drawn[i]!);
    // Attributes, since a picture must not have inline styles here.
    for (const property of styles) element.setAttribute(property, style.getPropertyValue(property));
    element.removeAttribute('style');
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return image;
}

/** stacked draws the pictures of a part of the page on one another, each below its label. */
async function stacked(part: HTMLElement): Promise<HTMLCanvasElement> {
  const pictures = [...part.querySelectorAll('svg')].map((svg) => ({ svg, ...boxOf(svg), label: labelOf(svg) }));
  const canvas = document.createElement('canvas');
  const rows = pictures.map(({ height, label }) => height + (label ? lineHeight : 0));
  const { width } = part.getBoundingClientRect();
  [canvas.width, canvas.height] = [width * 2, rows.reduce((sum, row) => sum + row, 0) * 2];
  const to = canvas.getContext('2d')!;
  to.scale(2, 2);
  to.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  to.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--text');
  let y = 0;
  for (const [i, { svg, width: wide, height, label }] of pictures.entries()) {
    to.fillText(label, 2, y + 12, width);
    to.drawImage(await imageOf(svg, wide, height), 0, y + rows[i]! - height, wide, height);
    y += rows[i]!;
  }
  return canvas;
}

const boxOf = (svg: SVGSVGElement): { width: number; height: number } => {
  const { width, height } = svg.getBoundingClientRect();
  return { width, height };
};
const labelOf = (svg: SVGSVGElement): string => svg.dataset.label ?? '';

/** savePNG saves a picture of the page, or those of a part of it, and its caption, twice as large. */
export async function savePNG(picture: SVGSVGElement | HTMLElement, name: string, caption: Caption): Promise<void> {
  const box = picture.getBoundingClientRect();
  const image =
    picture instanceof SVGSVGElement
      ? await imageOf(picture, box.width, box.height)
      : picture instanceof HTMLCanvasElement
        ? picture
        : await stacked(picture);
  const several = picture instanceof HTMLElement && image !== picture;
  const [width, height] = several ? [box.width, image.height / 2] : [box.width, box.height];
  const canvas = document.createElement('canvas');
  const above = 12 + lineHeight * (caption.notes.length + 1);
  const all = above + height + lineHeight * caption.legend.length + (caption.legend.length ? 8 : 0);
  [canvas.width, canvas.height] = [width * 2, all * 2];
  const to = canvas.getContext('2d')!;
  to.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--panel');
  to.fillRect(0, 0, canvas.width, canvas.height);
  to.scale(2, 2);
  to.drawImage(image, 0, above, width, height);
  write(to, caption, width, above + height);
  await finish(canvas, name);
}

async function finish(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>((done) => {
    canvas.toBlob(done, 'image/png');
  });
  if (!blob) throw new Error('the picture is too large');
  save(blob, name);
}

const mostRows = 200; // of a picture: a canvas has no room for more

/** saveRows saves the rows of a table as a picture, its titles above them. */
export async function saveRows(rows: string[][], name: string, caption: Caption): Promise<void> {
  const [gap, height, widest] = [18, 22, 420];
  const shown = rows.slice(0, mostRows + 1);
  const notes = [
    ...caption.notes,
    ...(rows.length > shown.length ? [`the first ${mostRows} of ${rows.length - 1} rows`] : []),
  ];
  const family = getComputedStyle(document.body).fontFamily;
  const canvas = document.createElement('canvas');
  const to = canvas.getContext('2d')!;
  to.font = `13px ${family}`;
  const wide = Array.from({ length: Math.max(0, ...shown.map((row) => row.length)) }, (_, i) =>
    Math.min(widest, 4 + Math.max(...shown.map((row) => to.measureText(row[i] ?? '').width))),
  );
  const starts = wide.map((_, i) => 8 + wide.slice(0, i).reduce((sum, width) => sum + width + gap, 0));
  const above = 12 + lineHeight * (notes.length + 1);
  const width = Math.max(480, (starts.at(-1) ?? 0) + (wide.at(-1) ?? 0) + 8);
  const scale = Math.min(2, 32_000 / width);
  [canvas.width, canvas.height] = [width * scale, (above + height * shown.length + 8) * scale];
  const tone = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name);
  to.fillStyle = tone('--panel');
  to.fillRect(0, 0, canvas.width, canvas.height);
  to.scale(scale, scale);
  write(to, { ...caption, notes, legend: [] }, width, 0);
  to.strokeStyle = tone('--line');
  shown.forEach((row, j) => {
    const y = above + height * j;
    to.fillStyle = tone(j === 0 ? '--muted' : '--text');
    to.font = `${j === 0 ? '600 ' : ''}13px ${family}`;
    row.forEach((cell, i) =>
      to.fillText(
        cut(cell, wide[i]!, (text) => to.measureText(text).width),
        starts[i]!,
        y + 4,
      ),
    );
    to.beginPath();
    to.moveTo(8, y + height - 1);
    to.lineTo(width - 8, y + height - 1);
    to.stroke();
  });
  await finish(canvas, name);
}
