// What an answer must have before a page may read it. A proxy, a cache or another server can answer 200 with anything.

/** text, number and flag are single values; records are a list of objects or null; list is one of anything. */
type Kind = 'text' | 'number' | 'flag' | 'object' | 'records' | 'list';
type Shape = Record<string, Kind>;

// Lists are under their own name, at the time they were made. A path like bursts/7 is looked up as bursts/*.
const listed = [
  'alerts',
  'bursts',
  'clocks',
  'drops',
  'events',
  'exporters',
  'flows',
  'attacks',
  'hops',
  'incidents',
  'links',
  'listeners',
  'nodes',
  'outputs',
  'paths',
  'queues',
  'reports',
  'rules',
  'silences',
  'views',
];
const shapes: Record<string, Shape> = {
  ...Object.fromEntries(listed.map((name) => [name, { generated_at: 'text', [name]: 'records' } satisfies Shape])),
  topology: { generated_at: 'text', nodes: 'records', links: 'records' },
  inventory: { generated_at: 'text', nodes: 'records', hosts: 'records' },
  loss: { generated_at: 'text', loss: 'records', tables: 'object' },
  heatmap: {
    generated_at: 'text',
    since: 'text',
    until: 'text',
    step_ns: 'number',
    bounds: 'list',
    times: 'list',
    counts: 'list',
    spread: 'records',
  },
  'bursts/*': { generated_at: 'text', burst: 'object' },
  'flows/*/paths': { generated_at: 'text', since: 'text', until: 'text', paths: 'records' },
  'reports/*': { id: 'text', time: 'text', bytes: 'text', layers: 'records' },
  'events/*/acknowledge': { id: 'text', kind: 'text', start: 'text' },
  decode: { length: 'number', layers: 'records' },
  'filter/complete': { candidates: 'records' },
  docs: { version: 'text', pages: 'records' },
  'docs/page': { html: 'text' },
  'docs/search': { hits: 'records' },
  'attacks/*': { generated_at: 'text', attack: 'object' },
  'incidents/*': { generated_at: 'text', incident: 'object' },
  'incidents/*/acknowledge': { incident: 'object' },
  'incidents/*/notes': { incident: 'object' },
  'incidents/*/silence': { id: 'text', filter: 'text', until: 'text' },
  'attacks/*/mitigate': { rules: 'records', until: 'text' },
  'attacks/*/release': { rules: 'records' },
  'POST views': { id: 'text', name: 'text', address: 'text' },
  'POST silences': { id: 'text', filter: 'text', until: 'text' },
  demo: { running: 'flag' },
  session: { name: 'text' },
};

/** fits says whether value can be the answer of path, without its parameters. What is not in the table must be an object. */
export function fits(path: string, value: unknown, method = 'GET'): boolean {
  if (!isObject(value)) return false;
  return Object.entries(shapeOf(path, method)).every(([name, kind]) => is(kind, value[name]));
}

function shapeOf(path: string, method: string): Shape {
  const [first, , ...rest] = path.split('/');
  return shapes[`${method} ${path}`] ?? shapes[path] ?? shapes[[first, '*', ...rest].join('/')] ?? {};
}

function is(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'flag':
      return typeof value === 'boolean';
    case 'object':
      return isObject(value);
    case 'list':
      return Array.isArray(value);
    case 'records':
      return value === null || (Array.isArray(value) && value.every(isObject));
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
