// The table of flows: of now and of a time range, grouped, with other columns, and with very many rows.
import assert from 'node:assert/strict';
import { accessible, ask, connect, finish, endpoints, go, open, shoot, test, span } from './browser.js';
import { measured } from './measure.js';

const number = (text) => Number(text.replace(/[^0-9]/g, ''));
const table = '[aria-label=Flows]';
const rowsOf = async (page) => Number(await page.locator(`${table} table`).getAttribute('aria-rowcount')) - 1;
const cell = (page, row, column) =>
  page.locator(`${table} tbody tr:not(.rest)`).nth(row).locator('td').nth(column).textContent();
const titles = async (page) =>
  (await page.locator(`${table} th`).allTextContents()).map((text) => text.replace(/[▼▲]/, '').trim());

test.beforeAll(connect);
test.afterAll(finish);

test('groups, and the flows of one', async () => {
  const page = await open('#/flows?limit=10000&order=packets&group=dst_net');
  const { flows } = await ask('flows?limit=10000&order=packets');
  const v4 = flows.filter((flow) => !flow.dst.includes(':'));
  const nets = new Map();
  for (const flow of v4) {
    const net = flow.dst.replace(/\.\d+$/, '.0/24');
    nets.set(net, [...(nets.get(net) ?? []), flow]);
  }
  const [net, most] = [...nets]
    .map(([name, list]) => [name, list.reduce((sum, flow) => sum + flow.packets, 0)])
    .toSorted((a, b) => b[1] - a[1])[0];
  assert.equal(await cell(page, 0, 0), net);
  assert.equal(number(await cell(page, 0, 1)), nets.get(net).length);
  assert.equal(number(await cell(page, 0, 2)), most);
  await accessible(page, 'groups');
  await page.getByRole('link', { name: net }).click();
  await page.waitForFunction(() => location.hash.includes('dst=') && !location.hash.includes('group='));
  const { total } = await ask('flows', `dst in ${net}`);
  await page.waitForFunction(
    (n) => Number(document.querySelector('[aria-label=Flows] table')?.getAttribute('aria-rowcount')) === n + 1,
    total,
  );
});

test('columns and order are in the address', async () => {
  const page = await open('#/flows?limit=100');
  await page.getByText('Columns').click();
  await page.getByRole('checkbox', { name: 'Reports' }).check();
  await page.getByRole('checkbox', { name: 'Path', exact: true }).uncheck();
  const shown = await titles(page);
  assert.ok(shown.includes('Reports') && !shown.includes('Path'), shown.join());
  await page.getByText('Columns').click();
  await page.getByRole('button', { name: 'Reports' }).click();
  await page.waitForSelector('th[aria-sort=descending]');
  const hash = await page.evaluate(() => location.hash);
  const other = await open(hash);
  assert.deepEqual(await titles(other), shown);
  assert.equal((await other.locator('th[aria-sort=descending]').textContent()).replace(/[▼▲]/, '').trim(), 'Reports');
});

test('a time range, with a filter', async () => {
  const filter = 'protocol = udp and dst_port < 60000';
  const page = await open(`#/flows?${span}&limit=10000&filter=${encodeURIComponent(filter)}`);
  const { flows } = await ask(`flows?${span}&limit=10000&order=packets&filter=${encodeURIComponent(filter)}`);
  await page.waitForSelector(table);
  assert.equal(await rowsOf(page), flows.length);
  assert.equal(number(await cell(page, 0, 1)), flows[0].packets);
  await shoot(page, 'flows-range');
  await go(page, `#/flows?${span}&filter=${encodeURIComponent('packets > 4000000000')}`);
  await page.waitForFunction(() =>
    /No matching flows in this time range/.test(document.querySelector('main').textContent),
  );
});

test('the drops of a flow have place, reason and time, and its events are there, the worst first', async () => {
  const [flow] = (await ask('flows?order=drops&limit=1')).flows;
  assert.ok(flow.drops > 0);
  const page = await open('#/flows');
  // As if it had been quiet for long enough for its paths to be forgotten.
  await page.route('**/api/v1/flows?filter=*', async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    await route.fulfill({ response, json: { ...answer, flows: answer.flows.map((f) => ({ ...f, paths: [] })) } });
  });
  await go(page, `#/flow?${endpoints(flow)}`);
  const drops = page.locator('[aria-label=Drops]');
  await drops.locator('a[href*="reason="]').first().waitFor();
  const lost = (await drops.locator('p .bad').allTextContents()).map(number);
  assert.equal(
    lost.reduce((sum, n) => sum + n, 0),
    flow.drops,
  );
  const { paths } = await ask(`flows/${flow.id}/paths`);
  const ends = new Set(paths.filter((p) => p.drops > 0).map((p) => p.hops.at(-1).name));
  const links = await drops
    .locator('a[href*="reason="]')
    .evaluateAll((list) => list.map((a) => a.getAttribute('href')));
  for (const link of links) {
    const params = new URLSearchParams(link.split('?')[1]);
    assert.ok(ends.has(params.get('node')) && params.get('since'), link);
    const { drops: there } = await ask(
      `drops?${span}`,
      `node = ${params.get('node')} and reason_name = ${params.get('reason')}`,
    );
    assert.ok(there[0].packets > 0, link);
  }
  const nodes = [...new Set(paths.flatMap((p) => p.hops.flatMap((hop) => (hop.node === null ? [] : [hop.node]))))];
  const { events } = await ask(`events?limit=1000&filter=${encodeURIComponent(`node in (${nodes.join(', ')})`)}`);
  const worst = ['critical', 'warning', 'info'].find((severity) => events.some((e) => e.severity === severity));
  const first = page.locator('[aria-label=Events] p').first();
  await first.waitFor();
  assert.ok(
    (await first.textContent()).includes(worst) && events.some((e) => e.kind === 'drop_storm'),
    await first.textContent(),
  );
  await accessible(page, 'drops of a flow');
  await drops.locator('a[href*="reason="]').first().click();
  await page.waitForFunction(() => /[1-9][\d,]* packets/.test(document.querySelector('main section')?.textContent));
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('the figures of a flow are of the time that the page says', async () => {
  const [flow] = (await ask('flows?order=packets&limit=1&filter=dst_port%20%3D%206001')).flows;
  const query = endpoints(flow);
  const page = await open(`#/flow?${query}`);
  const packets = page.locator('[aria-label=Figures] dd').first();
  assert.equal(number(await packets.textContent()), flow.packets);
  assert.match(await page.textContent('[aria-label=Figures]'), /since it was first seen/);
  const path = page.locator('section', { has: page.getByRole('heading', { name: 'Current path' }) });
  assert.match(await path.textContent(), /since it took this path at \d\d:\d\d:\d\d/);
  assert.equal(await path.locator('p.warn').count(), 0);
  // Of the first ten seconds in which it was seen.
  const { paths } = await ask(`flows/${flow.id}/paths`);
  const from = Math.min(...paths.map((p) => Date.parse(p.start)));
  const span = new URLSearchParams({
    since: new Date(from).toISOString(),
    until: new Date(from + 10_000).toISOString(),
  });
  const {
    flows: [record],
  } = await ask(`flows?${span}&group_by=id&filter=${encodeURIComponent(`id = "${flow.id}"`)}`);
  assert.ok(record.packets > 0 && record.packets < flow.packets, `${record.packets} of ${flow.packets}`);
  await go(page, `#/flow?${query}&${span}`);
  await page.waitForFunction(
    (n) => document.querySelector('[aria-label=Figures] dd')?.textContent.replaceAll(',', '') === n,
    String(record.packets),
  );
  assert.match(await path.innerText(), /not limited to the selected range/);
  await accessible(page, 'flow of a range');
  await go(
    page,
    `#/flow?${query}&since=${new Date(from - 7_200_000).toISOString()}&until=${new Date(from - 3_600_000).toISOString()}`,
  );
  await page.waitForFunction(() =>
    /No packet of it was recorded from/.test(document.querySelector('[aria-label=Figures]').textContent),
  );
  await page.waitForFunction(() =>
    /None was reported in this time/.test(document.querySelector('[aria-label=Drops]').textContent),
  );
  // What is not kept any more is not taken for what was shown before.
  await go(page, `#/flow?${query}&${span}`);
  await page.waitForSelector('.lanes .label');
  await go(page, `#/flow?${query}&since=2026-01-15T10:00:00.000Z&until=2026-01-15T11:00:00.000Z`);
  await page.waitForFunction(
    () =>
      /kept for/.test(document.querySelector('[aria-label=Figures]').textContent) &&
      /Not known/.test(document.querySelector('[aria-label=Drops]').textContent),
  );
  await page.waitForFunction(() => document.querySelector('.lanes .label') === null);
  await page.close(); // so that no answer comes later
  page.expected.push('400'); // what the browser says of the answers
});

test('the latency of a flow over time, on its paths and at a hop', async () => {
  const [flow] = (await ask('flows?order=packets&limit=1')).flows;
  const page = await open(`#/flow?${span}&${endpoints(flow)}`);
  const canvas = page.locator('[aria-label="Latency over time"] canvas');
  const compare = async (params) => {
    await page.waitForFunction(() => document.querySelectorAll('.asking, .stale').length === 0);
    const map = await ask(`heatmap?${span}&interval=10s&${params}`);
    assert.ok(map.times.length > 0 && map.bounds.length > 1, params);
    assert.deepEqual(
      [await canvas.getAttribute('data-columns'), await canvas.getAttribute('data-rows')],
      [String(map.times.length), String(map.bounds.length - 1)],
      params,
    );
  };
  await canvas.waitFor();
  const { paths } = await ask(`flows/${flow.id}/paths?${span}`);
  const known = [...new Set(paths.map((path) => path.id).filter((id) => id !== ''))];
  await compare(`of=paths&filter=${encodeURIComponent(`id in (${known.map((id) => `"${id}"`).join(', ')})`)}`);
  await canvas.focus();
  await page.keyboard.press('End');
  assert.match(await page.textContent('[aria-label="Latency over time"] .hint'), /of [\d,]+ packets.*p99/s);
  const hop = flow.paths[0].hops.find((h) => h.node !== null);
  await page.selectOption('label:has-text("Where") select', `${hop.node}-${hop.ingress_port}-${hop.egress_port}`);
  await page.waitForFunction(() => location.hash.includes('hop='));
  await compare(
    `of=hops&filter=${encodeURIComponent(`node = ${hop.node} and ingress_port = ${hop.ingress_port} and egress_port = ${hop.egress_port}`)}`,
  );
  await accessible(page, 'latency of a flow');
  await shoot(page, 'light-flow-over-time');
  // One that is not in memory any more still has a past.
  await page.route('**/api/v1/flows?filter=*', (route) =>
    route.fulfill({
      contentType: 'application/json',
      body: JSON.stringify({ generated_at: new Date().toISOString(), total: 0, flows: [] }),
    }),
  );
  await page.reload();
  await page.waitForFunction(() => /not in memory:/.test(document.querySelector('main').textContent));
  await canvas.waitFor();
});

test('a long question is cancelled, and asked again', async () => {
  const page = await open('#/docs');
  let slow = true;
  await page.route('**/api/v1/flows?*since=*', async (route) => {
    while (slow) await new Promise((done) => setTimeout(done, 100));
    await route.continue().catch(() => null); // it was given up
  });
  await page.evaluate((to) => {
    location.hash = to;
  }, `#/flows?${span}`);
  await page.getByText(/Querying/).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText(/Cancelled/).waitFor();
  assert.equal(await page.locator('progress').count(), 0);
  slow = false;
  await page.getByRole('button', { name: 'Ask again' }).click();
  await page.waitForSelector(table);
  await page.getByText(/Cancelled/).waitFor({ state: 'detached' });
  page.expected.push('ERR_');
});

test('100,000 rows', async () => {
  const page = await open('#/flows');
  let asked = 0;
  await page.route('**/api/v1/flows?*since=*', async (route) => {
    const at = (asked++ % 10) * 10_000; // it is asked again after a while
    await route.fulfill({
      contentType: 'application/json',
      body: JSON.stringify({
        generated_at: new Date().toISOString(),
        since: '2026-11-21T08:00:00Z',
        until: '2026-11-21T09:00:00Z',
        resolution_ns: 1e10,
        total: at + 10_000,
        ...(at < 90_000 ? { next_cursor: `c${asked}` } : {}),
        flows: Array.from({ length: 10_000 }, (_, i) => ({
          id: String(at + i),
          src: `10.${(at + i) >> 16}.${((at + i) >> 8) & 255}.${(at + i) & 255}`,
          dst: '10.9.9.9',
          src_port: 1,
          dst_port: 2,
          protocol: 'udp',
          packets: 100_000 - at - i,
        })),
      }),
    });
  });
  await page.evaluate(() => {
    location.hash = '#/flows?since=1h&limit=100000';
  });
  await page.waitForSelector(table);
  assert.equal(await rowsOf(page), 100_000);
  assert.ok((await page.locator(`${table} tbody tr`).count()) < 100);
  if (process.env.CONSOLE_MEASURE) {
    const scroll = (step) =>
      measured(page, () =>
        page.locator(table).evaluate(
          (region, by) =>
            new Promise((done) => {
              let frames = 0;
              const next = () => {
                region.scrollTop += by;
                if (++frames < 300) requestAnimationFrame(next);
                else done();
              };
              next();
            }),
          step,
        ),
      );
    for (const step of [12, 90, 2000]) console.log(`     scrolled by ${step} px a frame: ${await scroll(step)}`);
  }
  // What has the focus keeps it while it is in view, and the rows around it are those of the list.
  await page.getByRole('link', { name: '10.0.0.20:1' }).focus();
  await page.locator(table).evaluate((region) => {
    region.scrollTop = 500;
  });
  await page.getByRole('link', { name: '10.0.0.45:1' }).waitFor();
  assert.match(await page.evaluate(() => document.activeElement.textContent), /^10\.0\.0\.20:1 /);
  const drawn = await page
    .locator(`${table} tbody tr:not(.rest)`)
    .evaluateAll((rows) =>
      rows.map((row) => [Number(row.getAttribute('aria-rowindex')), row.textContent.split(' ')[0]]),
    );
  assert.deepEqual(
    drawn,
    drawn.map((_, i) => [drawn[0][0] + i, `10.0.0.${drawn[0][0] - 2 + i}:1`]),
  );
  await page.locator(table).evaluate((region) => {
    region.scrollTop = region.scrollHeight;
  });
  await page.getByRole('link', { name: '10.1.134.159:1' }).waitFor(); // number 99,999
  await page.getByRole('button', { name: 'Packets', exact: true }).click();
  await page.getByRole('button', { name: 'Packets', exact: true }).click(); // the smallest first, from its beginning
  await page.waitForSelector('th[aria-sort=ascending]');
  assert.equal(await page.locator(table).evaluate((region) => region.scrollTop), 0);
  await page.getByRole('link', { name: '10.1.134.159:1' }).waitFor();
  await page.selectOption('label:has-text("Group by") select', 'src_net');
  await page.waitForFunction(() => /in 391 groups/.test(document.querySelector('main').textContent)); // 100,000 / 256, and a part
});
