import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Logger } from '../component/telemetry.js';
import { PRIVATE_FILE } from '../config/private-path.js';
import type { Claim } from './resources.js';

/** The process that uses the files of a configuration. */
export interface Owner {
  readonly pid: number;
  /** Absolute paths of its configuration files and folders; empty for the built-in configuration. */
  readonly config: readonly string[];
  /** Its endpoints, as configured. */
  readonly endpoints: readonly string[];
}

/** Paths of files that only one process can use. */
export function exclusivePaths(claims: readonly Claim[]): readonly string[] {
  return claims.flatMap(({ resource }) =>
    resource.kind === 'writable_file' && resource.isExclusive === true ? [resource.path] : [],
  );
}

/** Writes the owner next to each file that this process has locked. A lock itself does not name its owner. */
export function writeOwners(paths: readonly string[], owner: Owner, logger: Logger): void {
  for (const path of paths)
    try {
      writeFileSync(ownerFile(path), `${JSON.stringify(owner)}\n`, { mode: PRIVATE_FILE });
    } catch (error) {
      logger.warn({ err: error, file: ownerFile(path) }, 'Cannot write the owner file for jackdaw validate');
    }
}

export function removeOwners(paths: readonly string[]): void {
  for (const path of paths) rmSync(ownerFile(path), { force: true });
}

/**
 * The owner of a locked file. An owner file remains after a kill; only the lock of the file itself proves that it is in use.
 *
 * @returns undefined if the owner is unknown or its process has ended
 */
export function ownerOf(path: string): Owner | undefined {
  try {
    const { pid, config, endpoints } = JSON.parse(readFileSync(ownerFile(path), 'utf8')) as Partial<Owner>;
    if (typeof pid !== 'number' || !Array.isArray(config) || !Array.isArray(endpoints)) return undefined;
    return isAlive(pid) ? { pid, config, endpoints } : undefined;
  } catch {
    return undefined;
  }
}

function ownerFile(path: string): string {
  return `${path}.owner`;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
