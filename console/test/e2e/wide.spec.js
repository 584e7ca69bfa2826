// No page is wider than the window, whatever the nodes are called: one of them has a name of 93 characters.
import assert from 'node:assert/strict';
import { accessible, ask, connect, finish, endpoints, open, painted, shoot, some, test, span } from './browser.js';

let shown;

test.beforeAll(connect);
test.afterAll(finish);
test.beforeAll(async () => {
  const [flow] = (await ask('flows?order=packets&limit=1')).flows;
  const [burst] = (await ask('bursts?order=peak&limit=1')).bursts;
  const { events } = await ask('events?limit=1000');
  const long = events.filter((event) => event.name?.length > 90);
  const [report] = (await ask('reports?limit=1&filter=outcome%20%3D%20decoded')).reports;
  const {
    nodes,
    links: [link],
  } = await ask('topology');
  assert.ok(long.length > 0 && nodes.some((node) => node.name.length > 90), 'the long name is there');
  const q = endpoints(flow);
  shown = [
    'overview',
    'topology',
    'inventory',
    `topology?node=${nodes.find((node) => node.name.length > 90).id}`,
    `topology?link=${[link.from, link.to].sort((a, b) => a - b).join('+')}`,
    'flows',
    'flows?group=src_net',
    'latency',
    'queues',
    'drops',
    'events',
    'alerts',
    'collector',
    'docs',
    `flow?${q}`,
    `burst?id=${burst.id}`,
    ...[...new Map(long.map((event) => [event.kind, event])).values()].map((event) => `event?id=${event.id}`),
    `reports?id=${report.id}`,
    ...['overview', 'topology', 'flows', 'latency', 'queues', 'drops', 'events', 'collector', 'explore'].map(
      (page) => `${page}?${span}`,
    ),
    `flow?${q}&${span}`,
    ...['links', 'paths', 'flows'].map((of) => `latency?${span}&of=${of}`),
    `explore?of=hops&${span}&graph=table`,
    `explore?of=hops&measure=latency_max_ns&${span}&graph=heat`,
    `explore?of=drops&graph=sankey&${span}`,
  ];
});

/** wider lists what reaches over the right edge, of what does not scroll in a frame of its own. */
function wider() {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const framed = (element) => {
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement)
      if (getComputedStyle(up).overflowX !== 'visible') return true;
    return false;
  };
  return [
    'the page is wider than the window',
    ...[...document.querySelectorAll('body *')]
      .filter((e) => e.getBoundingClientRect().right > width + 1 && !framed(e))
      .map(
        (e) =>
          `${e.tagName} ${Math.round(e.getBoundingClientRect().right)} px: ${(e.textContent ?? '').trim().slice(0, 30)}`,
      )
      .slice(0, 5),
  ];
}

for (const width of some([390, 1280])) {
  test(`${width} px`, async () => {
    const page = await open('#/docs', { viewport: { width, height: 900 } });
    for (const hash of shown) {
      await page.evaluate((to) => {
        location.hash = to;
      }, `#/${hash}`);
      await page.waitForFunction(
        () =>
          document.querySelector('main h1') &&
          document.querySelectorAll('.asking').length === 0 &&
          !/Loading …/.test(document.querySelector('main').textContent),
      );
      await painted(page);
      assert.deepEqual(await page.evaluate(wider), [], hash);
      await shoot(page, `wide-${width}-${hash.replace(/[^a-z]+/g, '-').slice(0, 30)}`);
    }
    await accessible(page, `${width} px`);
    page.expected.push('404'); // this server has no alert rules
  });
}
