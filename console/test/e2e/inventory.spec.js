// What the inventory names is named so everywhere: ports, hosts, speeds, sizes of queues.
import assert from 'node:assert/strict';
import {
  accessible,
  ask,
  connect,
  endpoints,
  eventually,
  finish,
  go,
  open,
  shoot,
  some,
  span,
  test,
} from './browser.js';

test.beforeAll(connect);
test.afterAll(finish);

/** words are the texts of the cells of a row that has a text. */
const words = async (page, table, text) =>
  (
    await page
      .getByRole('region', { name: table, exact: true })
      .locator('tbody tr', { hasText: text })
      .first()
      .locator('td')
      .allTextContents()
  ).map((t) => t.replace(/\s+/g, ' ').trim());

test('ports, nodes and hosts as tables, and by search', async () => {
  const page = await open('#/inventory');
  const port = await words(page, 'Ports', 'Ethernet4');
  assert.deepEqual(
    [port[0], port[1], port[2], port[4], ...port.slice(7)],
    ['leaf4 Ethernet4', 'h8', '20M', '250 kB', 'leaf', 'ams2'],
  );
  const { ports } = await ask('ports', 'node = 4');
  const told = ports.find((p) => p.port === 4);
  assert.ok(told.sent > 0 && port[6] !== '–', port[6]);
  assert.deepEqual((await words(page, 'Nodes', 'leaf4')).slice(0, 4), ['leaf4', '4', 'leaf', 'ams2']);
  assert.deepEqual((await words(page, 'Hosts', 'rack1')).slice(0, 2), ['rack1', '10.0.1.0/24']);
  await page.getByLabel('Find').fill('ams2 ethernet1');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr[aria-rowindex]').length === 1);
  await accessible(page, 'inventory');
  await page.getByLabel('Find').fill('');
  for (const [width, scheme] of some(
    [
      [1440, 'dark'],
      [390, 'light'],
    ],
    2,
  )) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await shoot(page, `inventory-${width}-${scheme}`);
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search for' }).fill('ethernet4');
  await page.getByRole('option', { name: /leaf4 Ethernet4 → h8/ }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/queues?'));
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search for' }).fill('rack1');
  await page.getByRole('option', { name: /rack1/ }).first().click();
  await page.waitForFunction(() => location.hash.startsWith('#/flows?'));
});

test('a node is found by what is behind it, and its queue is measured against its size', async () => {
  const page = await open('#/topology');
  const find = page
    .getByRole('searchbox', { name: 'Find a node or a host' })
    .or(page.getByLabel('Find a node or a host'));
  await find.first().fill('h8');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('complementary', { name: 'Node' });
  await panel.getByRole('heading', { name: 'leaf4' }).waitFor();
  await panel.getByText(/addresses of hosts/).click();
  await panel.getByRole('link', { name: 'h8' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Hosts' }).getAttribute('aria-pressed'), 'true');
  await page.waitForSelector('canvas[data-painted=true]');
  await shoot(page, 'inventory-topology-hosts');
  await panel.getByRole('link', { name: 'h8' }).click();
  await eventually(async () => assert.ok(await page.locator('main tbody tr').first().isVisible()));
  assert.match(decodeURIComponent(await page.evaluate(() => location.hash)), /10\.0\.4\.2/);
  await go(page, '#/topology');
  await find.first().fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('No node and no host in memory is called “nobody”').waitFor();
  // At the moment when it was longest.
  const { queues } = await ask(
    `queues?${span}&interval=10s&group_by=node,egress_port&order=occupancy_max&limit=1`,
    'node = 4 and egress_port = 4',
  );
  await go(page, `#/topology?${span}&at=${new Date(queues[0].start).toISOString()}`);
  await page.locator('.legend').getByText('against its size').waitFor();
  await shoot(page, 'inventory-topology-moment');
});

test('where nobody would notice that packets are lost is marked', async () => {
  const page = await open('#/overview');
  let directions;
  await page.route('**/api/v1/topology*', async (route) => {
    const answer = await (await route.fetch()).json();
    for (const link of answer.links) link.loss = { share: 0, lower: 0, upper: 0, sent: 9, lost: 0, confidence: 0.95 };
    answer.links.find(({ from, to }) => from === 4 && to === 6).loss = {
      share: null,
      unknown: 'reports do not tell of every packet',
    };
    directions = new Set(answer.links.map(({ from, to }) => `${from} ${to}`)).size;
    await route.fulfill({ json: answer });
  });
  await go(page, '#/topology?colour=loss');
  await eventually(async () =>
    assert.ok((await page.locator('.legend').innerText()).includes(`lost packets: 1 of ${directions} directions`)),
  );
  await page.waitForSelector('canvas[data-painted=true]');
  await shoot(page, 'inventory-topology-blind');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('names stand in lists, panels and on the page of a flow', async () => {
  const page = await open('#/queues?node=leaf4');
  const queue = await eventually(async () => {
    const cells = await words(page, 'Queues', 'Ethernet4');
    assert.ok(cells.length > 0);
    return cells;
  });
  const { queues } = await ask('queues', 'node = 4 and egress_port = 4');
  const share = Math.floor((queues[0].depth.max / 250_000) * 1e4) / 100;
  assert.ok(queue[0].startsWith('leaf4 Ethernet4') && queue[5].endsWith(`${share} % full`), queue.join(' | '));
  await go(page, '#/topology?node=4');
  await page.getByRole('complementary', { name: 'Node' }).getByText('leaf, ams2').waitFor();
  assert.match(await page.getByRole('complementary', { name: 'Node' }).textContent(), /Ethernet4\s+20M\s*h8/);
  await shoot(page, 'inventory-node');
  const [flow] = (await ask('flows?order=packets&limit=1', 'dst = 10.0.4.2')).flows;
  await go(page, `#/flows?dst=10.0.4.2`);
  await eventually(async () =>
    assert.match(await page.locator('main').textContent(), new RegExp(`→ h8:${flow.dst_port}`)),
  );
  await shoot(page, 'inventory-flows');
  await go(page, `#/flow?${endpoints(flow)}`);
  await eventually(async () =>
    assert.match(await page.locator('main').textContent(), /leaf4 in (Ethernet1|2) out Ethernet4/),
  );
  await shoot(page, 'inventory-flow');
});
