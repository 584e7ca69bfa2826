// Explore on a server with records, compared with what the API says of the same question.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { accessible, ask, base, connect, finish, go, open, ready, shoot, test, span } from './browser.js';

const answered = (page) =>
  page.waitForFunction(
    () => document.querySelector('main h1') && !/Querying|Loading …/.test(document.querySelector('main').textContent),
  );
const explore = async (page, query) => {
  await go(page, `#/explore?${query}`);
  await answered(page);
};
const titles = (page, label) =>
  page
    .locator('label')
    .evaluateAll(
      (labels, wanted) =>
        [...labels.find((l) => l.firstChild.textContent === wanted).querySelectorAll('option')].map(
          (option) => option.value,
        ),
      label,
    );
const cells = (page, row) =>
  page.locator('[aria-label=Totals] tbody tr:not(.rest)').nth(row).locator('td').allTextContents();

test.beforeAll(connect);
test.afterAll(finish);

test('what can be chosen is what the API has', async () => {
  const page = await open('#/explore');
  const {
    components: { schemas },
  } = await ask('openapi.json');
  const records = {
    flows: 'FlowRecord',
    hops: 'HopRecord',
    paths: 'PathRecord',
    queues: 'QueueRecord',
    links: 'LinkRecord',
    drops: 'DropRecord',
    exporters: 'ExporterRecord',
  };
  assert.deepEqual((await titles(page, 'of')).toSorted(), Object.keys(records).toSorted());
  for (const [of, schema] of Object.entries(records)) {
    await explore(page, `of=${of}`);
    const groups = (await page.locator('fieldset button').allTextContents()).map((text) => text.replaceAll(' ', '_'));
    const offered = [...groups, ...(await titles(page, 'Measure'))];
    const known = Object.keys(schemas[schema].properties);
    assert.ok(offered.length > 2, of);
    assert.deepEqual(
      offered.filter((name) => !known.includes(name)),
      [],
      of,
    );
  }
});

test('lines, totals and the shares of groups', async () => {
  const page = await open('#/explore');
  await explore(page, `of=flows&by=src&top=4&${span}&interval=10s`);
  const { flows } = await ask(`flows?${span}&group_by=src&order=packets&limit=1000`);
  assert.match(await page.textContent('section[aria-busy] .unit'), /^interval: 10 s$/); // what the axis counts
  const first = await cells(page, 0);
  assert.equal(first[0], flows[0].src);
  assert.equal(Number(first[1].replaceAll(',', '')), flows[0].packets);
  const all = flows.reduce((sum, flow) => sum + flow.packets, 0);
  assert.equal(first.at(-1), `${Math.floor((flows[0].packets / all) * 1e4) / 100} %`);
  assert.deepEqual(await page.locator('.legend span').allTextContents(), [
    ...flows.slice(0, 4).map((flow) => flow.src),
    'all others',
  ]);
  // The arrow keys read the graph: together the pieces are the total.
  await page.locator('.chart').focus();
  await page.keyboard.press('ArrowRight');
  const pieces = await page
    .locator('.chart svg')
    .first()
    .evaluate(() => document.querySelectorAll('.legend strong').length);
  assert.equal(pieces, 5);
  const { flows: over } = await ask(`flows?${span}&group_by=&interval=10s&limit=1000`);
  assert.equal(
    over.reduce((sum, flow) => sum + flow.packets, 0),
    all,
  );
  await accessible(page, 'explore');
  await shoot(page, 'explore-lines');
});

test('of many groups, what is drawn and all others are what all groups are', async () => {
  const page = await open('#/explore');
  await answered(page); // or the answers to what the page asks first come among those to what is asked below
  const answers = [];
  page.on('response', (response) => response.url().includes('interval=') && answers.push(response.json()));
  let narrowed = 0;
  for (const [of, by, more = ''] of [
    ...[
      'src',
      'src_port',
      'dst_port',
      'protocol',
      'dscp',
      'tunnel_id',
      'device',
      'path',
      'id',
      'src,dst',
      'src,path',
      'path,id',
      'protocol,tunnel_id,path',
    ].map((by) => ['flows', by]),
    ['flows', 'src,dst', '&filter=protocol = tcp or protocol = udp'],
    ['flows', 'path', '&measure=residence_max_ns&top=40'],
    ['flows', 'src,dst,src_port,dst_port,protocol,path,id', '&top=40'], // a filter would be too long
    ['paths', 'id'],
    ['paths', 'id', '&measure=residence_p99_ns&top=5'],
    ['hops', 'node'],
    ['hops', 'node,ingress_port,egress_port'],
    ['hops', 'dropped,node'],
    ['hops', 'dropped'],
    ['queues', 'node,egress_port,queue'],
    ['links', 'from,from_port,to,to_port'],
    ['drops', 'node,reason_name'],
    ['drops', 'reason,ingress_port,egress_port,dst'],
    ['exporters', 'source,node,hw_id'],
    ['exporters', 'node,version,dialect,loss_known'],
  ]) {
    answers.length = 0;
    await explore(page, `of=${of}&by=${by}&${span}&interval=10s${more}&top=2`); // the first of two tops counts
    const [drawn, others] = await Promise.all(answers);
    const what = `${of} by ${by}${more}`;
    const frame = `since=${drawn.since}&until=${drawn.until}&limit=10000&filter=${encodeURIComponent(new URLSearchParams(more).get('filter') ?? '')}`;
    const measure = new URLSearchParams(more).get('measure') ?? (await page.getByLabel('Measure').inputValue());
    const key = (row) => JSON.stringify(by.split(',').map((name) => row[name] ?? null));
    const { [of]: totals } = await ask(`${of}?${frame}&group_by=${by}&order=${measure}`);
    const { [of]: all } = await ask(`${of}?${frame}&group_by=${by}&interval=10s`);
    const top = new Set(totals.slice(0, Number(new URLSearchParams(more).get('top') ?? 2)).map(key));
    assert.ok(all.length > 0 && all.length < 10_000, `${what}: ${all.length} records`);
    assert.deepEqual(
      drawn[of],
      all.filter((row) => !others || top.has(key(row))),
      what,
    );
    if (totals.length > top.size)
      assert.match(
        await page.textContent('section[aria-busy]'),
        new RegExp(`Top ${top.size} of (more than )?[\\d,]+ groups`),
        what,
      );
    if (!others) continue;
    narrowed++;
    const rest = new Map();
    for (const row of all.filter((row) => !top.has(key(row))))
      rest.set(row.start, (rest.get(row.start) ?? 0) + (row.packets ?? row.samples ?? row.received));
    assert.deepEqual(
      others[of].map((row) => [row.start, row.packets ?? row.samples ?? row.received]),
      [...rest],
      what,
    );
  }
  assert.ok(narrowed > 15, `${narrowed} questions were narrowed: this tests little`);
});

test('a heat map is read by the arrow keys, and by the pointer', async () => {
  const until = Math.floor(Date.parse(new URLSearchParams(span).get('until')) / 10_000) * 10_000;
  const range = `since=${new Date(until - 300_000).toISOString()}&until=${new Date(until).toISOString()}`;
  const page = await open(`#/explore?of=flows&by=src&graph=heat&interval=10s&${range}`);
  await answered(page);
  const { flows } = await ask(`flows?${range}&group_by=src&interval=10s&limit=10000`);
  const told = page.locator('section .when');
  await page.getByRole('group', { name: 'Graph; the arrow keys read it' }).focus();
  await page.keyboard.press('ArrowLeft'); // the latest piece of the largest group
  let seen = 0;
  for (let i = 0; i < 30; i++) {
    const text = await told.textContent();
    const [, src, value, start] = /^(\S+), .*: ([\d,–]+), (\S+ \S+) – /.exec(text) ?? assert.fail(text);
    const record = flows.find(
      (flow) => flow.src === src && Date.parse(flow.start) === Date.parse(`${start.replace(' ', 'T')}Z`),
    );
    const known = flows.some((flow) => Date.parse(flow.start) === Date.parse(`${start.replace(' ', 'T')}Z`)); // else nothing tells of any group
    assert.equal(
      value.replaceAll(',', ''),
      record ? String(record.packets) : known ? '0' : '–',
      `${text}, want ${record?.packets}`,
    );
    seen += record ? 1 : 0;
    await page.keyboard.press('ArrowLeft');
  }
  assert.ok(seen > 0);
  const before = await told.textContent();
  await page.keyboard.press('ArrowDown');
  assert.notEqual((await told.textContent()).split(',')[0], before.split(',')[0]);
  const stage = await page.locator('section svg[role=img]').boundingBox();
  await page.mouse.move(stage.x + stage.width - 5, stage.y + 10);
  await page.waitForFunction(
    (end) => document.querySelector('section .when').textContent.includes(end),
    `${new Date(until).toISOString().slice(11, 19)} UTC`,
  );
});

test('every graph, in the address and back', async () => {
  const page = await open('#/explore');
  await explore(page, `of=hops&measure=latency_max_ns&${span}&interval=10s`);
  for (const [button, graph] of [
    ['Heat map', 'heat'],
    ['Stacked', 'stacked'],
    ['Lines', 'lines'],
    ['Table only', 'table'],
    ['Sankey', 'sankey'],
  ]) {
    await page.getByRole('button', { name: button }).click();
    await answered(page);
    assert.match(page.url(), new RegExp(`graph=${graph}`));
    await accessible(page, graph);
    await shoot(page, `explore-${graph}`);
  }
  assert.match(await page.innerText('main'), /needs two fields in “by”, and a measure that adds up/);
  await explore(page, `of=drops&graph=sankey&${span}`);
  const { drops } = await ask(`drops?${span}&group_by=node,reason_name&limit=1000`);
  const boxes = await page.locator('section svg rect').count();
  assert.equal(boxes, new Set(drops.map((d) => d.node)).size + new Set(drops.map((d) => d.reason_name)).size);
  await shoot(page, 'explore-drops');
  await explore(page, `of=drops&graph=sankey&${span}&by=node,reason_name,dst`);
  const { drops: ends } = await ask(`drops?${span}&group_by=node,reason_name,dst&limit=1000`);
  assert.ok(ends.length > 0);
  assert.equal(await page.locator('section svg rect').count(), boxes + new Set(ends.map((d) => d.dst)).size);
});

test('a filter, one that is wrong, and one that selects nothing', async () => {
  const page = await open('#/explore');
  await explore(page, `of=hops&${span}&by=node`);
  const input = page.getByRole('combobox', { name: 'Filter' });
  await input.fill('node = leaf1 and dropped = false');
  await input.press('Escape');
  await input.press('Enter');
  await page.waitForFunction(() => location.hash.includes('filter='));
  await answered(page);
  const { hops } = await ask(
    `hops?${span}&group_by=node&filter=${encodeURIComponent('node = leaf1 and dropped = false')}`,
  );
  await page.waitForFunction(
    (n) => document.querySelectorAll('[aria-label=Totals] tbody tr').length === n,
    hops.length,
  );
  assert.equal(Number((await cells(page, 0))[1].replaceAll(',', '')), hops[0].packets);
  await input.fill('latenzy > 1us');
  await page.waitForSelector('mark');
  assert.match(await page.textContent('mark'), /latenzy/);
  await explore(page, `of=hops&${span}&filter=${encodeURIComponent('node = 4242')}`);
  assert.match(await page.textContent('main'), /Nothing was recorded that the filter selects/);
  assert.doesNotMatch(await page.textContent('main'), /some records of then/);
});

test('a heat map tells what was not recorded from what was nothing', async () => {
  const page = await open('#/explore');
  await explore(page, `of=hops&by=node&${span}&interval=10s&graph=heat`); // longer than there are records
  const pieces = new Set((await ask(`hops?${span}&interval=10s&group_by=`)).hops.map((hop) => hop.start)).size;
  const rows = (await page.locator('section svg text title').count()) - 2; // the ends of the axis have titles too
  const grey = await page.locator('section svg[role=img] rect[fill-opacity=".3"]').count();
  assert.ok(
    grey > 0 && Math.abs(grey / rows - (59 - pieces)) <= 1,
    `${grey} in ${rows} rows, ${pieces} pieces have records`,
  ); // the range cuts one or two at its ends
  assert.match(await page.textContent('main'), /no record of any group/);
});

test('downloads have what is shown', async () => {
  const page = await open('#/explore');
  await explore(page, `of=links&by=from,to&${span}&graph=table`);
  const save = async (locator) => {
    const [download] = await Promise.all([page.waitForEvent('download'), locator.click()]);
    return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
  };
  const csv = await save(page.getByRole('button', { name: 'CSV', exact: true }));
  const { links } = await ask(`links?${span}&group_by=from,to&order=packets&limit=1000`);
  assert.equal(csv.name, 'waybill-links-packets.csv');
  const [head, ...lines] = csv.content.toString().trim().split(/\r?\n/);
  const columns = head.split(',');
  assert.equal(lines.length, links.length);
  assert.equal(Number(lines[0].split(',')[columns.indexOf('packets')]), links[0].packets);
  const parquet = await save(page.getByRole('button', { name: 'Parquet' }));
  assert.equal(parquet.content.subarray(0, 4).toString(), 'PAR1');
  await page.getByRole('button', { name: 'Lines' }).click();
  await answered(page);
  const png = await save(page.getByRole('button', { name: 'PNG' }));
  assert.equal(png.content.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.content.length > 5000, `${png.content.length} bytes`);
  // Title and times are above the picture, and a line for each colour is below it.
  const drawn = await page
    .locator('svg[role="img"]')
    .first()
    .evaluate((svg) => svg.getBoundingClientRect().height);
  const colours = await page.locator('ul.legend li').count();
  assert.ok(
    colours > 0 && png.content.readUInt32BE(20) >= 2 * (drawn + 36 + 18 * colours),
    `${png.content.readUInt32BE(20)} pixels high, the chart ${drawn}, ${colours} colours`,
  );
});

test('a download has all pages, or says that it has not', async () => {
  const page = await open('#/explore');
  await explore(page, `of=flows&by=src,dst&${span}&interval=10s`);
  // The same answers, but a page is of 7 records.
  let pages = 0;
  await page.route(/\/api\/v1\/flows\?.*format=/, (route) => {
    pages++;
    return route.continue({
      url: route
        .request()
        .url()
        .replace(/limit=\d+/, 'limit=7'),
    });
  });
  const save = async (name) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name, exact: true }).click(),
    ]);
    return { name: download.suggestedFilename(), content: await readFile(await download.path(), 'utf8') };
  };
  const { since, until, flows } = await ask(`flows?${span}&group_by=src,dst&interval=10s&limit=1000`);
  assert.ok(flows.length > 70 && flows.length < 1000, `${since} to ${until}: ${flows.length} records`);
  const first = flows.slice(0, 70).map((flow) => [flow.start, flow.src, flow.dst, flow.packets].join());
  const records = (text) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((flow) => [flow.start, flow.src, flow.dst, flow.packets].join());
  const csv = await save('CSV');
  assert.equal(pages, 10);
  assert.equal(csv.content.trim().split('\n').length, 71, 'a line of names, and all records');
  assert.equal(csv.name, 'waybill-flows-packets-first-1000000.csv'); // the eleventh page was not asked for
  assert.match(
    await page.textContent('.downloads [role=alert]'),
    /more than 1,000,000 records: the file has the first/,
  );
  assert.deepEqual(records((await save('NDJSON')).content), first);
  pages = 0;
  const parquet = await save('Parquet');
  assert.deepEqual([parquet.name, pages], ['waybill-flows-packets-first-100000.parquet', 1]);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const whole = await save('NDJSON');
  assert.equal(whole.name, 'waybill-flows-packets.ndjson');
  assert.equal(records(whole.content).length, flows.length);
  assert.equal(await page.locator('.downloads [role=alert]').count(), 0);
});

test('a view is saved under a name that all see, shown on a dashboard, and removed', async () => {
  const page = await open('#/explore');
  const views = page.getByRole('dialog', { name: 'Saved views' });
  const choose = async () => {
    await page.getByRole('button', { name: 'Saved views' }).click();
    await views.waitFor();
  };
  const saveAs = async (name) => {
    await choose();
    await views.getByLabel('Save this page as').fill(name);
    await page.keyboard.press('Enter');
    await views.getByRole('link', { name, exact: true }).waitFor();
  };
  await explore(page, `of=queues&${span}&graph=heat`);
  await saveAs('<b>queues</b>');
  await accessible(page, 'saved views');
  await views.getByRole('button', { name: 'Close' }).click();
  await explore(page, `of=drops&${span}&graph=stacked&by=reason_name`);
  await saveAs('drops by reason');
  await views.getByRole('link', { name: '<b>queues</b>' }).click();
  await page.waitForFunction(() => location.hash.includes('of=queues') && location.hash.includes('graph=heat'));
  assert.equal(await views.count(), 0);
  // Somebody else, who finds both, puts them on a dashboard of a time range of its own.
  const other = await open(`#/overview?${span}`, { alone: true });
  await other.getByRole('button', { name: 'Saved views' }).click();
  for (const name of ['<b>queues</b>', 'drops by reason']) await other.getByLabel(`${name} on a dashboard`).check();
  await other.getByRole('link', { name: /on a dashboard$/ }).click();
  await other.waitForFunction(() => document.querySelectorAll('main svg, main canvas').length >= 2);
  assert.deepEqual(await other.locator('main h2').allTextContents(), ['<b>queues</b>', 'drops by reason']);
  const legend = await other.locator('main section').nth(1).textContent();
  const { drops } = await ask(`drops?${span}&group_by=reason_name`);
  for (const { reason_name: reason } of drops.slice(0, 3))
    assert.ok(legend.includes(reason.replaceAll('_', ' ')), legend);
  await accessible(other, 'dashboard');
  await shoot(other, 'dashboard');
  // It has a name as well, and says what of it is gone.
  await other.getByRole('button', { name: 'Saved views' }).click();
  await other.getByLabel('Save this page as').fill('of the night');
  await other.keyboard.press('Enter');
  await other.getByRole('link', { name: 'of the night' }).waitFor();
  await other.getByRole('button', { name: 'Remove drops by reason' }).click();
  await other.getByRole('link', { name: 'drops by reason' }).waitFor({ state: 'detached' });
  await other.getByRole('button', { name: 'Close' }).click();
  await other.reload();
  await ready(other);
  assert.equal(await other.textContent('h1'), 'of the night');
  await other.getByText('One view of this dashboard was removed').waitFor();
  // By a few words, too.
  await other.keyboard.press('Control+k');
  await other.keyboard.type('of the ni');
  await other.getByRole('option', { name: /of the night/ }).waitFor();
  await other.keyboard.press('Escape');
  for (const { id } of (await ask('views')).views)
    assert.equal((await fetch(`${base}api/v1/views/${id}`, { method: 'DELETE' })).status, 204);
});

test('what this browser kept for itself moves to the server', async () => {
  const page = await open('#/explore', { alone: true }, () => {
    localStorage.setItem('waybill.saved.explore', '[{"name":"mine","hash":"#/explore?of=hops"}]');
  });
  await page.getByRole('button', { name: 'Saved views' }).click();
  await page.getByRole('button', { name: 'Move to the server' }).click();
  await page.getByRole('link', { name: 'mine', exact: true }).waitFor();
  const [view] = (await ask('views', 'name = mine')).views;
  assert.equal(view.address, 'explore?of=hops');
  await page.getByRole('button', { name: 'Remove mine' }).click();
  await page.getByRole('link', { name: 'mine', exact: true }).waitFor({ state: 'detached' });
});

test('a long question tells how far it is and can be cancelled', async () => {
  const page = await open('#/explore');
  let asked = 0;
  await page.route('**/api/v1/flows?*interval=*', async (route) => {
    asked++;
    await route.fulfill({
      contentType: 'application/json',
      body: JSON.stringify({
        generated_at: new Date().toISOString(),
        since: '2026-11-21T08:00:00Z',
        until: '2026-11-21T09:00:00Z',
        resolution_ns: 1e10,
        total: 10 * asked,
        next_cursor: `c${asked}`,
        flows: Array.from({ length: 10 }, (_, i) => ({
          start: '2026-11-21T08:30:00Z',
          src: `10.0.0.${i}`,
          dst: '10.0.0.99',
          packets: 1,
        })),
      }),
    });
    await new Promise((done) => setTimeout(done, 50));
  });
  await page.evaluate((to) => {
    location.hash = to;
  }, `#/explore?of=flows&${span}`);
  await page.waitForFunction(() => /: [1-9][0-9,]* records so far/.test(document.querySelector('main').textContent));
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForFunction(() => /Cancelled/.test(document.querySelector('main').textContent));
  const before = asked;
  await page.waitForTimeout(500);
  assert.ok(asked - before <= 1, `${asked - before} questions after it was cancelled`);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.getByRole('button', { name: 'Ask again' }).click();
  await page.waitForSelector('[aria-label=Totals]');
});

test('phone', async () => {
  const page = await open('', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  await explore(page, `of=flows&${span}`);
  assert.ok(
    (await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0,
  );
  await shoot(page, 'explore-phone');
});
