// The state of the view is in the hash of the address, #/flows?order=drops: it works under any path and needs no help of the server.

import type { Span } from './time';

/** parse returns page and parameters of a hash. */
export function parse(hash: string): { page: string; params: URLSearchParams } {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  return { page: path || 'overview', params: new URLSearchParams(query) };
}

/** Values are parameters of a page. */
export type Values = Record<string, string | number | null | undefined>;

/** href returns the hash of a page; parameters that are undefined, null or empty are left out. The time range goes along. */
export function href(page: string, params: Values = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...route.range, ...params })) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  return `#/${page}${query.size ? `?${query}` : ''}`;
}

/** Kept is what is kept with a step of the history, and so after a reload: the ranges that zooms came from,
 * how far tables were scrolled, in px, and how many cards they showed. */
interface Kept {
  zooms?: Span[];
  scrolled?: Record<string, number>;
  drawn?: Record<string, number>;
}

/** kept returns what is kept with the present step. */
export const kept = (): Kept => (history.state as Kept | null) ?? {};

/** keep keeps more with it. */
export const keep = (more: Kept): void => history.replaceState({ ...kept(), ...more }, '');

class Route {
  #now = $state.raw(parse(location.hash));

  constructor() {
    addEventListener('hashchange', () => {
      this.#now = parse(location.hash);
    });
  }

  get page(): string {
    return this.#now.page;
  }

  /** hash is the address of what is shown. */
  get hash(): string {
    return href(this.#now.page, this.params);
  }

  get(name: string): string {
    return this.#now.params.get(name) ?? '';
  }

  get params(): Record<string, string> {
    return Object.fromEntries(this.#now.params);
  }

  /** the time range, which all pages share. */
  get range(): Values {
    return { since: this.get('since'), until: this.get('until') };
  }

  /** set chooses the value of one parameter of the page: a step in the history, which Back takes back. */
  set(name: string, value: string): void {
    this.change({ [name]: value });
  }

  /** change chooses several values at once, in one step. The zooms of the step before go on, unless others are given. */
  change(values: Values, zooms = kept().zooms): void {
    const hash = href(this.#now.page, { ...this.params, ...values });
    if (hash === location.hash) return;
    history.pushState({ zooms }, '', hash);
    this.#now = parse(hash);
  }

  /** adjust changes a parameter that moves on by small steps, or by itself, without a step in the history. */
  adjust(values: Values): void {
    const hash = href(this.#now.page, { ...this.params, ...values });
    history.replaceState(history.state, '', hash);
    this.#now = parse(hash);
  }
}

export const route = new Route();
