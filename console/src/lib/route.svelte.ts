// The state of the view is in the hash of the address, #/flows?order=drops: it works under any path and needs no help of the server.

/** parse returns page and parameters of a hash. */
export function parse(hash: string): { page: string; params: URLSearchParams } {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  return { page: path || 'overview', params: new URLSearchParams(query) };
}

/** href returns the hash of a page; parameters that are undefined, null or empty are left out. */
export function href(page: string, params: Record<string, string | number | null | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  return `#/${page}${query.size ? `?${query}` : ''}`;
}

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

  get(name: string): string {
    return this.#now.params.get(name) ?? '';
  }

  /** set changes one parameter of the page without a step in the history. */
  set(name: string, value: string): void {
    const params = Object.fromEntries(this.#now.params);
    const hash = href(this.#now.page, { ...params, [name]: value });
    history.replaceState(null, '', hash);
    this.#now = parse(hash);
  }
}

export const route = new Route();
