import type { LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../../component/telemetry.js';
import { MICROS_PER_SECOND } from '../../../signal/time-units.js';

/** Checking for changes costs two system calls, which a burst of connections shares. */
const CHECK_EVERY = MICROS_PER_SECOND;
const NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/;

type Entries = ReadonlyMap<string, readonly LookupAddress[]>;

const NO_ENTRIES: Entries = new Map();

/** Path of the system's hosts file. */
export function systemHostsPath(): string {
  return process.platform === 'win32'
    ? join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';
}

/** The file in which an operator names machines. It is read again after it changed, within a second. */
export class HostsFile {
  readonly #path: string;
  readonly #clock: Clock;
  #entries: Promise<Entries> = Promise.resolve(NO_ENTRIES);
  #checkedAt = -Infinity;
  #version = '';

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /**
   * @param name in lower case, without a dot at its end
   * @returns in the file's order; none if the file does not name it, or cannot be read
   */
  async addresses(name: string): Promise<readonly LookupAddress[]> {
    const now = this.#clock.now();
    // Also when the clock was set back.
    if (Math.abs(now - this.#checkedAt) >= CHECK_EVERY) {
      this.#checkedAt = now;
      this.#entries = this.#read(this.#entries);
    }
    return (await this.#entries).get(name) ?? [];
  }

  async #read(before: Promise<Entries>): Promise<Entries> {
    const entries = await before;
    try {
      const { mtimeMs, size } = await stat(this.#path);
      const version = `${mtimeMs} ${size}`;
      if (version === this.#version) return entries;
      const read = parseHosts(await readFile(this.#path, 'utf8'));
      this.#version = version;
      return read;
    } catch {
      // Many containers have no hosts file: then DNS resolves all names.
      this.#version = '';
      return NO_ENTRIES;
    }
  }
}

/** Lines of an address and its names. Other lines are ignored, and so are addresses with a zone (`fe80::1%eth0`). */
function parseHosts(text: string): Entries {
  const entries = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = address.includes('%') ? 0 : isIP(address);
    if (family === 0) continue;
    for (const written of names) {
      const name = written.toLowerCase();
      if (!NAME.test(name)) continue;
      const addresses = entries.get(name) ?? [];
      if (!addresses.some((other) => other.address === address)) addresses.push({ address, family });
      entries.set(name, addresses);
    }
  }
  return entries;
}
