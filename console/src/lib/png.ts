// A picture of what is drawn, as a file.
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

/** savePNG saves a picture of the page and its caption, twice as large. */
export async function savePNG(
  picture: SVGSVGElement | HTMLCanvasElement,
  name: string,
  caption: Caption,
): Promise<void> {
  const { width, height } = picture.getBoundingClientRect();
  const image = picture instanceof SVGSVGElement ? await imageOf(picture, width, height) : picture;
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
  const blob = await new Promise<Blob | null>((done) => {
    canvas.toBlob(done, 'image/png');
  });
  if (!blob) throw new Error('the picture is too large');
  save(blob, name);
}
