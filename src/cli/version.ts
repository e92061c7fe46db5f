import { Command } from 'commander';
import { readVersion } from '../config/package-version.js';
import type { CliIo } from './io.js';

/** The versions of Jackdaw and its runtime. */
export function versionText(): string {
  return `jackdaw ${readVersion()} (node ${process.versions.node}, ${process.platform} ${process.arch})`;
}

/** `jackdaw version`; `jackdaw --version` prints the same. */
export function versionCommand(io: CliIo): Command {
  return new Command('version').description('Print the version of Jackdaw and of Node.').action(() => {
    io.out(versionText());
  });
}
