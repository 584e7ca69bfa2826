// Which files of tests run: all take longer than "make test" may. By commit it runs a third of them, as its seed says; each of the
// first two opens every page, the last one all but the dashboard. "make test-long" runs all, and so does "npm run test:e2e", or those
// that it names.
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';

const turns = [
  ['details', 'docs', 'flows', 'keys', 'lists', 'looks'],
  ['empty', 'history', 'login', 'pages', 'recover', 'robust', 'tasks'],
  [
    ...['alerts', 'attacks', 'explore', 'incidents', 'inventory', 'large', 'paint', 'reports', 'samples', 'sizes'],
    ...['truth', 'wide'],
  ],
];

const all = readdirSync(new URL('.', import.meta.url))
  .filter((name) => name.endsWith('.spec.js'))
  .map((name) => name.replace('.spec.js', ''));
const listed = turns.flat().sort();
if (listed.join() !== all.sort().join()) throw new Error(`turns.js has ${listed}, and there are ${all}`);

/** named are the files that the command line names. What is in front of it, where the program lies, may have any name. */
const named = all.filter((name) => process.argv.slice(2).some((arg) => basename(arg).includes(name)));
const seed = Number(process.env.TEST_SEED ?? NaN); // NaN: all

/** files are the names of those that run, without .spec.js. */
export const files = named.length ? named : (turns[seed % turns.length] ?? all);
