// The only requests of the page. Addresses are relative to the page.

const resources = ['nodes', 'links', 'flows', 'paths', 'drops', 'exporters', 'listeners'];

const query = (name, { limit, order }) => ({ flows: `?limit=${limit}&order=${order}`, paths: `?limit=${limit}` })[name] ?? '';

// loadAll asks for every resource: all of it, but only the first {limit} paths, and flows by {order}. It returns the lists
// by name, total[name], which is more where only the first ones were sent, and now, the server's clock in milliseconds
// since 1970 or null.
export async function loadAll(wish, signal) {
  const answers = await Promise.all(resources.map((name) => get(`api/v1/${name}${query(name, wish)}`, signal)));
  const data = { total: {}, now: null };
  resources.forEach((name, i) => {
    const { body, now } = answers[i];
    data[name] = body[name] ?? []; // an empty list may come as null
    data.total[name] = body.total ?? data[name].length;
    if (now !== null) data.now = Math.max(data.now ?? 0, now);
  });
  return data;
}

async function get(url, signal) {
  const answer = await fetch(url, { signal, cache: 'no-store', headers: { Accept: 'application/json' } });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status} ${answer.statusText}`.trim());
  const now = Date.parse(answer.headers.get('Date'));
  const body = await answer.json().catch((error) => {
    throw new Error(`${url}: ${error.message}`);
  });
  return { body, now: Number.isNaN(now) ? null : now };
}
