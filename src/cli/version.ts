import { Command } from 'commander';
import type { CliIo } from './io.js';
import { readVersion } from './package-info.js';

/** `jackdaw version` */
export function versionCommand(io: CliIo): Command {
  return new Command('version').description('Print the version of Jackdaw and of Node.').action(() => {
    io.out(`jackdaw ${readVersion()} (node ${process.versions.node}, ${process.platform} ${process.arch})`);
  });
}
