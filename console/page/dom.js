// Small helpers for the document. Text is only ever set as text: names come from configuration and from the network.

const svgSpace = 'http://www.w3.org/2000/svg';

// el makes an HTML element, svg one of SVG; undefined attributes are left out.
export const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => fill(document.createElementNS(svgSpace, name), attributes, children);

function fill(element, attributes = {}, children) {
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

// setAttributes and setText touch the document only where something changed: selections and tooltips survive.
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const keys = new WeakMap();

// keep makes the children of parent those of items, in order. A child lives on as long as there is an item with its key:
// make(item) makes a new one, update(child, item) is called for all.
export function keep(parent, items, keyOf, make, update) {
  const wanted = new Set(items.map(keyOf));
  const old = new Map();
  for (const child of [...parent.children]) {
    const key = keys.get(child);
    if (wanted.has(key) && !old.has(key)) old.set(key, child);
    else child.remove();
  }
  let next = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let child = old.get(key);
    old.delete(key);
    if (!child) {
      child = make(item);
      keys.set(child, key);
    }
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
    update(child, item);
  }
}
