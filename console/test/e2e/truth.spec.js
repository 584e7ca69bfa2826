// What the pages show, read from them as it stands there, is what the network knows.
import assert from 'node:assert/strict';
import { ask, connect, endpoints, eventually, finish, go, open, shoot, span, test, truth } from './browser.js';
import { calm } from './servers.js';
import { dropsOf, fillers, flowOf, nameOf, si, titleOf, wall, worst } from './network.js';

test.beforeAll(connect);
test.afterAll(finish);

const tidy = (text) => text.replaceAll(/\s+/g, ' ').trim();
const part = (page, title) => page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });
/** cells are the texts of a table of a part, by rows. */
const cells = async (within) =>
  (
    await within
      .locator('tbody tr:not(.rest)')
      .evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)))
  ).map((row) => row.map(tidy));
/** facts are the figures of a page by what stands above them. */
const facts = async (page) =>
  Object.fromEntries(
    await page
      .locator('.facts > div')
      .evaluateAll((all) =>
        all.map((fact) => [
          fact.querySelector('dt').innerText,
          fact.querySelector('time')?.dateTime ?? fact.querySelector('dd').innerText.replaceAll(/\s+/g, ' ').trim(),
        ]),
      ),
  );
const count = (text) => Number(text.replaceAll(',', ''));
const sum = (values) => Object.values(values).reduce((a, b) => a + b, 0);
const seconds = (ns) => si(ns / 1e9, 's').replace(/^0\.(\d+) s$/, (_, digits) => `${Number(digits.padEnd(3, '0'))} ms`);

test('overview', async () => {
  const page = await open(`#/overview?${span}`);
  const figure = (title) => page.locator('.figures > *', { has: page.getByRole('heading', { name: title }) });
  const said = async (title) => tidy(await figure(title).innerText());
  const reports = truth.report.length.toLocaleString('en');
  await eventually(async () => {
    assert.ok((await said('Drops')).includes(`${si(sum(dropsOf(() => 'all')), '', '')} packets`));
    assert.ok((await said('Completeness')).includes(`100 % 0 of ${reports} datagrams lost`));
    assert.ok((await said('Reports')).includes(`${si(truth.report.length, '', '')} `));
  });
  const broke = truth.fault.filter(({ phase }) => phase === 'start');
  assert.match(await said('Incidents'), new RegExp(`^Incidents ${broke.length} `));
  const queue = worst();
  assert.deepEqual((await cells(part(page, 'Longest queues')))[0].toSpliced(1, 1), [
    `${nameOf(queue.node)} out ${queue.port}`,
    si(queue.peak, 'B'),
  ]);
  const places = dropsOf((d) => `${nameOf(d.node)} in ${d.in} out ${d.out} ${d.reason.replace('_', ' ')}`);
  for (const [where, reason, packets] of await cells(part(page, 'Most drops')))
    assert.equal(count(packets), places[`${where} ${reason}`], `${where} ${reason}`);
});

test('incident', async () => {
  const queue = worst();
  const fault = truth.fault.find(({ kind }) => kind === 'link_down');
  const ends = fault.link.split('-');
  const page = await open(`#/incidents?${span}`);
  await page.getByRole('region', { name: 'Incidents' }).waitFor();
  assert.equal((await cells(page.getByRole('region', { name: 'Incidents' }))).length, 2, 'one for each fault');
  await page
    .locator('tr', { hasText: `link ${fault.link} down` })
    .getByRole('link')
    .first()
    .click();
  await page.locator('.facts').waitFor();
  const broken = await facts(page);
  assert.ok(Math.abs(Date.parse(broken.Started) - wall(fault.t_ns)) < 1000, broken.Started);
  assert.equal(broken.Duration, 'ongoing'); // the network ended with it
  assert.ok(
    ends.every((end) => broken.Where.includes(end)),
    broken.Where,
  );
  const atLink = dropsOf((d) => d.reason + nameOf(d.node));
  assert.match(broken['Packets lost'], /^at least /); // nobody tells of those on the link as it failed
  assert.equal(
    count(broken['Packets lost'].replace('at least ', '')),
    ends.reduce((sum, end) => sum + (atLink[`port_down${end}`] ?? 0), 0),
  );
  await page.goBack();
  await page
    .locator('tr', { hasText: `queue of ${nameOf(queue.node)} port ${queue.port} peaked` })
    .getByRole('link')
    .first()
    .click();
  await page.getByRole('heading', { level: 1, name: /^queue of/ }).waitFor();
  const full = await facts(page);
  assert.ok(Math.abs(Date.parse(full.Started) - wall(queue.start_ns)) < 100, full.Started);
  assert.equal(count(full['Packets lost']), queue.drops);
  assert.equal(full.Where, `${nameOf(queue.node)} out ${queue.port}`);
});

test('flow', async () => {
  // The flow that lost most, of those that are the only one of their name.
  const names = truth.flow.map((f) => titleOf(flowOf(f.flow)));
  const lost = {};
  for (const drop of truth.drop) if (drop.seen) lost[drop.flow] = (lost[drop.flow] ?? 0) + 1;
  const flow = truth.flow
    .filter((f) => !f.inner && names.filter((name) => name === titleOf(f)).length === 1)
    .toSorted((a, b) => (lost[b.flow] ?? 0) - (lost[a.flow] ?? 0))[0];
  const unseen = truth.drop.filter((d) => d.flow === flow.flow && !d.seen).length;
  const page = await open(
    `#/flow?src=${flow.src}&dst=${flow.dst}&sport=${flow.src_port}&dport=${flow.dst_port}&protocol=${{ 6: 'tcp', 17: 'udp' }[flow.protocol]}`,
  );
  assert.equal(tidy(await page.textContent('h1')), titleOf(flow));
  const said = await facts(page);
  assert.equal(count(said['Packets seen']), flow.packets_sent - unseen);
  assert.equal(count(said.Dropped), lost[flow.flow]);
  const paths = truth.path.filter((p) => p.flow === flow.flow);
  const way = (hops) => hops.map((hop) => `${nameOf(hop.node)} in ${hop.in} out ${hop.out}`).join(', ');
  // What hit the flow at a hop stands behind it.
  const shown = (await cells(part(page, 'Current path'))).flatMap(([hop]) => /^\S+ in \d+ out \d+/.exec(hop) ?? []);
  assert.ok(paths.map(({ hops }) => way(hops)).includes(shown.join(', ')), `${shown}`);
  // No packet whose times the network noted was longer in the nodes than the page says.
  const noted = new Map();
  for (const hop of truth.hop.filter((h) => h.flow === flow.flow && !h.copy_of))
    noted.set(hop.packet, (noted.get(hop.packet) ?? 0) + hop.latency_ns);
  const [, value, unit] = /^([\d.]+) (ms|µs)$/.exec(said['Node latency, max']);
  const longest = Number(value) * { ms: 1e6, µs: 1e3 }[unit] * 1.005; // three digits stand there
  const most = Math.max(...noted.values());
  assert.ok(noted.size > 3 && most <= longest && most > longest / 2, `${most} ns, and ${said['Node latency, max']}`);
});

test('topology', async () => {
  const page = await open('#/topology');
  const state = async () => {
    await page.waitForSelector('canvas[data-painted=true]');
    const label = await page.locator('.stage').getAttribute('aria-label');
    const parts = /links, (.*)\. Arrow keys/.exec(label)?.[1].split('; ') ?? [];
    return Object.fromEntries(parts.map((part) => [part.split(': ')[0], part.split(': ')[1].split(', ').sort()]));
  };
  // The link that failed, and no other, for as long as it was away.
  const fault = truth.fault.find(({ kind }) => kind === 'link_down');
  const [a, b] = fault.link.split('-');
  const both = [`${a} → ${b}`, `${b} → ${a}`];
  await eventually(async () => assert.deepEqual((await state()).lost, both));
  assert.ok((await page.locator('.legend').innerText()).includes('link lost'));
  await shoot(page, 'light-topology-lost');
  const piece = (ms) => new Date(Math.floor(ms / 10_000) * 10_000);
  const show = async (at) => {
    await go(page, `#/topology?${span}&colour=drops&at=${at.toISOString()}`);
    await page.waitForSelector(`[aria-label="Replay"] time[datetime="${at.toISOString()}"]`);
  };
  await show(piece(wall(fault.t_ns) - 11_000));
  await eventually(async () => assert.deepEqual((await state()).lost, undefined));
  await show(piece(wall(fault.t_ns) + 3000));
  await eventually(async () => assert.deepEqual((await state()).lost, both));
  // Where packets are dropped while they are.
  const storm = truth.drop.filter((d) => d.seen && d.reason !== 'port_down');
  const middle = piece(wall(storm[Math.floor(storm.length / 2)].t_ns));
  const inside = dropsOf((d) => nameOf(d.node), +middle + 500, +middle + 9500);
  await show(middle);
  await eventually(async () => {
    const said = (await state())['drops at'] ?? [];
    assert.ok(
      Object.keys(inside).every((name) => said.includes(name)),
      `${said}: ${JSON.stringify(inside)}`,
    );
  });
  // The path of a flow over it, as it was last.
  const flows = truth.flow.filter((f) => !f.inner && f.packets_sent > 20);
  const names = truth.flow.map((f) => titleOf(flowOf(f.flow)));
  const flow = flows.find((f) => names.filter((name) => name === titleOf(f)).length === 1);
  const { flows: found } = await ask(
    'flows',
    `src = ${flow.src} and dst = ${flow.dst} and src_port = ${flow.src_port} and dst_port = ${flow.dst_port}`,
  );
  const path = truth.path
    .filter((p) => p.flow === flow.flow)
    .at(-1)
    .hops.map((hop) => hop.node);
  const ways = path
    .slice(1)
    .map((node, i) =>
      [path[i], node]
        .toSorted((x, y) => x - y)
        .map(nameOf)
        .join(' – '),
    )
    .sort();
  await go(page, `#/topology?flow=${found[0].id}`);
  await eventually(async () => assert.deepEqual((await state())['the path'], ways));
  await shoot(page, 'light-topology-flow');
});

test('drops', async () => {
  const page = await open('#/drops');
  const places = dropsOf((d) => `${nameOf(d.node)} in ${d.in} out ${d.out}, ${d.reason.replace('_', ' ')} ${d.code}`);
  await eventually(async () => {
    const rows = await cells(page.getByRole('region', { name: 'Drops' }));
    const said = rows.map(([where, reason, , packets]) => [
      `${where}, ${reason}`.replaceAll(/ [=≠]/g, ''),
      count(packets),
    ]);
    assert.deepEqual(Object.fromEntries(said), places);
  });
});

test('bursts', async () => {
  const page = await open(`#/queues?${span}`);
  const list = page.getByRole('region', { name: 'Bursts' });
  await list.waitFor();
  const key = (row) => row.join(', ');
  const said = (await cells(list)).map(([, where, , peak, , drops]) => [where.replace(/ queue \d+$/, ''), peak, drops]);
  const known = truth.burst.map((b) => [
    `${nameOf(b.node)} out ${b.port}`,
    si(b.peak, 'B'),
    b.drops.toLocaleString('en'),
  ]);
  assert.deepEqual(said.map(key).sort(), known.map(key).sort());
  const queue = worst();
  await list
    .locator('tr', { hasText: si(queue.peak, 'B') })
    .getByRole('link')
    .first()
    .click();
  await page.locator('.facts').waitFor();
  const facts_ = await facts(page);
  assert.ok(Math.abs(Date.parse(facts_.Started) - wall(queue.start_ns)) < 100, facts_.Started);
  assert.ok(queue.start_ns > calm * 1e9);
  assert.equal(facts_.Peak, si(queue.peak, 'B'));
  assert.equal(facts_.Duration, seconds(queue.end_ns - queue.start_ns));
  // A packet that left when it began, or came when it ended, may count in one place and not in the other.
  const [packets, size] = facts_.Packets.split(/, (?=\S+ )/);
  assert.ok(Math.abs(count(packets) - queue.packets) <= queue.packets / 1000, `${packets}, and ${queue.packets} were`);
  assert.equal(size, si(queue.bytes, 'B'));
  assert.equal(count(facts_.Dropped), queue.drops);
  const culprits = (await cells(part(page, 'Culprits'))).map(([flow]) => flow);
  assert.deepEqual(culprits.sort(), fillers(queue).map(titleOf).sort());
});

test('every chart over time has the period before, and reads it as the records say it', async () => {
  const pieces = (await ask(`hops?${span}&group_by=&interval=10s&limit=100`)).hops.toSorted((a, b) =>
    a.start < b.start ? -1 : 1,
  );
  // The last two pieces, of which some part is after the calm: what breaks then is drawn, whenever the first piece began.
  const [early, , late] = pieces.slice(-3);
  const from = Date.parse(late.start) - 10_000;
  const [frame, before] = [from, from - 20_000].map(
    (at) => `since=${new Date(at).toISOString()}&until=${new Date(at + 20_000).toISOString()}`,
  );
  const page = await open(`#/explore?${frame}&of=hops&by=-&interval=10s`);
  await page.getByLabel('Compare with').selectOption('before');
  await page.locator('.chart svg path.before').waitFor({ state: 'attached' });
  await page.locator('.chart').focus();
  await page.keyboard.press('End');
  const figure = (n) => n.toLocaleString('en');
  await eventually(async () =>
    assert.equal(
      tidy(await page.locator('.legend li').innerText()),
      `all hops ${figure(late.packets)} before: ${figure(early.packets)}`,
    ),
  );
  await go(page, `#/queues?${frame}&compare=before`);
  const [longest] = (await ask(`queues?${frame}&order=occupancy_max&limit=1`)).queues;
  const { node, egress_port: port, queue } = longest;
  const then = new Map(
    (
      await ask(
        `queues?${before}&interval=1s&limit=1000`,
        `node = ${node} and egress_port = ${port} and queue = ${queue}`,
      )
    ).queues.map((r) => [Date.parse(r.start) + 20_000, si(r.occupancy_max, 'B')]),
  );
  const map = page.locator('canvas').first();
  await map.focus();
  await page.keyboard.press('End');
  for (let i = 0; i < Number(await map.getAttribute('data-rows')); i++) await page.keyboard.press('ArrowUp');
  const hint = page.locator('.hint');
  let met = 0;
  for (let i = 0; i < Number(await map.getAttribute('data-columns')); i++) {
    const at = Date.parse(await hint.locator('time').getAttribute('datetime'));
    assert.ok((await hint.innerText()).endsWith(`before: ${then.get(at) ?? '–'}`), await hint.innerText());
    if (then.has(at)) met++;
    await page.keyboard.press('ArrowLeft');
  }
  assert.ok(met > 0);
  await shoot(page, 'compare-queues');
  const [flow] = (await ask('flows?order=packets&limit=1')).flows;
  const [incident] = (await ask('incidents?limit=1', 'severity >= warning')).incidents;
  for (const [name, hash, charts, drawn, said = ': the time before'] of [
    ['overview', 'overview?', 1, 'path.before'],
    ['latency', 'latency?', 1, 'canvas'],
    ['drops', 'drops?', 1, 'canvas'],
    ['events', 'events?severity=info&', 1, 'svg[aria-label^=Events] > rect'],
    ['flow', `flow?${endpoints(flow)}&`, 2, 'canvas'],
    // What is drawn around it begins before the first report, and so the time before has none.
    ['incident', `incident?id=${incident.id}&`, 1, '.chart path', 'no such records are kept of the time before'],
    ['explore-heat', 'explore?of=hops&graph=heat&', 1, 'rect.before'],
    ['explore-stacked', 'explore?of=hops&graph=stacked&', 1, 'path.before'],
  ]) {
    await go(page, `#/${hash}${frame}&compare=before`);
    await eventually(async () =>
      assert.equal(await page.locator('main .legend', { hasText: said }).count(), charts, name),
    );
    assert.equal(await page.getByLabel('Compare with').count(), charts, name);
    await page.locator(`main ${drawn}`).first().waitFor({ state: 'attached' });
    await shoot(page, `compare-${name}`);
  }
});
