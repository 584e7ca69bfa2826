// The time range, and what the pages show of it, against a server that keeps records.
import assert from 'node:assert/strict';
import {
  accessible,
  ask,
  connect,
  eventually,
  finish,
  go,
  lately,
  open,
  painted,
  shoot,
  some,
  test,
  span,
} from './browser.js';

const number = (text) => Number(text.replace(/[^0-9]/g, ''));
const hash = (page) => page.evaluate(() => location.hash);

/** settled waits until nothing is asked any more. */
const settled = async (page) => {
  await page.waitForSelector('main h1', { state: 'attached' });
  await page.waitForFunction(
    () => document.querySelectorAll('.asking, .stale').length === 0 && document.querySelectorAll('canvas').length > 0,
  );
};
const show = async (page, to) => {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, to);
  await settled(page);
};

test.beforeAll(connect);
test.afterAll(finish);

test('the range goes along, and is chosen by keys', async () => {
  const page = await open('#/latency');
  await page.getByRole('button', { name: '15 m', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('since=15m'));
  await settled(page);
  await page.getByRole('link', { name: 'Queues and bursts' }).first().click();
  assert.match(await hash(page), /^#\/queues\?since=15m$/);
  await settled(page);
  await page.getByRole('button', { name: 'Pause' }).click();
  assert.match(await hash(page), /since=\d{4}-.*&until=\d{4}-/);
  const shown = await page.textContent('.says');
  await page.waitForTimeout(2500);
  assert.equal(await page.textContent('.says'), shown, 'a fixed range stands still');
  await page.getByRole('button', { name: 'Earlier' }).click();
  assert.notEqual(await page.textContent('.says'), shown);
  await page.getByRole('button', { name: 'Follow' }).click();
  assert.match(await hash(page), /since=15m$/);
  await page.getByRole('button', { name: 'Now', exact: true }).click();
  assert.equal(await hash(page), '#/queues');
});

test('from and to are in the time of the browser', async () => {
  const page = await open('#/latency');
  await page.getByRole('button', { name: /Custom/ }).click();
  await page.getByLabel('From', { exact: true }).fill('2026-01-15T10:00:00');
  await page.getByLabel('To', { exact: true }).fill('2026-01-15T09:00:00');
  await page.keyboard.press('Enter');
  assert.match(await page.textContent('#custom-range [role=alert]'), /before/);
  await page.getByLabel('To', { exact: true }).fill('2026-01-15T11:00:00');
  await page.keyboard.press('Enter');
  // Berlin is an hour ahead of UTC in winter.
  assert.match(decodeURIComponent(await hash(page)), /since=2026-01-15T09:00:00.000Z&until=2026-01-15T10:00:00.000Z/);
  assert.match(await page.getAttribute('.says', 'title'), /2026-01-15 09:00:00 – 10:00:00 UTC/);
  await page.waitForFunction(() => /Nothing that was asked for/.test(document.querySelector('main').textContent));
});

test('a chart says that nothing is kept of the period that it is compared with', async () => {
  const page = await open('#/overview');
  for (const hash of ['latency?', 'queues?', 'drops?', 'events?', 'overview?', 'explore?of=drops&'])
    for (const [choice, than] of [
      ['week', 'a week earlier'],
      ['day', 'a day earlier'],
    ]) {
      await go(page, `#/${hash}${span}&compare=${choice}`);
      await page
        .locator('main .legend', { hasText: `no such records are kept of ${than}` })
        .first()
        .waitFor();
      const drawn = page.locator('main .legend', { hasText: `: ${than}` });
      await eventually(async () => assert.equal(await drawn.count(), 0, `${hash}: it is drawn`));
    }
});

test('the heat map of latency has what the API says', async () => {
  const page = await open('#/overview');
  await show(page, `#/latency?${span}&of=links&compare=before`);
  const map = await ask(`heatmap?of=links&interval=10s&${span}`);
  assert.ok(map.times.length > 0);
  const packets = map.spread.reduce((sum, s) => sum + s.packets, 0);
  const said = await page.locator('.sums tbody tr').first().locator('td').nth(4).textContent();
  assert.ok(
    Math.abs(Number.parseFloat(said) * (said.endsWith('k') ? 1000 : 1) - packets) <= packets / 100,
    `${said}: ${packets}`,
  );
  assert.equal(await page.getAttribute('canvas', 'data-columns'), String(map.times.length));
  assert.equal(await page.getAttribute('canvas', 'data-rows'), String(map.bounds.length - 1));
  // By the keyboard: the last piece, and what is told of it.
  await page.locator('canvas').focus();
  await page.keyboard.press('End');
  const told = await page.textContent('.hint');
  const last = map.spread.at(-1);
  assert.ok(told.includes(`of ${last.packets.toLocaleString('en')} packets`), `${told}: ${last.packets}`);
  // Nothing may have arrived in the piece in which its packets left: reports are some time on their way.
  const { exporters } = await ask(`exporters?${span}&group_by=&interval=10s`);
  const arrived = exporters.find((r) => r.start === map.times.at(-1));
  assert.ok(exporters.some((r) => r.lost === 0 && r.received > 0));
  assert.ok(
    told.includes(arrived ? 'telemetry: 100 % received' : 'telemetry completeness unknown'),
    `${told}: ${JSON.stringify(exporters)}`,
  );
  const { links } = await ask(`links?${span}&order=delay_p99_ns&limit=1`);
  const first = page.locator('[aria-label=Slowest] tbody tr').first();
  assert.ok((await first.textContent()).includes(links[0].from_name));
  await accessible(page, 'latency over time');
  await shoot(page, 'light-latency-over-time');
  await first.getByRole('link', { name: /over time/ }).click();
  await page.waitForFunction(() => location.hash.includes('from='));
  await settled(page);
  const one = await ask(
    `heatmap?of=links&interval=10s&${span}&filter=${encodeURIComponent(`from = ${links[0].from} and from_port = ${links[0].from_port} and to = ${links[0].to}`)}`,
  );
  assert.equal(await page.getAttribute('canvas', 'data-columns'), String(one.times.length));
});

test('percentiles of a range are those of its records', async () => {
  const page = await open('#/overview');
  await show(page, `#/latency?${span}&of=hops`);
  const [all] = (await ask(`hops?${span}&group_by=`)).hops;
  const told = await page.locator('.sums tbody tr').first().locator('td').allTextContents();
  const ns = (text) => Number.parseFloat(text) * { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[text.split(' ')[1]];
  for (const [i, name] of ['latency_p50_ns', 'latency_p99_ns', 'latency_max_ns'].entries()) {
    assert.ok(
      Math.abs(ns(told[i + 1]) / all[name] - 1) < 0.006,
      `${name}: ${told[i + 1]}, the records say ${all[name]} ns`,
    ); // three digits
  }
});

test('dragging zooms, a double click goes back, and so does Escape', async () => {
  const page = await open('#/overview');
  await show(page, `#/latency?since=1h`);
  const box = await page.locator('canvas').boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 11, box.y + 120, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes('until='));
  const params = new URLSearchParams((await hash(page)).split('?')[1]);
  const ms = Date.parse(params.get('until')) - Date.parse(params.get('since'));
  assert.ok(ms > 1_500_000 && ms < 2_100_000, `${ms} ms of an hour`);
  await settled(page);
  await page.reload(); // which a double click sees through
  await settled(page);
  await page.locator('canvas').dblclick({ position: { x: 300, y: 100 } });
  await page.waitForFunction((to) => location.hash === to, `#/latency?since=1h`);
  await settled(page);
  await page.locator('canvas').focus();
  for (const key of ['Home', 'Enter', 'End', 'Enter']) await page.keyboard.press(key);
  await page.waitForFunction(() => location.hash.includes('until='));
  await settled(page);
  await page.getByLabel('Compare with').selectOption('before'); // a choice in between does not make it forget
  await settled(page);
  await page.locator('canvas').focus();
  await page.keyboard.press('Escape');
  await page.waitForFunction((to) => location.hash === to, `#/latency?since=1h&compare=before`);
});

test('other kinds: paths, flows, a hop', async () => {
  const page = await open('#/overview');
  for (const of of ['paths', 'flows']) {
    await show(page, `#/latency?${span}&of=${of}`);
    assert.ok(Number(await page.getAttribute('canvas', 'data-columns')) > 0, of);
    await accessible(page, of);
  }
  // The cells of flows are those of all packets on their paths.
  const [{ src, dst }] = (await ask(`flows?${span}&group_by=src,dst&order=packets&limit=1`)).flows;
  const filter = `src = ${src} and dst = ${dst}`;
  await show(page, `#/latency?${span}&of=flows&filter=${encodeURIComponent(filter)}`);
  const paths = (await ask(`flows?${span}&group_by=path&filter=${encodeURIComponent(filter)}`)).flows.flatMap((f) =>
    f.path ? [`"${f.path}"`] : [],
  );
  const cells = await ask(
    `heatmap?${span}&of=paths&interval=10s&filter=${encodeURIComponent(`id in (${paths.join()})`)}`,
  );
  assert.deepEqual(
    [await page.getAttribute('canvas', 'data-columns'), await page.getAttribute('canvas', 'data-rows')],
    [String(cells.times.length), String(cells.bounds.length - 1)],
  );
  const { hops } = await ask(`hops?${span}&order=latency_p99_ns&limit=1`);
  await show(page, `#/latency?${span}&node=${hops[0].node}&in=${hops[0].ingress_port}&out=${hops[0].egress_port}`);
  assert.ok((await page.textContent('h2')).includes(hops[0].name));
});

test('queues over time', async () => {
  const page = await open('#/overview');
  await show(page, `#/queues?${span}`);
  const { queues } = await ask(`queues?${span}&order=occupancy_max&limit=40`);
  assert.equal(await page.locator('canvas').first().getAttribute('data-rows'), String(queues.length));
  await page.waitForFunction(() => document.querySelectorAll('canvas').length === 2);
  const second = `${queues[1].node} ${queues[1].egress_port} ${queues[1].queue}`;
  const box = await page.locator('canvas').first().boundingBox();
  await page.mouse.click(box.x + 400, box.y + 8 + (box.height - 32) * (1.5 / queues.length));
  await page.waitForFunction((key) => document.querySelector('select[aria-label=Queue]').value === key, second);
  await settled(page);
  const { bursts } = await ask(`bursts?${span}&limit=1000`);
  assert.equal(
    Number(await page.locator('[aria-label=Bursts] table').getAttribute('aria-rowcount')) - 1,
    bursts.length,
  );
  await accessible(page, 'queues over time');
  await shoot(page, 'light-queues-over-time');
});

test('drops over time, and whom they hit', async () => {
  const page = await open('#/overview');
  await show(page, `#/drops?${span}`);
  const { drops } = await ask(`drops?${span}&limit=10000`);
  assert.equal(Number(await page.locator('[aria-label=Drops] table').getAttribute('aria-rowcount')) - 1, drops.length);
  const total = drops.reduce((sum, d) => sum + d.packets, 0);
  assert.ok((await page.textContent('section')).includes(`${total.toLocaleString('en')} packets`));
  // The destinations are those of the flows that lost packets.
  const { drops: ends } = await ask(`drops?${span}&group_by=dst&limit=10000`);
  assert.equal(
    ends.reduce((sum, d) => sum + d.packets, 0),
    total,
  );
  const [hit] = ends.filter((d) => d.dst?.includes('.')).toSorted((a, b) => b.packets - a.packets);
  assert.ok(
    (await page.textContent('svg[aria-label^="Drops by"]')).includes(
      `${hit.dst.split('.').slice(0, 3).join('.')}.0/24`,
    ),
  );
  await accessible(page, 'drops over time');
  await shoot(page, 'light-drops-over-time');
});

test('the overview of a range', async () => {
  const page = await open('#/latency');
  await page.evaluate((to) => {
    location.hash = to;
  }, `#/overview?${span}`);
  await page.waitForSelector('.figures .figure');
  const figure = async (n) =>
    number(
      await page
        .locator('.figures .panel')
        .nth(n)
        .locator('.figure')
        .evaluate((e) => e.firstChild.textContent),
    );
  assert.equal(await figure(0), (await ask(`incidents?${span}`, 'severity >= warning')).total);
  const [drops] = (await ask(`drops?${span}&group_by=`)).drops;
  const said = await page.locator('.figures .panel').nth(2).locator('.figure').textContent();
  assert.ok(
    said.startsWith(
      drops.packets < 1000 ? String(drops.packets) : `${(drops.packets / 1000).toFixed(2).replace(/\.?0+$/, '')}k`,
    ),
    `${said}: ${drops.packets}`,
  );
  const { hops } = await ask(`hops?${span}&order=latency_p99_ns&limit=8`);
  assert.equal(await page.locator('section', { hasText: 'Slowest hops' }).locator('tbody tr').count(), hops.length);
  await accessible(page, 'overview of a range');
  await shoot(page, 'light-overview-of-a-range');
  // Of 30 days, whose pieces have twelve hours, the rate is over the minutes in which there were reports.
  await page.evaluate(() => {
    location.hash = '#/overview?since=30d';
  });
  const rate = page.locator('.figures .panel').nth(3).locator('.figure small');
  await page.waitForFunction(() => /Lines are the whole range, 12 h/.test(document.querySelector('main').textContent));
  const { exporters } = await ask(`exporters?${span}&group_by=&interval=10s&limit=10000`);
  const reports = exporters.reduce((sum, e) => sum + e.reports, 0);
  const least = Math.floor(reports / 600); // all of them came within some minutes
  assert.ok(number(await rate.textContent()) >= least, `${await rate.textContent()}: ${reports} reports`);
});

test('the topology of a moment', async () => {
  const page = await open('#/overview');
  await show(page, `#/topology?${span}&colour=delay`);
  await page.waitForSelector('canvas[data-painted=true]');
  const { links, since } = await ask(`links?${span}&limit=10000`);
  const pairs = new Set(links.map((l) => [l.from, l.to].sort((a, b) => a - b).join()));
  assert.equal(await page.getAttribute('canvas', 'data-links'), String(pairs.size));
  const { hosts, nodes, links: known } = await ask(`topology?${span}`);
  assert.match(await page.textContent('.head'), new RegExp(`, ${hosts.length} addresses of hosts`));
  assert.equal(await page.getAttribute('canvas', 'data-nodes'), String(nodes.length));
  // Go to the piece of most packets, and compare a node with the API.
  const pieces = (await ask(`links?${span}&interval=10s&group_by=`)).links;
  const most = pieces.toSorted((a, b) => b.packets - a.packets)[0];
  const index = Math.round((Date.parse(most.start) - Math.floor(Date.parse(since) / 10_000) * 10_000) / 10_000);
  await page.getByRole('slider', { name: 'Moment' }).fill(String(index));
  await page.waitForFunction(() => location.hash.includes('at='));
  const at = new Date(new URLSearchParams((await hash(page)).split('?')[1]).get('at'));
  await page.selectOption('select[aria-label="Choose a node"]', { label: 'leaf1' });
  const until = new Date(at.getTime() + 10_000).toISOString();
  const there = (await ask(`links?since=${at.toISOString()}&until=${until}`, 'node = leaf1')).links;
  // The links of the whole range, also those that carried nothing at the moment.
  await page.waitForFunction(
    (n) => document.querySelectorAll('aside table tbody tr').length === n,
    known.filter((l) => l.from_name === 'leaf1' || l.to_name === 'leaf1').length,
  );
  const largest = Math.max(...there.map((l) => l.packets));
  // The figures of the moment before stay until those of this one are there.
  await page.waitForFunction((want) => {
    const said = document.querySelector('aside tbody tr td:nth-child(3)')?.textContent ?? '';
    return Math.abs(Number(said.replace('k', '')) * (said.includes('k') ? 1000 : 1) - want) <= want / 100;
  }, largest);
  await accessible(page, 'topology of a moment');
  await shoot(page, 'light-topology-moment');
  // Replay runs to the end by itself.
  await page.getByRole('slider', { name: 'Moment' }).fill(String(index));
  await page.selectOption('.slider select', '8');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.waitForFunction((from) => Number(document.querySelector('.slider input').value) > from, index);
});

test('the utilisation of links at a moment', async () => {
  const [most] = (await ask(`links?${span}&interval=10s&group_by=&order=utilization_samples`)).links;
  const until = new Date(Date.parse(most.start) + 10_000).toISOString();
  const { links } = await ask(`links?since=${most.start}&until=${until}&limit=10000`);
  const told = links
    .filter((l) => l.utilization_samples > 0)
    .toSorted((a, b) => b.utilization_mean - a.utilization_mean);
  assert.ok(told.length > 1 && told[0].utilization_mean > told.at(-1).utilization_mean, 'this shows little');
  const write = (hundredths) => `${Math.floor(hundredths) / 100} %`; // what nodes tell
  const busiest = told[0];
  const page = await open('#/overview');
  await show(
    page,
    `#/topology?${span}&at=${most.start}&colour=use&link=${encodeURIComponent([busiest.from, busiest.to].sort((a, b) => a - b).join(' '))}`,
  );
  assert.equal(await page.getAttribute('button:text-is("utilization")', 'aria-pressed'), 'true');
  await page.waitForFunction(
    (want) => document.querySelector('.legend').textContent.includes(want),
    `0 to ${write(busiest.utilization_mean)} of the speed of the port`,
  );
  const sides = (await page.locator('aside[aria-label=Link] dl').allTextContents()).map((text) =>
    text.replaceAll(/\s+/g, ' '),
  );
  const said = [
    `Utilization (mean) ${write(busiest.utilization_mean)}`,
    `Utilization (max) ${write(busiest.utilization_max)}`,
  ];
  assert.ok(
    sides.some((text) => said.every((part) => text.includes(part))),
    `${sides}: ${said}`,
  );
  await accessible(page, 'utilisation of a moment');
  await shoot(page, 'light-topology-use');
  await page.getByRole('button', { name: 'Close' }).click(); // which has a colour of its own
  // The link that was used most has the darkest shade, as long as something was told.
  const darkest = () => {
    const canvas = document.querySelector('canvas');
    const shade = getComputedStyle(canvas).getPropertyValue('--shade-4').trim();
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4)
      if (`#${[data[i], data[i + 1], data[i + 2]].map((v) => v.toString(16).padStart(2, '0')).join('')}` === shade) n++;
    return n;
  };
  await page.waitForFunction(`(${darkest})() > 100`);
  const untold = await open('#/overview');
  await untold.route('**/api/v1/topology*', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replace(/"utilization"/g, '"unheard_of"') });
  });
  await show(untold, `#/topology?${span}&at=${most.start}&colour=use`);
  await untold.waitForFunction(() =>
    document.querySelector('.legend').textContent.includes('unknown (no node tells of it)'),
  );
  await untold.waitForSelector('canvas[data-painted=true]');
  assert.equal(await untold.evaluate(darkest), 0);
  await untold.unrouteAll({ behavior: 'ignoreErrors' });
});

test('what goes by a link is told, and shown when it is chosen, now and at a moment', async () => {
  const [most] = (await ask(`links?${span}&interval=10s&group_by=`)).links.toSorted((a, b) => b.packets - a.packets);
  for (const when of ['', `?${span}&at=${most.start}`]) {
    const page = await open(`#/topology${when}`);
    // What goes by now is what went by before the last packet came: as if it were now.
    if (!when) {
      await page.route(/\/api\/v1\/flows\?.*last/, async (route) => {
        const answer = await (await route.fetch({ url: route.request().url().replace('now-30s', 'now-1h') })).json();
        const newest = answer.flows
          .map((flow) => flow.last)
          .sort()
          .at(-1);
        await route.fulfill({ json: { ...answer, generated_at: newest } });
      });
    }
    await page.waitForSelector('canvas[data-painted=true]');
    const stage = await page.locator('.stage').boundingBox();
    // Somewhere along a line across the middle there is a cable.
    for (let i = 1; i < 60 && (await page.locator('.hint').count()) === 0; i++) {
      await page.mouse.move(stage.x + (stage.width * i) / 60, stage.y + stage.height * 0.5);
      await painted(page);
    }
    await page.waitForSelector('.hint .mono');
    assert.match(await page.textContent('.hint'), /(leaf|spine)\d → (leaf|spine)\d: .*packets/);
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForSelector('aside[aria-label=Link] .mono');
    assert.match(await hash(page), /link=/);
    if (when) continue;
    const host = (ip) => (ip.includes(':') ? `[${ip}]` : ip);
    const named = (flow) =>
      flow.src_port + flow.dst_port === 0
        ? `${flow.src} → ${flow.dst} `
        : `${host(flow.src)}:${flow.src_port} → ${host(flow.dst)}:${flow.dst_port} `;
    const [a, b] = new URLSearchParams((await hash(page)).split('?')[1]).get('link').split(' ').map(Number);
    const { flows } = await ask(
      `flows?order=packets&limit=10000&filter=${encodeURIComponent(`node = ${a} and node = ${b}`)}`,
    );
    const lines = await page.locator('aside[aria-label=Link] .mono').allTextContents();
    for (const line of lines) {
      const flow = flows.find((f) => line.startsWith(named(f)));
      assert.ok(flow, line);
      assert.ok(
        flow.paths.some(({ hops }) =>
          hops.some((hop, i) => [hop.node, hops[i + 1]?.node].sort().join() === [a, b].sort().join()),
        ),
        line,
      );
    }
    // Nothing goes by really.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.waitForFunction(() => /None\./.test(document.querySelector('aside[aria-label=Link]').textContent));
    assert.match(await page.textContent('aside[aria-label=Link]'), /Flows that used it in the last 30 s/);
  }
});

test('a queue of which no packet tells any more is not shown as of now', async () => {
  const page = await open('#/topology?node=leaf1');
  await page.waitForSelector('aside table');
  const { hops } = await ask('hops', 'node = leaf1');
  assert.ok(
    hops.some((hop) => hop.queue?.last !== undefined) &&
      hops.every((hop) => Date.now() - Date.parse(hop.last) > 10_000),
  );
  const queues = await page.locator('aside table').nth(1).locator('tbody tr td:last-child').allTextContents();
  assert.ok(queues.length > 0 && queues.every((text) => text === '–'), queues.join());
  await go(page, '#/queues');
  await page.locator('[aria-label=Queues] tbody tr').first().waitFor();
  const now = await page
    .locator('[aria-label=Queues] tbody td:nth-child(2)')
    .evaluateAll((cells) => cells.map((cell) => [cell.textContent, cell.title]));
  assert.ok(now.length > 0 && now.every(([text, title]) => text === '–' && /last 10 s/.test(title)), now.join());
});

test('drops of now are those of the last minute, those of a moment its own', async () => {
  const page = await open('#/topology?colour=drops');
  await page.waitForSelector('canvas[data-painted=true]');
  assert.match(await page.textContent('.legend'), /0 to [\d,]+ drops in the last minute/);
  const {
    drops: [drop],
  } = await ask(`drops?${span}&interval=10s&group_by=node&order=packets&limit=1`);
  await show(page, `#/topology?${span}&at=${drop.start}&colour=drops`);
  await page.waitForFunction(() =>
    /0 to [\d,]+ drops at this moment.*✕ ?drops at this moment/s.test(document.querySelector('.legend').textContent),
  );
});

test('a link to another moment is followed in an open tab', async () => {
  const page = await open(`#/topology?${span}`);
  await page.waitForSelector('.slider time');
  const { links } = await ask(`links?${span}&interval=10s&group_by=`);
  for (const { start } of [links[0], links.at(-1)]) {
    await page.evaluate((to) => {
      location.hash = to;
    }, `#/topology?${span}&at=${start}`);
    await page.waitForFunction(
      (want) => Date.parse(document.querySelector('.slider time').dateTime) === want,
      Date.parse(start),
    );
  }
  assert.ok(links.length > 1);
});

test('an event leads to what there was at its time', async () => {
  const list = async (kind, open) =>
    (await ask('events?limit=1000', `kind = ${kind} and end is ${open ? '' : 'not '}null`)).events;
  const follow = async (event, title) => {
    const page = await open(`#/event?id=${event.id}`);
    // The server has to say first that it keeps records.
    await page.waitForFunction(
      (name) =>
        [...document.querySelectorAll('.links a')].some((a) => a.textContent === name && a.hash.includes('since=')),
      title,
    );
    await page.getByRole('link', { name: title }).click();
    await page.waitForSelector('main h1', { state: 'attached' });
    const params = new URLSearchParams((await hash(page)).split('?')[1]);
    const ms = (text) =>
      Number.isNaN(Date.parse(text)) ? Date.now() - Number.parseInt(text, 10) * 1000 : Date.parse(text);
    assert.ok(
      ms(params.get('since')) <= Date.parse(event.start) - 50_000 &&
        (!params.get('until') || ms(params.get('until')) >= Date.parse(event.end) + 50_000),
      `${params} of ${event.start} to ${event.end}`,
    );
    return { page, params };
  };
  const linkOf = (e) =>
    [e, { node: e.to_node, name: e.to_name }]
      .toSorted((a, b) => a.node - b.node)
      .map((end) => end.name)
      .join(' – ');
  const [lost] = await list('link_lost', true); // what goes on is shown as it is
  {
    const page = await open(`#/event?id=${lost.id}`);
    await page.getByRole('link', { name: 'In the topology' }).click();
    await page.waitForSelector('aside[aria-label=Link]');
    assert.equal(await page.textContent('aside[aria-label=Link] h2'), linkOf(lost));
    assert.doesNotMatch(await hash(page), /since/);
  }
  const [storm] = (await list('drop_storm', false)).filter((e) => e.port !== undefined);
  {
    const { page, params } = await follow(storm, 'Drops there');
    await settled(page);
    const span = ['since', 'until']
      .flatMap((name) => (params.get(name) ? [`${name}=${params.get(name)}`] : []))
      .join('&');
    const { drops } = await ask(
      `drops?${span}&limit=1000&filter=${encodeURIComponent(`node = ${storm.node} and egress_port = ${storm.port} and reason = ${storm.reason}`)}`,
    );
    const total = drops.reduce((sum, d) => sum + d.packets, 0);
    assert.ok(total > 0 && (await page.textContent('section')).includes(`${total.toLocaleString('en')} packets`));
  }
  const [change] = (await list('path_change', false)).filter((e) => e.flow);
  {
    const { page, params } = await follow(change, 'In the topology');
    await page.waitForSelector('aside[aria-label=Link]');
    assert.equal(await page.textContent('aside[aria-label=Link] h2'), linkOf(change));
    assert.ok(
      Date.parse(params.get('at')) >= Date.parse(change.start) - 1 &&
        Date.parse(params.get('at')) <= Date.parse(change.end),
    );
  }
  {
    const { page } = await follow(change, 'Paths of one of the flows');
    await page.waitForFunction(() => document.querySelectorAll('.lanes .label').length > 1);
    page.expected.push('404'); // datagrams are not kept
  }
});

test('a flow that is not in memory is found by its endpoints', async () => {
  const {
    flows: [record],
  } = await ask(`flows?${span}&order=packets&limit=1`);
  const page = await open('#/overview');
  await page.route(/\/api\/v1\/flows\?(?!.*since)/, (route) =>
    route.fulfill({ json: { generated_at: new Date().toISOString(), total: 0, flows: [] } }),
  );
  await page.evaluate((to) => {
    location.hash = to;
  }, `#/flow?src=${record.src}&dst=${record.dst}&sport=${record.src_port}&dport=${record.dst_port}&protocol=${record.protocol}&${span}`);
  await page.waitForFunction(
    (packets) => document.querySelector('dl.facts dd')?.textContent === packets,
    record.packets.toLocaleString('en'),
  );
  await page.waitForSelector('.lanes .label');
  await page.evaluate((to) => {
    location.hash = to;
  }, `#/flow?id=${record.id}&${span}`); // and by its id alone
  await page.waitForFunction(
    (port) => document.querySelector('main h1').textContent.includes(port),
    String(record.dst_port),
  );
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  page.expected.push('404'); // datagrams are not kept
});

test('a replay begins with a button', async () => {
  const page = await open('#/topology');
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.waitForFunction(() => location.hash.includes('since=15m'));
  if (lately()) await show(page, `#/topology?${span}`); // nothing is left of the last 15 minutes on a slow machine
  await page.waitForSelector('[aria-label=Replay] [type=range]');
  await settled(page);
});

test('a long question says so, and is given up', async () => {
  const page = await open('#/overview');
  let asked = 0;
  let answer = false;
  await page.route('**/api/v1/heatmap*', async (route) => {
    asked++;
    while (!answer) await new Promise((done) => setTimeout(done, 50));
    await route.continue().catch(() => null); // it was given up
  });
  await page.evaluate((to) => {
    location.hash = to;
  }, `#/latency?${span}`);
  await page.waitForSelector('progress');
  assert.match(await page.textContent('.asking'), /Querying, \d+ s/);
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.match(await page.textContent('.asking'), /Cancelled/);
  const before = asked;
  await page.waitForTimeout(2500);
  assert.equal(asked, before, 'nothing is asked after that');
  answer = true;
  await page.getByRole('button', { name: 'Ask again' }).click();
  await settled(page);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('the store that fails shows why, and comes back by itself', async () => {
  const page = await open('#/overview');
  await page.route('**/api/v1/heatmap*', (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: '{"detail":"the store did not answer within 20s"}',
    }),
  );
  await page.evaluate((to) => {
    location.hash = to;
  }, `#/latency?${span}`);
  await page.waitForSelector('main [role=alert]');
  assert.match(await page.textContent('main [role=alert]'), /the store did not answer/);
  await page.unroute('**/api/v1/heatmap*');
  await settled(page);
  page.expected.push('503');
});

test('on a phone and on a large screen nothing is wider than the screen', async () => {
  const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' };
  const others = [
    ['large', { viewport: { width: 3840, height: 2160 } }],
    ['dark', { colorScheme: 'dark' }],
  ];
  for (const [name, options] of [['phone', phone], ...some(others)]) {
    const page = await open('#/overview', options);
    for (const title of ['latency', 'queues', 'topology', 'drops']) {
      await show(page, `#/${title}?${span}`);
      await shoot(page, `${name}-${title}-over-time`);
      assert.ok(
        (await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0,
        `${name} ${title}`,
      );
      await accessible(page, `${name} ${title}`);
    }
  }
});
