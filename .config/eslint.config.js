import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/**', '.build/**', 'src/otlp/wire/generated/**', 'src/ui/api/generated/**'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { project: '../tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-floating-promises': 'error',
      // An async method without an await turns exceptions into rejections, which contracts rely on.
      '@typescript-eslint/require-await': 'off',
      eqeqeq: 'error',
    },
  },
  {
    // The browser's code is a separate TypeScript project.
    files: ['src/ui/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: '../src/ui/tsconfig.json' } },
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      // `!== false` is readable if a value may also be undefined.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    // Node runs these files directly.
    files: ['src/*.mjs', 'src/ui/**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { process: 'readonly', fetch: 'readonly' } },
  },
  {
    // Examples for readers to copy, outside every TypeScript project.
    files: ['plugins/**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
  },
  {
    files: ['**/test/**/*.ts'],
    rules: {
      // tap awaits its subtests, so `void t.test(...)` at the top level is correct.
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }],
    },
  },
);
