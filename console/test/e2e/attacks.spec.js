// Attacks: the list and the page of one, compared with what the scenario does.
import assert from 'node:assert/strict';
import { accessible, ask, connect, eventually, finish, open, shoot, test } from './browser.js';

test.beforeAll(connect);
test.afterAll(finish);

/** The devices that flood, as scenarios/ddos.yaml has them, with the way of what they send, and the switches that drop it. */
const ways = {
  'a6:1a:f6:b1:64:01': ['gw1', 'gw1 → agg1 → core'],
  'a6:1a:f6:b2:64:01': ['gw2', 'gw2 → agg1 → core'],
  'a6:1a:f6:b2:64:02': ['gw2', 'gw2 → agg1 → core'],
  'a6:1a:f6:b3:64:01': ['gw3', 'gw3 → agg2 → core'],
};
const filters = ['agg1', 'agg2'];

test('who floods whom, by which way, and what filters drop: two clicks from the overview', async () => {
  const page = await open('#/overview');
  await page.getByRole('navigation').getByRole('link', { name: 'Attacks' }).click();
  const found = page.locator('[aria-label=Attacks] tbody tr', { hasText: '192.0.2.80 port 53' });
  await found.waitFor();
  await accessible(page, 'attacks');
  await found.getByRole('link', { name: '192.0.2.80 port 53', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: /udp flood of 192\.0\.2\.80 port 53 by 4 devices/ }).waitFor();
  const part = (title) => page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });
  const cells = async (title) => {
    const rows = await part(title).locator('tbody tr').all();
    return Promise.all(rows.map(async (row) => (await row.locator('td').allTextContents()).map((text) => text.trim())));
  };
  await eventually(async () =>
    assert.deepEqual(
      Object.fromEntries((await cells('Devices')).map(([mac, gateway, way]) => [mac, [gateway, way]])),
      ways,
    ),
  );
  assert.deepEqual((await cells('Gateways')).map(([name]) => name).sort(), ['gw1', 'gw2', 'gw3']);
  assert.deepEqual((await cells('Filters')).map(([name]) => name).sort(), filters);
  assert.deepEqual((await cells('What gets through')).map(([way]) => way).sort(), [
    ...new Set(Object.values(ways).map(([, way]) => way)),
  ]);
  const marks = (await part('Rate and drops over time').locator('svg .mark + text').allTextContents()).map((text) =>
    text.replace(/\d.*/s, ''),
  );
  assert.deepEqual(marks, ['began', 'filters drop']);
  // Before it there was none of it: it is compared with all that went there.
  await part('Rate and drops over time').getByLabel('Compare with').selectOption('before');
  await part('Rate and drops over time').getByText('all that went there').waitFor();
  await part('Rate and drops over time').getByLabel('Compare with').selectOption('');
  assert.equal(await part('Where it comes from').locator('canvas').count(), 1);
  assert.ok((await part('Packets of it').getByRole('link').count()) > 1);
  await accessible(page, 'attack');
  await shoot(page, 'attack');
  // No table is cut on a small laptop, and on a phone rows are cards in which each figure has its title.
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    const cut = () =>
      [...document.querySelectorAll('main .scrolls')]
        .filter((frame) => frame.scrollWidth > frame.clientWidth)
        .map((frame) => frame.textContent);
    await eventually(async () => assert.deepEqual(await page.evaluate(cut), [], `${width} px`));
  }
  assert.equal(await part('Filters').locator('tbody td').nth(2).getAttribute('data-title'), 'Packets dropped');
  await accessible(page, 'attack on a phone');
  await shoot(page, 'phone-attack');
  await page.setViewportSize({ width: 1280, height: 900 });
  await part('Where it comes from').getByRole('link', { name: 'In the topology' }).click();
  await page.getByText('Drawn over it: paths of the attack on 192.0.2.80').waitFor();
  await page.locator('.legend', { hasText: 'the path' }).waitFor();
  await page.getByRole('button', { name: 'Take away' }).click();
  await page.locator('.legend', { hasText: 'the path' }).waitFor({ state: 'detached' });
});

test('rules are shown word by word before they are sent, and sent only when that is confirmed', async () => {
  const [{ id }] = (await ask('attacks')).attacks;
  const page = await open(`#/attack?id=${id}`);
  page.expected.push('502');
  const sent = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(JSON.parse(request.postData())));
  await page.getByRole('button', { name: 'Show the rules that would be sent' }).click();
  const rules = page.locator('.planned ol li');
  await rules.first().waitFor();
  const said = await rules.allTextContents();
  assert.equal(said.length, Object.keys(ways).length);
  for (const mac of Object.keys(ways))
    assert.ok(
      said.some((rule) => rule.includes(`drops udp from device ${mac} to 192.0.2.80/32 port 53`)),
      said.join('; '),
    );
  await accessible(page, 'rules against an attack');
  const dialog = page.getByRole('dialog', { name: 'Are you sure?' });
  const mitigate = page.getByRole('button', { name: /^Mitigate/ });
  await mitigate.click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual(sent, [{ dry_run: true }]);
  await mitigate.click();
  await dialog.getByRole('button', { name: 'Send the rules' }).click();
  await page.getByRole('alert').filter({ hasText: '127.0.0.1:9' }).waitFor(); // nobody listens there
  assert.deepEqual(sent, [{ dry_run: true }, { dry_run: false }]);
  assert.deepEqual(
    ((await ask(`attacks/${id}`)).attack.rules ?? []).filter((rule) => rule.state === 'active'),
    [],
  );
});
