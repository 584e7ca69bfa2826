// Questions that somebody has at night. Each is answered within three presses from the overview, and the answer is what the
// network knows, which the console does not.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { accessible, connect, eventually, finish, lately, open, shoot, test, truth } from './browser.js';
import { dropsOf, fillers, nameOf, si, titleOf, flowOf, wall, worst } from './network.js';

test.beforeAll(connect);
test.afterAll(finish);

const most = 3;

/** asked opens the overview and has a question answered: work presses what it finds there, and is told if that was too much. */
async function asked(name, work, at = '') {
  const page = await open(`#/overview${at}`);
  let pressed = 0;
  await work(page, (element) => {
    assert.ok(++pressed <= most, `${name}: ${pressed} presses`);
    return element.click();
  });
  await accessible(page, name);
  await shoot(page, `task-${name}`);
}
const tidy = (text) => text.replaceAll(/\s+/g, ' ').trim();
const part = (page, title) => page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });
const utc = (ms) => new Date(ms).toISOString().slice(11, 19);

test('why was this flow slow', () =>
  asked('slow-flow', async (page, press) => {
    await press(page.getByRole('navigation').getByRole('link', { name: 'Flows', exact: true }));
    await press(page.getByRole('button', { name: 'Node latency (sum)' }));
    const row = page.getByRole('region', { name: 'Flows' }).locator('tbody tr:not(.rest)').first().getByRole('link');
    const title = tidy(await row.first().textContent());
    await press(row.first());
    const said = tidy(await page.locator('.verdict').textContent());
    const queue = worst();
    assert.ok(
      queue.flows.some(({ flow }) => titleOf(flowOf(flow)) === title),
      `${title} was not in the longest queue`,
    );
    const words =
      /^9\d (?:to \d+ )?% of (\d+) ms, .* was the queue of (\S+) port (\d+), filled by (\d+) flows.* \(burst (\S+) UTC\)$/.exec(
        said,
      );
    assert.ok(words, said);
    const [, ms, node, port, filled, at] = words;
    assert.deepEqual([node, Number(port), Number(filled)], [nameOf(queue.node), queue.port, fillers(queue).length]);
    assert.ok(at >= utc(wall(queue.start_ns)) && at <= utc(wall(queue.end_ns)), said);
    // The hop where it waited leads to that burst too, and no other hop does.
    const hops = part(page, 'Current path')
      .locator('tbody tr')
      .filter({ has: page.locator('a[href*="burst?"]') });
    assert.deepEqual((await hops.getByRole('link').first().allTextContents()).map(tidy), [nameOf(queue.node)]);
    const to = await page.locator('.links a[href*="burst?"]').getAttribute('href');
    assert.equal(await hops.locator('a[href*="burst?"]').getAttribute('href'), to);
    assert.ok((await hops.locator('a[href*="incident?"]').count()) > 0, 'the hop names no incident');
    // As long as the bytes before it took, and no longer than all that were there.
    const { rate_bps: rate } = truth.link.find(
      (l) =>
        [l.node_a, l.node_b].includes(queue.node) &&
        [l.port_a, l.port_b].includes(queue.port) &&
        !(l.node_a && l.node_b),
    );
    const longest = (8e3 * queue.peak) / rate;
    assert.ok(ms > 0.8 * longest && ms < 1.1 * longest, `${ms} ms, and ${queue.peak} bytes take ${longest} ms`);
  }));

test('who filled the queue', () =>
  asked('queue', async (page, press) => {
    const queue = worst();
    await press(
      page.getByRole('link', { name: new RegExp(`^queue of ${nameOf(queue.node)} port ${queue.port} peaked`) }).first(),
    );
    const rows = part(page, 'Flows behind it').locator('tbody tr', { hasText: 'filled the queue' });
    await rows.first().waitFor();
    const who = await rows.getByRole('link').allTextContents();
    assert.deepEqual(who.map(tidy).sort(), fillers(queue).map(titleOf).sort());
    const h1 = tidy(await page.textContent('h1'));
    // A queue that is long again at once is in the same sentence, which tells the longer of the two.
    const peak = [`peaked at ${si(queue.peak, 'B')} `, `, at up to ${si(queue.peak, 'B')}:`];
    assert.ok(peak.some((words) => h1.includes(words)) && h1.endsWith(`: ${queue.drops} packets lost`), h1);
  }));

test('where are packets dropped, and what to do', () =>
  asked(
    'drops',
    async (page, press) => {
      await press(page.getByRole('region', { name: 'Figures' }).getByRole('link', { name: /^Drops/ }));
      const rows = page.getByRole('region', { name: 'Drops' }).locator('tbody tr:not(.rest)');
      const places = dropsOf(
        (d) => `${nameOf(d.node)} in ${d.in} out ${d.out}, ${d.reason.replace('_', ' ')} ${d.code}`,
      );
      await eventually(async () => {
        const cells = await rows.evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
        const said = cells.map(([where, reason, packets]) => [
          `${where}, ${reason}`.replaceAll(/[\s=≠]+/g, ' ').replaceAll(' ,', ','),
          Number(packets.replaceAll(',', '')),
        ]);
        assert.deepEqual(Object.fromEntries(said), places);
      });
      // What the documentation says to do about each reason there.
      const advice = tidy(await part(page, 'What to do').textContent());
      const catalogue = readFileSync('../docs/reference/drop-reasons.md', 'utf8');
      for (const code of new Set(truth.drop.filter((d) => d.seen).map((d) => d.code))) {
        const cause = new RegExp(`^\\| ${code} \\| \`[^\`]*\` \\| \`(\\w+)\``, 'm').exec(catalogue)[1];
        const action = new RegExp(`^\\| \\d+ \\| \`${cause}\` \\|.*\\| ([^|]+) \\|$`, 'm').exec(catalogue)[1];
        assert.ok(
          advice.includes(cause.replaceAll('_', ' ')) && advice.includes(action),
          `${cause}: ${action}: ${advice}`,
        );
      }
    },
    lately(),
  ));

test('which link is failing', () =>
  asked('link', async (page, press) => {
    const fault = truth.fault.find(({ kind }) => kind === 'link_down');
    await press(page.getByRole('link', { name: new RegExp(`^link ${fault.link} down`) }).first());
    const started = await page.locator('.facts > div', { hasText: 'Started' }).locator('time').getAttribute('datetime');
    assert.ok(
      Math.abs(Date.parse(started) - wall(fault.t_ns)) < 1000,
      `${started}, and it was ${utc(wall(fault.t_ns))}`,
    );
    await press(page.getByRole('link', { name: 'In the topology' }));
    const panel = page.getByRole('complementary', { name: 'Link' });
    const title = tidy(await panel.locator('h2').textContent());
    assert.deepEqual(title.split(' – ').sort(), fault.link.split('-').sort());
    await panel.getByText('No traffic over it').waitFor();
  }));

test('what changed since yesterday', async () => {
  // What was here before anything broke was yesterday, for this page.
  const [first] = truth.fault;
  const from = Math.floor(wall(first.t_ns) / 10_000) * 10_000;
  const [day, length] = [86_400_000, 20_000];
  const moved = (text, ms) =>
    text.replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, (time) => new Date(Date.parse(time) + ms).toISOString());
  const yesterday = async (page) => {
    await page.route(/v1\/[a-z]+\?.*since=20/, async (route) => {
      const url = route.request().url();
      if (Date.parse(new URL(url).searchParams.get('until')) > from - day / 2) return route.continue();
      const answer = await route.fetch({ url: moved(decodeURIComponent(url), day - length) });
      return route.fulfill({ response: answer, body: moved(await answer.text(), length - day) });
    });
  };
  const range = new URLSearchParams({
    since: new Date(from).toISOString(),
    until: new Date(from + length).toISOString(),
  });
  await asked(
    'changes',
    async (page, press) => {
      await yesterday(page);
      await press(page.getByLabel('Compare with'));
      await page.getByLabel('Compare with').selectOption('day');
      const rows = part(page, 'What changed').locator('tbody tr');
      await rows.first().waitFor();
      const cells = await rows.evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
      const of = (what) => cells.filter(([kind]) => kind === what).map(([, ...rest]) => rest);
      const key = (d) => `${nameOf(d.node)} out ${d.out}: ${d.reason.replace('_', ' ')}`;
      const [now, before] = [dropsOf(key, from, from + length), dropsOf(key, from - length, from)];
      assert.deepEqual(before, {}, 'nothing was dropped before');
      const dropped = Object.entries(now)
        .toSorted(([, a], [, b]) => b - a)
        .filter(([, n]) => n >= 0.01 * Math.max(...Object.values(now)));
      assert.deepEqual(
        of('Packets dropped'),
        dropped.map(([where, n]) => [where, si(n, '', ''), 'none', 'new']),
      );
      const broke = truth.fault.filter(({ phase }) => phase === 'start').length;
      assert.deepEqual(of('Incidents'), [['warning or critical', `${broke}`, 'none', 'new']]);
      const queue = worst();
      const [where, longest, , factor] = of('Longest queue')[0];
      assert.deepEqual([where, longest], [`${nameOf(queue.node)} out ${queue.port}`, si(queue.peak, 'B')]);
      assert.match(factor, /^× \d/);
      assert.equal(of('p99 node latency')[0][0], `${nameOf(queue.node)} out ${queue.port}`);
      const victim = truth.host.find(({ name }) => name === first.hosts.at(-1));
      assert.equal(of('Traffic to a destination')[0][0], victim.address);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    },
    `?${range}`,
  );
});
