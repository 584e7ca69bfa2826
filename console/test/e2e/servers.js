// The servers that the tests in a browser look at. Each hears what happens in a scenario and is served below a
// prefix that the console knows nothing of. They start some ahead, because a scenario takes as long as it says.
import { execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { files as chosen } from './turns.js';

const waybill = process.env.WAYBILL ?? '../bin/waybill';
const prefix = '/some/prefix/';
const run = promisify(execFile);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** markup is the name of a node: it has to stay a text, wherever it is shown. */
const markup = '<img src=x onerror=alert(1)>';
/** longName has 93 characters; one of them is two in JavaScript. */
const longName = `${'a-leaf-switch-in-row-17-of-hall-3-'.padEnd(92, 'x')}🦊`;

/** inventory names ports and hosts, one of them as long as it may be. */
export const inventory = `
nodes:
  1: {role: leaf, site: ams1, ports: {1: {name: ${'Ethernet1/'.padEnd(64, '1')}, speed: 40M, queue_size: 1MB}}}
  4:
    role: leaf
    site: ams2
    ports:
      1: {name: Ethernet1, speed: 40M}
      4: {name: Ethernet4, speed: 20M, queue_size: 250kB}
hosts:
- {address: 10.0.4.2, name: h8, site: ams2}
- {address: 'fd00:0:0:4::2', name: h8, site: ams2}
- {address: 10.0.1.0/24, name: rack1}
`;

/** alertRules has an output that never works: nobody listens there. */
const alertRules = `
rules:
  - {name: drops, filter: kind = drop_storm, severity: critical, outputs: [pager]}
  - {name: never, filter: kind = loop, for: 1h}
outputs:
  pager: {webhook: {url: 'http://127.0.0.1:9/'}}
`;

const all = { scenario: 'testdata/all.yaml' };
const records = { ...all, data: true };
const everything = { ...records, raw: true, alerts: true, junk: ['no report', 'neither is this'] };

/** An access network whose devices flood a web server, from 3 s to 12 s; from 6 s on filters drop it. The rate is not large. */
const flood = {
  scenario: `${readFileSync('../scenarios/ddos.yaml', 'utf8')}
int: {domain: 0x5453, ds_instruction: 0x8000, ds_flags: 0x4000, watch: [{report_all: true}]}
`,
  config: `attacks: {floor: {rate: 4M}, learn: 2s, end_after: 1h}
mitigation: {webhook: {url: 'http://127.0.0.1:9/', secret_file: '${resolve('package.json')}'}}
`, // nobody takes rules there
  data: true,
  raw: true,
};

/** calm is how long nothing breaks before what breaks in all.yaml does: s. */
export const calm = 20;
/** All packets are reported, so that what the pages say can be compared with what the network knows. */
const known = {
  scenario: readFileSync(all.scenario, 'utf8')
    .replace('duration: 10s', `duration: ${calm + 10}s`)
    .replaceAll(/at: (\d)s/g, (_, s) => `at: ${Number(s) + calm}s`)
    .replace('int: {', 'int: {watch: [{report_all: true}], '),
  data: true,
  raw: true,
  truth: true,
};

/** What pages are recorded of, for pictures of how they look (looks.spec.js), which themselves need no records. */
const recorded = {
  ...known,
  alerts: true,
  truth: false,
  junk: ['no report'],
  config: 'attacks: {floor: {rate: 4M}, learn: 2s, end_after: 1h}\n',
};

/**
 * The servers, and the files that look at each, in the order of Playwright. What a server is: scenario is what it hears, renamed other names
 * of its nodes, data whether it keeps records, raw whether it keeps datagrams, junk datagrams that are no reports, alerts whether it has
 * rules, login whether one has to log in, config what else is configured, inventory what names ports and hosts, truth whether the
 * network says what it knows. Files share a server that they do not change.
 */
const servers = [
  { files: ['empty'], of: {} },
  { files: ['large'], of: { scenario: leafSpine(484, 16) } },
  { files: ['looks'], of: process.env.LOOKS === 'record' ? recorded : {} },
  { files: ['login'], of: { alerts: true, login: true } },
  // from here on they keep records: their files come last
  { files: ['alerts'], of: everything },
  { files: ['attacks'], of: flood },
  { files: ['docs', 'explore', 'flows'], of: everything },
  { files: ['history', 'paint'], of: records },
  { files: ['keys', 'lists'], of: everything },
  { files: ['pages'], of: { ...records, raw: true, renamed: { spine2: markup } } },
  { files: ['details', 'incidents', 'recover', 'reports', 'robust', 'samples', 'sizes'], of: everything },
  { files: ['tasks', 'truth'], of: known },
  { files: ['inventory', 'wide'], of: { ...records, raw: true, renamed: { leaf1: longName }, inventory } },
];

/**
 * leafSpine is a scenario with a host at each leaf, larger than topology.leaf_spine may be, in which flows of one packet go by as many
 * links as they can.
 */
function leafSpine(leaves, spines) {
  const count = (n) => Array.from({ length: n }, (_, i) => i + 1);
  return JSON.stringify({
    name: 'large',
    duration: '8s',
    topology: {
      graph: {
        switches: [
          ...count(leaves).map((i) => ({ name: `leaf${i}` })),
          ...count(spines).map((i) => ({ name: `spine${i}` })),
        ],
        links: count(leaves).flatMap((leaf) =>
          count(spines).map((spine) => ({ between: [`leaf${leaf}`, `spine${spine}`], rate: '10M', delay: '5us' })),
        ),
        hosts: count(leaves).map((i) => ({ name: `h${i}`, at: `leaf${i}`, link: { rate: '10M', delay: '2us' } })),
      },
    },
    traffic: [{ poisson: { load: '1%', sizes: '1kB' }, port: 6000 }],
  });
}

const ask = async (url, path) => (await fetch(`${url}/api/v1/${path}`)).json();

/** start starts a server and returns its process, its address, and a promise that it has heard all that it shall. */
async function start(
  dir,
  { scenario, renamed = {}, data, raw, alerts, junk = [], login, config = '', inventory: named, truth = false },
) {
  const args = ['serve', '--listen', 'udp://127.0.0.1:0', '--http', '127.0.0.1:0'];
  const file = (name, text) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  if (/[{\n]/.test(scenario ?? '')) scenario = file('scenario.yaml', scenario);
  if (scenario) {
    let { stdout } = await run(waybill, ['fabric', scenario, '--serve-config'], { maxBuffer: 1 << 26 });
    for (const [node, name] of Object.entries(renamed)) stdout = stdout.replaceAll(node, `'${name}'`);
    args.push('--config', file('serve.yaml', stdout + config));
  }
  if (named) args.push('--inventory', file('inventory.yaml', named));
  if (data) args.push('--data', join(dir, 'data'));
  if (raw) args.push('--raw-reports', '64MiB');
  if (alerts) args.push('--alerts', file('alerts.yaml', alertRules));
  let token = '';
  if (login) {
    const tokens = join(dir, 'tokens');
    args.push('--tokens', tokens);
    token = (
      await run(waybill, ['token', 'create', '--tokens', tokens, '--name', 'operator', '--role', 'read'])
    ).stdout.trim();
  }
  const server = spawn(waybill, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const url = await new Promise((found, failed) => {
    const said = [];
    createInterface({ input: server.stderr }).on('line', (line) => {
      said.push(line);
      const at = /url"?[=:]"?(http:\/\/[0-9.:]+)/.exec(line);
      if (at) found(at[1]);
    });
    server.on('error', failed);
    server.on('exit', () => failed(new Error(`waybill serve ended:\n${said.join('\n')}`)));
  });
  const known = truth && join(dir, 'truth.ndjson');
  return { server, url, token, truth: known, fed: feed(url, scenario, junk, data, known).then(() => Date.now()) };
}

/** feed has a server hear a scenario and datagrams that are no reports. What the network knows goes to the file truth. */
async function feed(url, scenario, junk, data, truth) {
  if (!scenario) return;
  const to = (await ask(url, 'listeners')).listeners[0].address;
  const [, host, port] = /^(?:udp:\/\/)?(.*):(\d+)$/.exec(to);
  const args = truth ? ['--truth', truth] : [];
  await run(waybill, ['fabric', scenario, '--quiet', '--reports', `${host}:${port}`, ...args]);
  const socket = createSocket('udp4');
  for (const datagram of junk) await new Promise((done) => socket.send(datagram, Number(port), host, done));
  socket.close();
  if (data) await stored(url);
}

/**
 * stored waits until all that a server received is in its store: of each report the ledger says so, and for longer than records are
 * apart (10 s) nothing came.
 */
async function stored(url) {
  const kept = async () => {
    const [{ loss }, { flows }, { spread = [] }] = await Promise.all([
      ask(url, 'loss'),
      ask(url, 'flows?since=1h&group_by='),
      ask(url, 'heatmap?of=links&since=1h'),
    ]);
    const open = loss.reduce((sum, { fate }) => sum + fate.waiting + fate.held + (fate.queued ?? 0), 0);
    return [open === 0, flows?.[0]?.packets ?? 0, spread.reduce((sum, s) => sum + s.packets, 0)];
  };
  for (let before = [], since = Date.now(); ; await sleep(1000)) {
    const now = await kept();
    if (!now.every(Boolean) || now.join() !== before.join()) [before, since] = [now, Date.now()];
    if (Date.now() - since > 12_000) return;
  }
}

/** front serves a server below the prefix. Its path /fed is answered once the server is there and has heard all,
 * with when that was; it begins with it. /done?FILE says that a file needs it no more. */
async function front(begin, files, end) {
  let url = '';
  const needed = new Set(files);
  const proxy = createServer(async (req, res) => {
    if (req.url === '/fed') {
      try {
        const begun = await begin();
        const at = await begun.fed;
        url = begun.url;
        res.end(JSON.stringify({ token: begun.token, truth: begun.truth, at }));
      } catch (error) {
        res.writeHead(500).end(String(error));
      }
      return;
    }
    if (req.url.startsWith('/done?')) {
      needed.delete(req.url.slice('/done?'.length));
      if (needed.size === 0) void end();
      res.end();
      return;
    }
    if (!req.url.startsWith(prefix)) {
      res.writeHead(404).end();
      return;
    }
    const there = request(
      `${url}/${req.url.slice(prefix.length)}`,
      { method: req.method, headers: { ...req.headers, host: new URL(url).host } },
      (answer) => {
        res.writeHead(answer.statusCode, answer.headers);
        answer.pipe(res);
        answer.on('error', () => res.destroy());
      },
    );
    there.on('error', () => res.destroy());
    res.on('close', () => there.destroy());
    req.pipe(there);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

/** end ends a server that was started, if it runs. */
async function end(started) {
  const { server } = await started.catch(() => ({}));
  if (!server || server.exitCode !== null || server.signalCode !== null) return;
  if (!server.killed) server.kill('SIGINT');
  await once(server, 'exit');
}

/** nameOf is the name of the server of a file of tests. */
export const nameOf = (file) => /([^/]+)\.spec\.js$/.exec(file)[1];

/** ahead is how many servers hear their scenario before their files begin: that takes longer than the tests of a file. */
const ahead = 2;

/** The set-up of Playwright: it readies the servers and returns what ends them. The tests find them in CONSOLE_SERVERS. */
export default async function setup() {
  const dir = mkdtempSync(join(tmpdir(), 'waybill-console-'));
  const wanted = servers
    .map((server) => ({ ...server, files: server.files.filter((name) => chosen.includes(name)) }))
    .filter((server) => server.files.length > 0);
  const begun = new Map();
  const begin = (server) => {
    if (!begun.has(server)) {
      const started = start(mkdtempSync(join(dir, `${server.files[0]}-`)), server.of);
      started.then(({ fed }) => fed).catch(() => undefined); // told to whoever waits for it
      begun.set(server, started);
    }
    return begun.get(server);
  };
  const proxies = [];
  const known = {};
  for (const [i, server] of wanted.entries()) {
    const proxy = await front(
      () => {
        wanted.slice(i, i + 1 + ahead).forEach(begin);
        return begin(server);
      },
      server.files,
      () => end(begun.get(server)),
    );
    proxies.push(proxy);
    const origin = `http://127.0.0.1:${proxy.address().port}`;
    for (const name of server.files) known[name] = { origin, base: origin + prefix };
  }
  process.env.CONSOLE_SERVERS = JSON.stringify(known);
  wanted.slice(0, ahead).forEach(begin);
  return async () => {
    for (const proxy of proxies) {
      proxy.close();
      proxy.closeAllConnections();
    }
    for (const started of begun.values()) await end(started);
    rmSync(dir, { recursive: true, force: true });
  };
}
