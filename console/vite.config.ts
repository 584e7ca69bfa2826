import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// Addresses are relative, so that the console works under any path that ends in a slash. Nothing is inlined: the content
// security policy allows only files of the server. The code of a page comes when it is opened; the style is little, and comes at once.
export default defineConfig({
  base: './',
  plugins: [svelte({ compilerOptions: { css: 'external' } })],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    rolldownOptions: {
      checks: { circularDependency: true },
      onLog(level, log, next) {
        if (log.code === 'CIRCULAR_DEPENDENCY' && !log.message.includes('node_modules')) throw new Error(log.message);
        next(level, log);
      },
    },
  },
  // The limit finds what hangs; a busy machine takes longer than the 5 s of the default.
  test: { include: ['test/*.test.ts'], pool: 'threads', isolate: false, maxWorkers: 1, testTimeout: 120_000 },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
});
