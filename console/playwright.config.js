// Tests of the console in a browser. Files run side by side, each with a server of its own (test/e2e/servers.js); what their pictures
// and traces show of a failure is in test-results.
import { defineConfig } from '@playwright/test';
import { files } from './test/e2e/turns.js';

/** What needs no records of the server, which are there some seconds later, runs first. */
const soon = ['empty', 'login', 'large', 'looks'];
const match = (names) => names.map((name) => `**/${name}.spec.js`);

export default defineConfig({
  testDir: 'test/e2e',
  snapshotPathTemplate: '{testDir}/looks/{arg}{ext}',
  outputDir: 'test-results',
  globalSetup: './test/e2e/servers.js',
  workers: 2,
  timeout: 900_000, // nothing depends on how fast the machine is
  reporter: [['list']],
  projects: [
    { name: 'soon', testMatch: match(files.filter((name) => soon.includes(name))) },
    { name: 'records', testMatch: match(files.filter((name) => !soon.includes(name))) },
  ],
  use: {
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-quic',
        // Text looks the same everywhere.
        '--font-render-hinting=none',
        '--disable-lcd-text',
        '--force-color-profile=srgb',
      ],
    },
    screenshot: 'only-on-failure',
    trace: process.env.CONSOLE_TRACE ? 'retain-on-failure' : 'off',
  },
});
