// Every page against a real server that heard of the emulated fabric, compared with what the API says.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import {
  accessible,
  ask,
  base,
  connect,
  finish,
  endpoints,
  eventually,
  go,
  long,
  open,
  painted,
  ready,
  span,
  test,
} from './browser.js';

const shots = process.env.CONSOLE_SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

const pages = [
  'overview',
  'topology',
  'flows',
  'latency',
  'queues',
  'drops',
  'events',
  'collector',
  'reports',
  'explore',
  'docs',
];

/** deeper returns the pages of one flow, burst, event and node. */
async function deeper() {
  const [flow] = (await ask('flows?order=packets&limit=1')).flows;
  const [burst] = (await ask('bursts?order=peak&limit=1')).bursts;
  const [event] = (await ask('events?limit=1', 'severity >= warning')).events;
  const [node] = (await ask('nodes?limit=1')).nodes;
  const q = endpoints(flow);
  return {
    flow: `flow?${q}`,
    burst: `burst?id=${burst.id}`,
    event: `event?id=${event.id}`,
    node: `topology?node=${node.id}`,
  };
}

const number = (text) => Number(text.replace(/[^0-9]/g, ''));

async function eachPage(name, options) {
  const page = await open('', options);
  const all = { ...Object.fromEntries(pages.map((page) => [page, page])), ...(await deeper()) };
  for (const [title, hash] of Object.entries(all)) {
    await go(page, `#/${hash}`);
    await painted(page);
    if (shots) await page.screenshot({ path: `${shots}/${name}-${title}.png` });
    await accessible(page, `${name} ${title}`);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.ok(overflow <= 0, `${title}: the page is ${overflow} px wider than the window`);
  }
}

test.beforeAll(connect);
test.afterAll(finish);

test('light', () => eachPage('light', { colorScheme: 'light' }));
const phone = { width: 390, height: 844 };
test('dark, on a phone', () => eachPage('phone', { viewport: phone, colorScheme: 'dark' }));
if (long) {
  test('light, on a phone', () => eachPage('light-phone', { viewport: phone }));
  test('dark', () => eachPage('dark', { colorScheme: 'dark' }));
  test('large screen', () => eachPage('large', { viewport: { width: 3840, height: 2160 }, colorScheme: 'dark' }));
}

test('overview', async () => {
  const page = await open('#/overview');
  await page.waitForFunction(() => /^[0-9,]+$/.test(document.querySelector('#rate').textContent));
  const { loss } = await ask('loss?since=15m&limit=10000');
  const sum = (name) => loss.reduce((all, l) => all + l[name], 0);
  await eventually(async () => {
    const said = await page.textContent('a[href="#/collector"] .figure');
    assert.match(said, /^[\d.]+ % last 15 min$/);
    assert.equal(Number.parseFloat(said), Math.floor((1 - sum('lost') / sum('sent')) * 1e4) / 100);
  });
  // What was dropped since the start would never be over: it is of the last 15 minutes.
  const [{ packets: dropped }] = (await ask('drops?since=15m&group_by=')).drops;
  await eventually(async () => {
    const said = await page.locator('.figures a[href^="#/drops"]').textContent();
    assert.match(said, /packets, last 15 min/);
    assert.equal(
      said.match(/([\d.]+k?) packets/)[1],
      dropped < 1000 ? `${dropped}` : `${Number((dropped / 1000).toPrecision(3))}k`,
    );
  });
  const active = await ask('incidents', 'severity >= warning and end is null');
  const resolved = await ask('incidents', 'severity >= warning and end >= now-1h');
  await eventually(async () => {
    const said = await page.locator('.figures a[href="#/incidents"]').textContent();
    assert.equal(number(said.split('active')[0]), active.total, said);
    assert.ok(said.includes(`${resolved.total} resolved in the last hour`), said);
  });
  const part = page.locator('section', { has: page.getByRole('heading', { name: 'Incidents', exact: true }) });
  for (const { text } of [...active.incidents, ...resolved.incidents].slice(0, 4))
    await part.getByRole('link', { name: text }).first().waitFor();
  const [worst] = (await ask('drops?limit=1')).drops;
  assert.ok((await page.textContent('main')).includes(worst.reason_name.replaceAll('_', ' ')));
});

test('the chart of the overview reads what the records say, by the keyboard', async () => {
  const page = await open(`#/overview?${span}&compare=before`);
  const most = (await ask(`drops?${span}&group_by=&interval=10s&order=packets&limit=1`)).drops[0];
  const latency = (await ask(`hops?${span}&group_by=&interval=10s&limit=100`)).hops.find((h) => h.start === most.start);
  const chart = page.getByRole('group', { name: 'Graph; the arrow keys read it' });
  const told = page.locator('.chart + [role=status]');
  await chart.focus();
  await page.keyboard.press('Home');
  for (
    let i = 0;
    i < 100 && Date.parse(await told.locator('time').getAttribute('datetime')) < Date.parse(most.start);
    i++
  )
    await page.keyboard.press('ArrowRight');
  const said = (await told.textContent()).replaceAll(/\s+/g, ' ');
  const { text } = (await ask(`incidents?${span}&limit=1000`, `severity >= warning`)).incidents.find(
    ({ start, end }) =>
      Date.parse(start) < Date.parse(most.start) + 10_000 && (!end || Date.parse(end) >= Date.parse(most.start)),
  );
  const digits = (n, unit) => `${Number(n.toPrecision(3))}${unit}`;
  assert.ok(
    said.includes(`Packets dropped ${most.packets < 1000 ? most.packets : digits(most.packets / 1000, 'k')}Worst`),
    `${said}: ${most.packets}`,
  );
  assert.ok(said.includes(`Worst node latency ${digits(latency.latency_max_ns / 1e6, ' ms')}`), said);
  assert.ok(said.includes(text), `${said}: ${text}`);
  // Dragging goes to a part of it, Escape back.
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 90);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 95, { steps: 3 });
  await page.mouse.up();
  const length = () => {
    const params = new URLSearchParams(location.hash.split('?')[1]);
    return Date.parse(params.get('until')) - Date.parse(params.get('since'));
  };
  await eventually(async () => assert.ok((await page.evaluate(length)) < 300_000));
  await chart.focus();
  await page.keyboard.press('Escape');
  await page.waitForFunction((to) => location.hash.includes(to), new URLSearchParams(span).toString());
});

test('topology', async () => {
  const page = await open('#/topology');
  const { nodes, links } = await ask('topology');
  assert.equal(await page.getAttribute('canvas', 'data-nodes'), String(nodes.length));
  const pairs = new Set(links.map((l) => [l.from, l.to].sort((a, b) => a - b).join()));
  assert.equal(await page.getAttribute('canvas', 'data-links'), String(pairs.size));
  assert.match(await page.textContent('main'), /4 leaves, 2 spines/);
  await page.selectOption('select[aria-label="Choose a node"]', String(nodes[0].id));
  await page.waitForSelector('aside');
  assert.equal(await page.textContent('aside h2'), nodes[0].name);
  assert.equal(await page.locator('aside table').first().locator('tbody tr').count(), nodes[0].ports.length);
  assert.match(page.url(), new RegExp(`node=${nodes[0].id}`));
});

test('links of the topology do not wait for their rates as long as for what is asked again and again', async () => {
  const page = await open();
  await eventually(async () => {
    await page.goto('about:blank');
    await page.goto(`${base}#/topology`);
    const answers = await page.waitForFunction(() => {
      const all = performance
        .getEntriesByType('resource')
        .filter((e) => new URL(e.name).pathname.endsWith('/topology'));
      return all.length > 2 && all.map(({ startTime, responseEnd }) => ({ startTime, responseEnd }));
    });
    const [first, second, third] = await answers.jsonValue();
    const [soon, usual] = [second.startTime - first.responseEnd, third.startTime - second.responseEnd];
    assert.ok(soon < 0.7 * usual, `${soon} ms, and then ${usual} ms`);
  });
  assert.doesNotMatch(await page.locator('.legend').textContent(), /unknown/);
});

test('the part of the topology that is shown is in the address', async () => {
  const page = await open('#/topology');
  const at = async (of) => ({
    x: Number(await of.getAttribute('canvas', 'data-x')),
    zoom: Number(await of.getAttribute('canvas', 'data-zoom')),
  });
  const fitted = await at(page);
  await page.locator('.stage').focus();
  for (const key of ['+', '+', 'ArrowLeft', 'ArrowDown']) await page.keyboard.press(key);
  await page.waitForFunction(() => location.hash.includes('view='));
  const moved = await eventually(async () => {
    const now = await at(page);
    assert.ok(now.zoom > 1.5 * fitted.zoom && now.x !== fitted.x, JSON.stringify([fitted, now]));
    return now;
  });
  const other = await open('#/overview');
  await eventually(async () => {
    await go(other, await page.evaluate(() => location.hash));
    const same = await at(other);
    assert.ok(
      Math.abs(same.x - moved.x) <= 2 && Math.abs(same.zoom / moved.zoom - 1) < 0.01,
      JSON.stringify([moved, same]),
    );
  });
  await page.getByRole('button', { name: 'Fit' }).click();
  await page.waitForFunction(() => !location.hash.includes('view='));
  await eventually(async () => assert.deepEqual(await at(page), fitted));
  await go(page, `#/topology?view=NaN,1e99,-`);
  await eventually(async () => assert.deepEqual(await at(page), fitted));
});

test('two fingers make the topology larger', async () => {
  const page = await open('#/topology', { viewport: { width: 390, height: 844 }, hasTouch: true });
  const fingers = await page.context().newCDPSession(page);
  const box = await page.locator('.stage').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + Math.min(box.height, 844 - box.y) / 2];
  const before = Number(await page.getAttribute('canvas', 'data-zoom'));
  const touch = (type, apart) =>
    fingers.send('Input.dispatchTouchEvent', {
      type,
      touchPoints:
        apart === undefined
          ? []
          : [
              { x: x - apart, y, id: 0 },
              { x: x + apart, y, id: 1 },
            ],
    });
  await touch('touchStart', 30);
  for (const apart of [40, 50, 60]) await touch('touchMove', apart);
  await touch('touchEnd');
  await page.waitForFunction(() => location.hash.includes('view='));
  const ratio = Number(await page.getAttribute('canvas', 'data-zoom')) / before;
  assert.ok(ratio > 1.9 && ratio < 2.1, `${ratio} times larger, with fingers twice as far apart`);
  const hash = await page.evaluate(() => location.hash);
  assert.doesNotMatch(hash, /node=|link=/);
  // One finger moves the page, and not the graph.
  const one = (type, dy) =>
    fingers.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: dy === undefined ? [] : [{ x, y: y - dy, id: 0 }],
    });
  await one('touchStart', 0);
  for (let dy = 20; dy <= 200; dy += 20) await one('touchMove', dy);
  await one('touchEnd');
  await page.waitForFunction(() => scrollY > 100);
  await page.waitForTimeout(500);
  assert.equal(await page.evaluate(() => location.hash), hash);
});

test('Back takes back what was chosen', async () => {
  const page = await open('#/flows');
  const hash = () => page.evaluate(() => location.hash);
  const filter = page.getByLabel(/^Filter/).first();
  await filter.fill('packets > 1');
  await filter.press('Enter');
  await page.waitForFunction(() => location.hash.includes('filter='));
  await page.getByLabel('Group by').selectOption({ index: 1 });
  await page.getByRole('button', { name: '15 m', exact: true }).click();
  assert.match(await hash(), /since=15m/);
  await page.goBack();
  assert.doesNotMatch(await hash(), /since/);
  assert.match(await hash(), /group=/);
  await page.goBack();
  assert.doesNotMatch(await hash(), /group/);
  assert.equal(await filter.inputValue(), 'packets > 1');
  await page.goBack();
  assert.equal(await hash(), '#/flows');
  assert.equal(await filter.inputValue(), '');
  await page.goForward();
  assert.equal(await filter.inputValue(), 'packets > 1');
  await ready(page);
});

test('on paper there is what the page says, in light colours', async () => {
  const page = await open('#/overview', { colorScheme: 'dark' });
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('header').isVisible(), false);
  assert.ok(await page.locator('main h1').isVisible());
  const [ink, paper] = await page.evaluate(() => {
    const style = getComputedStyle(document.body);
    return [style.color, style.backgroundColor].map((colour) =>
      colour
        .match(/[\d.]+/g)
        .slice(0, 3)
        .reduce((sum, n) => sum + Number(n), 0),
    );
  });
  assert.ok(ink < 200 && paper > 600, `${ink} on ${paper}`);
});

test('what is chosen can be seen where the system chooses the colours', async () => {
  const page = await open('#/topology', { forcedColors: 'active' });
  const colour = (pressed) =>
    page
      .locator(`[aria-label="Color links by"] button[aria-pressed=${pressed}]`)
      .first()
      .evaluate((button) => getComputedStyle(button).backgroundColor);
  assert.notEqual(await colour(true), await colour(false));
});

test('who comes back to a table finds the rows that they left', async () => {
  const page = await open('#/flows?order=packets', { viewport: { width: 1280, height: 600 } });
  const top = () => page.getByRole('region', { name: 'Flows' }).evaluate((table) => table.scrollTop);
  await page.getByRole('region', { name: 'Flows' }).evaluate((table) => {
    table.scrollTop = 300;
  });
  await page.waitForFunction(() => history.state?.scrolled?.sort === 300);
  await page
    .getByRole('region', { name: 'Flows' })
    .locator('tbody a')
    .nth(3)
    .evaluate((link) => link.click());
  await page.waitForFunction(() => location.hash.startsWith('#/flow?'));
  await ready(page);
  await page.goBack();
  await page.getByRole('region', { name: 'Flows' }).waitFor();
  assert.equal(await top(), 300);
  await page.getByRole('button', { name: 'Packets', exact: true }).click(); // another order begins at its beginning
  assert.equal(await top(), 0);
});

test('a name that is markup stays a text', async () => {
  const markup = '<img src=x onerror=alert(1)>';
  const page = await open('#/latency');
  for (const hash of ['latency', 'queues', 'flows', 'topology?node=1']) {
    await go(page, `#/${hash}`);
    assert.ok((await page.textContent('main')).includes(markup), hash);
    assert.equal(await page.locator('img').count(), 1, hash); // the logo
  }
});

test('flows', async () => {
  const page = await open('#/flows?order=packets&protocol=udp');
  const { flows, total } = await ask('flows?order=packets&limit=1000', 'protocol = udp');
  const status = await page.textContent('main p.count');
  assert.deepEqual(status.match(/[\d,]+/g).map(number), [flows.length, total]);
  const first = page.locator('tbody tr:not(.rest)').first();
  assert.equal(number(await first.locator('td').nth(1).textContent()), flows[0].packets);
  // Only what is in view is drawn.
  assert.ok((await page.locator('tbody tr').count()) < 100 || flows.length < 100);
  await page.getByRole('button', { name: 'Drops' }).click();
  const titles = await page.locator('thead th').allTextContents();
  const drops = titles.findIndex((title) => title.startsWith('Drops'));
  assert.equal(number(await first.locator('td').nth(drops).textContent()), Math.max(...flows.map((f) => f.drops)));
  assert.match(page.url(), /sort=-drops/);
  await page.getByRole('textbox', { name: 'Source' }).fill('nonsense');
  await page.getByRole('textbox', { name: 'Source' }).press('Enter');
  await page.waitForSelector('main [role=alert]');
  assert.match(await page.textContent('main [role=alert]'), /nonsense/);
  page.expected.push('400'); // what the browser says of the answer
});

test('the order of each table is in the address', async () => {
  const page = await open('#/latency');
  const links = page.getByRole('region', { name: 'Link latency' });
  const filter = page.getByLabel('Filter of links');
  await filter.fill('packets > 1'); // and it is not applied
  await links.getByRole('button', { name: 'Packets' }).click();
  assert.match(await page.evaluate(() => location.hash), /sort\.link_latency=-packets/);
  const first = async () => links.locator('tbody tr:not(.rest)').first().textContent();
  assert.equal(await filter.inputValue(), 'packets > 1');
  const shown = await first();
  const {
    links: [most],
  } = await ask('links?order=packets&limit=1');
  assert.ok(shown.includes(most.from_name), shown);
  await page.reload();
  await links.waitFor();
  assert.equal(await first(), shown);
});

test('the waybill of a flow', async () => {
  const [flow] = (await ask('flows?order=packets&limit=1')).flows;
  const page = await open(`#/flow?${endpoints(flow)}`);
  const path = flow.paths[0];
  const waybill = page.locator('section', { has: page.getByRole('heading', { name: 'Current path' }) });
  const rows = await waybill.locator('tbody tr').count();
  assert.equal(rows, 2 * path.hops.length - 1); // hops, and links between them
  for (const hop of path.hops) assert.ok((await waybill.textContent()).includes(hop.name));
});

test('burst', async () => {
  const [burst] = (await ask('bursts?order=peak&limit=1')).bursts;
  const page = await open(`#/burst?id=${burst.id}`);
  const { burst: detail } = await ask(`bursts/${burst.id}`);
  assert.equal(await page.locator('circle').count(), detail.timeline.length);
  assert.equal(await page.locator('section table').first().locator('tbody tr').count(), detail.culprits.length);
  // Its packets can be read one by one, to the microsecond.
  await page.getByRole('group', { name: /^The queue/ }).focus();
  const told = page.locator('.chart + [role=status]');
  const packets = detail.timeline.toSorted((a, b) => a.at_ns - b.at_ns);
  for (const [key, packet] of [
    ['End', packets.at(-1)],
    ['Home', packets[0]],
    ['ArrowRight', packets[1]],
  ]) {
    await page.keyboard.press(key);
    const text = (await told.textContent()).replaceAll(',', '');
    assert.ok(
      text.includes(`${packet.at_ns < 0 ? '−' : '+'}${Math.round(Math.abs(packet.at_ns) / 1000)} µs`),
      `${key}: ${text}`,
    );
    assert.equal(text.includes('dropped'), packet.dropped === true, text);
    const [whole, ns] = (await told.locator('time').getAttribute('datetime')).split('.');
    assert.equal(
      (Date.parse(`${whole}Z`) - Date.parse(`${burst.start.slice(0, 19)}Z`)) * 1e6 + Number.parseInt(ns, 10),
      Number(burst.start.slice(20, -1).padEnd(9, '0')) + packet.at_ns,
      'to the nanosecond',
    );
  }
  const stage = await page.locator('.chart svg').boundingBox();
  await page.mouse.move(stage.x + stage.width * 0.6, stage.y + stage.height * 0.5);
  await page.waitForFunction(() => / µs: /.test(document.querySelector('.chart + [role=status]').textContent));
});

test('queues, latency, drops, events, collector', async () => {
  const page = await open('#/queues');
  // What the server finds late, of what is over, comes to the page some time after the answer has it.
  const counts = (label, total) =>
    eventually(async () =>
      assert.equal(
        Number(await page.locator(`[aria-label="${label}"] table`).getAttribute('aria-rowcount')) - 1,
        await total(),
        label,
      ),
    );
  await counts('Queues', async () => (await ask('queues?limit=10000')).total);
  await go(page, '#/latency');
  await counts('Node latency', async () => (await ask('hops?limit=10000')).hops.filter((h) => h.latency_ns).length);
  await counts('Link latency', async () => (await ask('links?limit=10000')).total);
  await go(page, '#/drops');
  await counts('Drops', async () => (await ask('drops')).total);
  await go(page, '#/events?severity=info');
  await counts('Events', async () => (await ask('events')).total);
  await go(page, '#/events'); // what is worth knowing only is left out, unless somebody asks for it
  await counts('Events', async () => (await ask('events', 'severity >= warning')).total);
  await go(page, '#/collector');
  const loss = await ask('loss');
  await counts('Loss by exporter', () => loss.total);
  const offered = loss.loss.reduce((sum, l) => sum + l.received + l.lost, 0);
  assert.equal(number(await page.locator('section').first().locator('tbody td.number').first().textContent()), offered);
  const terms = await page.locator('section').first().locator('dt').allTextContents();
  assert.ok(
    terms.includes('Counted by the tables') && terms.every((term) => !/stored/i.test(term)),
    'stored is what is on the disk',
  ); // as the ledger says it
});

test('a filter that is wrong shows where, one that is right filters', async () => {
  const page = await open('#/events');
  const input = page.getByRole('combobox', { name: 'Filter' });
  await input.fill('kind = drop_storn');
  await page.waitForSelector('mark');
  assert.equal(await page.textContent('mark'), 'drop_storn');
  await input.fill('kind = link');
  await page.getByRole('option', { name: /link_lost/ }).waitFor();
  await input.press('ArrowDown');
  await input.press('Enter');
  await page.waitForFunction(() => document.querySelector('[role=combobox]').value.startsWith('kind = link_lost'));
  await page.getByRole('option', { name: /^and/ }).waitFor(); // the offer for what may follow
  await input.press('Escape');
  await input.press('Enter');
  await page.waitForFunction(() => location.hash.includes('filter='));
  const { total } = await ask('events?filter=kind%20%3D%20link_lost');
  await page.waitForFunction((n) => document.querySelectorAll('main table tbody tr').length === n, total);
});

test('keyboard only', async () => {
  const page = await open('#/overview');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the page');
  for (let i = 0; i < 40 && (await page.evaluate(() => document.activeElement.textContent)) !== 'Drops'; i++)
    await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () => location.hash === '#/drops' && document.activeElement === document.querySelector('main'),
  );
  await page.waitForSelector('th button');
  for (let i = 0; i < 40 && (await page.evaluate(() => document.activeElement.textContent.trim())) !== 'Packets'; i++)
    await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForSelector('th[aria-sort=descending]');
});

test('the first page needs little code', async () => {
  const page = await open('#/overview', { locale: 'en-US' }); // a browser of its own, which has no file yet
  const sizes = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((r) => r.name.endsWith('.js'))
      .map((r) => r.encodedBodySize),
  );
  const sum = sizes.reduce((a, b) => a + b, 0);
  console.log(`     ${sum} bytes of JavaScript in ${sizes.length} files`);
  assert.ok(sum > 0 && sum < 75_000, `${sum} bytes of JavaScript`);
});
