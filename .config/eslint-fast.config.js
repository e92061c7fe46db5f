import tseslint from 'typescript-eslint';
import rules from './eslint.config.js';

/** The rules that need no types: a quarter of the time. `npm run lint` checks all of them. */
export default [
  ...rules,
  tseslint.configs.disableTypeChecked,
  { linterOptions: { reportUnusedDisableDirectives: 'off' } },
];
