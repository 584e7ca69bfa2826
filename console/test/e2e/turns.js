// Which files of tests run: all take longer than "make test" may. By commit it runs a third of them, as its seed says, and each third
// opens every page; "make test-long" runs all, and so does "npm run test:e2e", or those that it names.
import { readdirSync } from 'node:fs';

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
const twice = turns.flat().sort();
if (twice.join() !== all.sort().join()) throw new Error(`turns.js has ${twice}, and there are ${all}`);

/** named are the files that the command line names. */
const named = all.filter((name) => process.argv.some((arg) => arg.includes(name)));
const seed = Number(process.env.TEST_SEED ?? NaN); // NaN: all

/** files are the names of those that run, without .spec.js. */
export const files = named.length ? named : (turns[seed % turns.length] ?? all);
