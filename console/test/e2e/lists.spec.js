// One time range for all lists, and the filter of each, compared with what the API says of the same question.
import assert from 'node:assert/strict';
import { accessible, ask, connect, eventually, finish, go, open, shoot, test, span } from './browser.js';

const number = (text) => Number(text.replace(/[^0-9]/g, ''));
const hash = (page) => page.evaluate(() => location.hash);
const pressed = (page) => page.locator('.choices button[aria-pressed=true]').allTextContents();
const has = (page, label, rows) =>
  page.waitForFunction(
    ([name, n]) => {
      const table = document.querySelector(`[aria-label="${name}"] table`);
      return (table ? Number(table.getAttribute('aria-rowcount')) - 1 : 0) === n;
    },
    [label, rows],
  );
const enc = encodeURIComponent;

test.beforeAll(connect);
test.afterAll(finish);

test('one picker on all pages that know a range', async () => {
  const page = await open('#/flows');
  await page.getByRole('button', { name: '15 m', exact: true }).click();
  for (const name of [
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
  ]) {
    await page.evaluate((to) => {
      location.hash = to;
    }, `#/${name}?since=15m`);
    await page.waitForFunction((to) => document.querySelector('main h1') && location.hash.startsWith(to), `#/${name}`);
    assert.equal(await page.getByRole('group', { name: 'Time range' }).count(), 1, name);
    assert.deepEqual(await pressed(page), ['15 m'], name);
  }
  assert.equal(await page.getByRole('button', { name: 'Now', exact: true }).count(), 0, 'nothing can be explored now');
  await go(page, '#/explore');
  assert.deepEqual(await pressed(page), ['1 h']);
  await page.getByRole('button', { name: 'Pause' }).click();
  assert.match(await hash(page), /since=\d{4}-.*&until=\d{4}-/);
});

test('now stands still, a range that follows does not', async () => {
  const page = await open('#/flows');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Go on' }).waitFor();
  await go(page, '#/events?since=10m');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
});

test('what a link says of a time stays, however it says it', async () => {
  const page = await open('#/events?since=10m&until=5m');
  await page.waitForFunction(() => /since=\d{4}-.*&until=\d{4}-/.test(location.hash));
  const params = new URLSearchParams((await hash(page)).split('?')[1]);
  assert.equal(Date.parse(params.get('until')) - Date.parse(params.get('since')), 300_000);
  await go(page, '#/events?since=720h');
  assert.deepEqual(await pressed(page), ['30 d']);
  await page.evaluate(() => {
    location.hash = '#/events?since=nonsense';
  });
  await page.waitForFunction(() => location.hash === '#/events');
});

test('the ledger of a range', async () => {
  const { generated_at: now } = await ask('loss');
  const [since, until] = [new Date(Date.parse(now) - 3_600_000).toISOString(), now];
  const page = await open(`#/collector?since=${since}&until=${until}`);
  const { loss } = await ask(`loss?since=${since}&until=${until}`);
  const received = loss.reduce((sum, l) => sum + l.received, 0);
  assert.ok(received > 0);
  assert.equal(
    number(
      await page
        .locator('section')
        .first()
        .locator('tbody tr', { hasText: 'Received' })
        .locator('td')
        .nth(1)
        .textContent(),
    ),
    received,
  );
  await has(page, 'Loss by exporter', loss.length);
  // Before the server began there is nothing, and the page says so rather than 0.
  await go(page, '#/collector?since=2026-01-15T10:00:00.000Z&until=2026-01-15T11:00:00.000Z');
  await page.waitForFunction(() => /has none before/.test(document.querySelector('main').textContent));
  page.expected.push('400'); // what the browser says of the answer
});

test('bursts of a range come from the store', async () => {
  const page = await open(`#/queues?${span}&incast=false`);
  const { bursts } = await ask(`bursts?${span}&limit=1000`, 'incast = false');
  assert.ok(bursts.length > 0);
  await has(page, 'Bursts', bursts.length);
  await page.evaluate(() => {
    location.hash = '#/queues?since=2026-01-15T10:00:00.000Z&until=2026-01-15T11:00:00.000Z';
  });
  await page.waitForFunction(() => /No queue was long/.test(document.querySelector('main').textContent));
});

test('an event and a flow that only the store knows', async () => {
  const {
    events: [event],
  } = await ask(`events?${span}&limit=1`, 'severity >= warning');
  const page = await open('#/overview');
  const empty = (name) => (route) =>
    route.fulfill({
      contentType: 'application/json',
      body: JSON.stringify({ generated_at: new Date().toISOString(), total: 0, [name]: [] }),
    });
  await page.route(/api\/v1\/events\?filter=/, empty('events')); // as if the server had begun anew
  await go(page, `#/event?id=${event.id}&${span}`);
  await page.waitForFunction((text) => document.querySelector('main .text')?.textContent === text, event.text);
  await go(page, `#/event?id=abcdef&${span}`);
  await page.waitForFunction(() =>
    /No event with this id is known of this time/.test(document.querySelector('main').textContent),
  );
  const {
    flows: [flow],
  } = await ask(`flows?${span}&limit=1`);
  await page.route(/api\/v1\/flows\?filter=/, empty('flows'));
  await go(
    page,
    `#/flow?${new URLSearchParams({ id: flow.id, src: flow.src, dst: flow.dst, sport: flow.src_port, dport: flow.dst_port, protocol: flow.protocol })}&${span}`,
  );
  await page.waitForFunction(
    (packets) => document.querySelector('.facts dd')?.textContent.replaceAll(',', '') === packets,
    String(flow.packets),
  );
  const { paths } = await ask(`flows/${flow.id}/paths?${span}`);
  await page.waitForFunction(
    (n) => document.querySelectorAll('[aria-label="Paths over time"] tbody tr').length === n,
    paths.length,
  );
  await accessible(page, 'flow of the past');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('a list of now that has more says of how many it is', async () => {
  const page = await open('#/overview');
  for (const [name, of] of [
    ['events', 'events'],
    ['queues', 'bursts'],
  ]) {
    const answer = await ask(`${of}?limit=1`);
    assert.equal(answer[of].length, 1);
    await page.route(new RegExp(`api/v1/${of}\\?`), (route) =>
      route.fulfill({
        contentType: 'application/json',
        body: JSON.stringify({ ...answer, total: 1147, next_cursor: 'more' }),
      }),
    );
    await go(page, `#/${name}`);
    await page.waitForFunction(() => /1 of 1,147/.test(document.querySelector('main').textContent));
    assert.ok(!(await page.textContent('main')).includes('that began in this time'), name);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
});

test('every list has a filter', async () => {
  const page = await open('#/flows');
  const filters = [
    ['flows', 'Flows', 'drops > 0', `flows?limit=1000&filter=${enc('drops > 0')}`, 'filter', 'Filter'],
    [
      'latency',
      'Node latency',
      'latency.max > 20us and node = leaf1',
      `hops?limit=10000&filter=${enc('latency.max > 20us and node = leaf1')}`,
      'filter',
      'Filter of hops',
    ],
    [
      'latency',
      'Link latency',
      'from = leaf1',
      `links?limit=10000&filter=${enc('from = leaf1')}`,
      'links',
      'Filter of links',
    ],
    [
      'queues',
      'Queues',
      'occupancy.max > 10000',
      `queues?limit=10000&filter=${enc('occupancy.max > 10000')}`,
      'filter',
      'Filter of queues',
    ],
    ['queues', 'Bursts', 'drops > 0', `bursts?limit=1024&filter=${enc('drops > 0')}`, 'bursts', 'Filter of bursts'],
    [
      'drops',
      'Drops',
      'packets > 1 and node = leaf1',
      `drops?limit=10000&filter=${enc('packets > 1 and node = leaf1')}`,
      'filter',
      'Filter',
    ],
    [
      'collector',
      'Loss by exporter',
      'received > 10 and node = leaf1',
      `loss?filter=${enc('received > 10 and node = leaf1')}`,
      'filter',
      'Filter',
    ],
    ['alerts', 'Alerts', 'node = leaf1', `alerts?filter=${enc('node = leaf1')}&limit=1000`, 'filter', 'Filter'],
    [
      'events',
      'Events',
      'severity = warning',
      `events?filter=${enc('severity = warning')}&limit=1000`,
      'filter',
      'Filter',
    ],
  ];
  for (const [name, label, filter, path, param, field] of filters) {
    await go(page, `#/${name}`);
    const input = page.getByRole('combobox', { name: field, exact: true });
    await input.fill('nonsense = 1');
    await page.waitForSelector('mark');
    await input.fill(filter);
    await page.waitForSelector('mark', { state: 'detached' });
    await accessible(page, `${name} with what may stand there`);
    await input.press('Escape');
    await input.press('Enter');
    await page.waitForFunction((p) => new URLSearchParams(location.hash.split('?')[1]).has(p), param);
    const { total } = await ask(path);
    assert.ok(total > 0, `${name}: ${filter}`);
    await has(page, label, total);
  }
  for (const [to, path] of [
    [`latency?${span}&of=links`, `links?${span}&limit=200`],
    [`latency?${span}&of=hops`, `hops?${span}&limit=200`],
  ]) {
    const filter = enc(to.includes('links') ? 'from = leaf1' : 'node = leaf1 and packets > 1');
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${to}&filter=${filter}`);
    const list = await ask(`${path}&filter=${filter}`);
    assert.ok(list.total > 0);
    await has(page, 'Slowest', list.total);
  }
  const drops = await ask(
    `drops?${span}&limit=10000&filter=${enc('(reason_name = "port_down") and (packets > 1 and node = leaf1)')}`,
  );
  assert.ok(drops.total > 0);
  await page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#/drops?${span}&reason=port_down&filter=${enc('packets > 1 and node = leaf1')}`,
  );
  await has(page, 'Drops', drops.total);
  const queues = await ask(`queues?${span}&limit=40&filter=${enc('occupancy.max > 10000')}`);
  await page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#/queues?${span}&filter=${enc('occupancy.max > 10000')}`,
  );
  await page.waitForFunction((n) => document.querySelector('canvas')?.dataset.rows === String(n), queues.total);
});

test('the filter of Collector is about counts of the range, for the figures above too', async () => {
  const { generated_at: until, loss: all } = await ask('loss');
  const middle = all.map((l) => l.received).sort((a, b) => a - b)[Math.floor(all.length / 2)];
  const span = `since=${new Date(Date.parse(until) - 3_600_000).toISOString()}&until=${until}`;
  const page = await open(`#/collector?${span}&filter=${enc(`received < ${middle}`)}`);
  await accessible(page, 'collector of a range');
  const { loss, total } = await ask(`loss?${span}&filter=${enc(`received < ${middle}`)}`);
  assert.ok(total > 0 && total < all.length, `${total} of ${all.length}`);
  await has(page, 'Loss by exporter', total);
  assert.equal(
    number(
      await page
        .locator('section')
        .first()
        .locator('tbody tr', { hasText: 'Received' })
        .locator('td')
        .nth(1)
        .textContent(),
    ),
    loss.reduce((sum, l) => sum + l.received, 0),
  );
});

test('bursts of a range are filtered by the store', async () => {
  const { bursts: all } = await ask(`bursts?${span}&limit=1000`);
  const filter = `peak_bytes > ${Math.min(...all.map((b) => b.peak_bytes))} and egress_port > 0`;
  const { bursts } = await ask(`bursts?${span}&limit=1000&filter=${enc(filter)}`);
  assert.ok(bursts.length > 0 && bursts.length < all.length, `${bursts.length} of ${all.length}`);
  const page = await open(`#/queues?${span}&bursts=${enc(filter)}`);
  await has(page, 'Bursts', bursts.length);
  assert.equal(await page.getByRole('combobox', { name: 'Filter of bursts' }).inputValue(), filter);
  await page.getByRole('combobox', { name: 'Filter of bursts' }).fill('peak_bytes > 100GB');
  await page.getByRole('button', { name: 'Filter' }).last().click();
  await page.waitForFunction(() => /No matching bursts/.test(document.querySelector('main').textContent));
});

test('a wrong filter of an address shows where it is wrong, and can be mended', async () => {
  for (const [hash, field, wrong] of [
    ['collector', 'Filter', 'lost > 0 and dialekt = 1'],
    ['queues', 'Filter of bursts', 'peak > 1 and drops'],
    ['latency', 'Filter of links', 'from = leaf1 and delay.p98 > 1ms'],
    ['events', 'Filter', 'kind = storm'],
  ]) {
    const page = await open(
      `#/${hash}?${{ Filter: 'filter', 'Filter of bursts': 'bursts', 'Filter of links': 'links' }[field]}=${enc(wrong)}`,
    );
    const { error } = await ask(
      `filter/validate?schema=${{ collector: 'loss', queues: 'bursts', latency: 'links', events: 'events' }[hash]}&text=${enc(wrong)}`,
    );
    await page.waitForSelector('mark');
    assert.equal(await page.textContent('mark'), wrong.slice(error.column - 1), hash);
    const input = page.getByRole('combobox', { name: field, exact: true });
    assert.equal(await input.inputValue(), wrong);
    if (hash === 'latency') {
      // the other list is there all the same, and says nothing of it
      await has(page, 'Node latency', (await ask('hops?limit=10000')).hops.filter((hop) => hop.latency_ns).length);
      assert.equal(await page.locator('section:has([aria-label="Node latency"]) [role=alert]').count(), 0);
      assert.match(
        await page.locator('section:has-text("Link latency") [role=alert]').last().textContent(),
        /delay\.p98/,
      );
    }
    await input.fill('');
    await input.press('Escape');
    await input.press('Enter');
    await page.waitForFunction(
      () => !document.querySelector('main [role=alert]') && document.querySelector('main table'),
    );
    page.expected.push('400'); // what the browser says of the answer
  }
});

test('a time of another day says the day, however short ago it was', async () => {
  const {
    events: [event],
  } = await ask('events?limit=1');
  const east = ((20 - new Date(event.start).getUTCHours() + 36) % 24) - 12; // where it was 20 o'clock
  const timeZone = `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`; // the sign is that of POSIX
  const page = await open('#/alerts', { timezoneId: timeZone });
  const shown = page.locator(`time[datetime="${event.start}"]`).first();
  const day = new Date(event.start).toLocaleDateString('en-US', { timeZone });
  for (const [hours, said] of [
    [1, false],
    [10, true],
  ]) {
    await page.clock.setFixedTime(Date.parse(event.start) + hours * 3600_000);
    await go(page, '#/alerts');
    await go(page, `#/event?id=${event.id}`);
    await shown.waitFor();
    assert.equal(
      (await shown.textContent()).includes(day),
      said,
      `${await shown.textContent()}, ${hours} h later in ${timeZone}`,
    );
  }
});

test('when an exporter sent its last report is told in UTC', async () => {
  const { exporters } = await ask('exporters');
  const page = await open('#/overview');
  const titles = await page.locator('main [title^="last report"]').evaluateAll((list) => list.map((e) => e.title));
  assert.deepEqual(
    titles.toSorted(),
    exporters.map((e) => `last report ${e.last.slice(0, 19).replace('T', ' ')} UTC`).toSorted(),
  );
});

test('a value of a table narrows the list to it, or leaves it out', async () => {
  const page = await open('#/events?severity=info');
  const rows = page.locator('table[aria-rowcount] tbody tr:not(.rest)');
  const { events } = await ask('events?limit=1000');
  const kind = events.find((e) => e.kind !== events[0].kind).kind;
  const total = (is) => events.filter((e) => (e.kind === kind) === is).length;
  const shown = (n) =>
    page.waitForFunction((n) => document.querySelector('table[aria-rowcount]')?.ariaRowCount === String(n + 1), n);
  const cell = rows.getByRole('link', { name: kind.replaceAll('_', ' '), exact: true }).first();
  await cell.hover();
  await page
    .getByRole('button', { name: `Without kind = "${kind}"` })
    .filter({ visible: true })
    .click();
  await shown(total(false));
  await page.goBack();
  await shown(events.length);
  await cell.hover();
  await page
    .getByRole('button', { name: `Only kind = "${kind}"` })
    .filter({ visible: true })
    .click();
  await shown(total(true));
  assert.equal(await page.getByRole('combobox', { name: 'Filter' }).inputValue(), `kind = "${kind}"`);
});

test('on a phone the rows of a list are cards, the most telling first', async () => {
  const page = await open('#/incidents?severity=all', { viewport: { width: 390, height: 844 } });
  const { incidents } = await ask('incidents?limit=1000');
  const list = page.getByRole('region', { name: 'Incidents' });
  const card = (i) => list.getByRole('row').nth(i + 1); // the first has the titles
  const lead = () => card(0).locator('[data-lead]').textContent();
  await eventually(async () => assert.equal(await lead(), incidents[0].text));
  // All of a card is on the screen, the sentence above the rest, and each value below what it is.
  const boxes = await card(0)
    .getByRole('cell')
    .evaluateAll((cells) =>
      cells
        .filter((cell) => cell.checkVisibility())
        .map((cell) => {
          const { top, left, right } = cell.getBoundingClientRect();
          const cut = cell.scrollWidth > cell.clientWidth + 1;
          return { lead: 'lead' in cell.dataset, title: cell.dataset.title, top, left, right, cut };
        }),
    );
  assert.ok(boxes.length > 5);
  for (const box of boxes) assert.ok(box.left >= 0 && box.right <= 390 && !box.cut, JSON.stringify(box));
  const head = boxes.find((box) => box.lead);
  for (const box of boxes.filter((box) => !box.lead)) assert.ok(box.title && box.top > head.top, JSON.stringify(box));
  // They sort as the table does.
  await list.getByLabel('Sort cards by').selectOption('Packets lost');
  const lost = incidents.map((i) => i.packets_lost).toSorted((a, b) => b - a);
  const value = () => card(0).locator('[data-title="Packets lost"]').textContent();
  await eventually(async () => assert.equal(number(await value()), lost[0]));
  assert.match(await hash(page), /sort=-packets_lost/);
  await list.getByRole('button', { name: 'descending' }).press('Enter');
  await eventually(async () => assert.equal(number(await value()), lost.at(-1)));
  await accessible(page, 'cards');
  await shoot(page, 'phone-cards');
  const said = await lead();
  await card(0).getByRole('link', { name: said }).press('Enter');
  await page.waitForFunction((text) => document.querySelector('main h1')?.textContent.includes(text), said);
  await page.goBack();
  await list.waitFor();
  // Nothing scrolls in something that scrolls: more cards come when they are asked for, and are there after a reload.
  await go(page, '#/flows');
  const flows = page.getByRole('region', { name: 'Flows' });
  const { total } = await ask('flows?limit=1');
  const shows = (n) =>
    eventually(async () => assert.equal(await flows.getByRole('row').count(), Math.min(n, total) + 1));
  await shows(20);
  await flows.getByRole('button', { name: /^Show \d+ more$/ }).press('Enter');
  await shows(40);
  await page.reload();
  await shows(40);
  await page.goBack();
  // A wider window has the table.
  await page.setViewportSize({ width: 1280, height: 800 });
  await list.getByRole('button', { name: 'Packets lost' }).waitFor();
  assert.equal(await list.getByLabel('Sort cards by').count(), 0);
});
