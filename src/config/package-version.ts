import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';

/** The version in the package's `package.json`. */
export function readVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { readonly version?: string };
  return version ?? 'unknown';
}
