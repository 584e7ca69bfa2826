// A picture of what is drawn, as a file.
import { save } from './save';

const styles = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'paint-order', 'opacity', 'fill-opacity', 'font-size', 'font-family', 'font-weight', 'text-anchor'];

/** savePNG saves an SVG of the page with the colours that it has there, twice as large. */
export async function savePNG(svg: SVGSVGElement, name: string): Promise<void> {
  const { width, height } = svg.getBoundingClientRect();
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
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [width * 2, height * 2];
  const to = canvas.getContext('2d')!;
  to.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--panel');
  to.fillRect(0, 0, canvas.width, canvas.height);
  to.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => { canvas.toBlob(done, 'image/png'); });
  if (!blob) throw new Error('the picture is too large');
  save(blob, name);
}
