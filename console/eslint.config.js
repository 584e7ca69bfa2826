import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['dist/', 'placeholder/', 'test-results/', 'src/api/types.gen.ts'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      'no-undef': 'off', // the compiler of TypeScript knows better
      'svelte/no-useless-mustaches': 'off', // {' '} is how a blank at the end of a line stays
      'svelte/prefer-svelte-reactivity': 'off', // a Map that is filled and then only read need not be watched
    },
  },
  // Imports go one way: pages use components, and all use lib and api. The build fails on a circle between modules (vite.config.ts).
  {
    files: ['src/components/**', 'src/lib/**', 'src/api/**'],
    rules: { 'no-restricted-imports': ['error', { patterns: ['**/pages/**'] }] },
  },
  {
    files: ['src/lib/**', 'src/api/**'],
    rules: { 'no-restricted-imports': ['error', { patterns: ['**/pages/**', '**/components/**'] }] },
  },
  // What a page shows is in panels, which have their titles, units and downloads in one place.
  {
    files: ['src/App.svelte', 'src/pages/**/*.svelte', 'src/components/**/*.svelte'],
    ignores: ['src/components/Panel.svelte', 'src/components/Tile.svelte'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'SvelteAttribute[key.name="class"] SvelteLiteral[value=/(^| )panel( |$)/]',
          message: 'Use components/Panel.svelte or components/Tile.svelte.',
        },
      ],
    },
  },
  { files: ['**/*.svelte', '**/*.svelte.ts'], languageOptions: { parserOptions: { parser: ts.parser } } },
);
