// The requests of the page, but for those about the session. Addresses are relative to the page.

const resources = ['nodes', 'links', 'flows', 'paths', 'drops', 'exporters', 'listeners'];

// Events that go on are asked for by themselves: however many are over, these are there.
const events = ['open=true', 'open=false'];

const query = (name, { limit, order }) => ({ flows: `?limit=${limit}&order=${order}`, paths: `?limit=${limit}` })[name] ?? '';

// loadAll asks for every resource: all of it, but only the first {limit} paths and events, and flows by {order}. It returns
// the lists by name, total[name], which is more where only the first ones were sent, and now, the server's clock in
// milliseconds since 1970 or null.
export async function loadAll(wish, signal) {
  const questions = [
    ...resources.map((name) => [name, query(name, wish)]),
    ...events.map((which) => ['events', `?${which}&limit=${wish.limit}`]),
  ];
  const answers = await Promise.all(questions.map(([name, text]) => get(`api/v1/${name}${text}`, signal)));
  const data = { total: {}, now: null };
  questions.forEach(([name], i) => {
    const { body, now } = answers[i];
    const list = body[name] ?? []; // an empty list may come as null
    data[name] = [...(data[name] ?? []), ...list];
    data.total[name] = (data.total[name] ?? 0) + (body.total ?? list.length);
    if (now !== null) data.now = Math.max(data.now ?? 0, now);
  });
  data.events = [...new Map(data.events.map((event) => [event.id, event])).values()]; // one may end in between
  return data;
}

async function get(url, signal) {
  const answer = await fetch(url, { signal, cache: 'no-store', headers: { Accept: 'application/json' } });
  if (answer.status === 401) location.reload(); // the session is over: the server answers with the page to log in at
  if (!answer.ok) throw new Error(`${url} answers ${answer.status} ${answer.statusText}`.trim());
  const now = Date.parse(answer.headers.get('Date'));
  const body = await answer.json().catch((error) => {
    throw new Error(`${url}: ${error.message}`);
  });
  return { body, now: Number.isNaN(now) ? null : now };
}
