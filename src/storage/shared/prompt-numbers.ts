import type { Clock } from '../../component/telemetry.js';
import type { ControlStore } from '../contracts/control-store.js';
import type { NamedVersion } from '../contracts/prompts.js';
import { InvalidatedCache } from './invalidated-cache.js';

/** Maximum number of cached versions. */
const REMEMBERED = 10_000;

/** Numbers of versions, in request order; null for one that does not exist. */
export type VersionNumbers = readonly (number | null)[];

/** Represents a version that does not exist: numbers start at 1. */
const MISSING = 0;

/** Numbers of users' prompt versions, cached until a hint, because versions are created and deleted. */
export class PromptNumbers {
  readonly #prompts: ControlStore['prompts'];
  readonly #numbers: InvalidatedCache<number>;

  constructor({ prompts, watch }: Pick<ControlStore, 'prompts' | 'watch'>, clock: Clock) {
    this.#prompts = prompts;
    this.#numbers = new InvalidatedCache(REMEMBERED, clock, watch, ['prompts']);
  }

  /** Undefined if the control store must be called: {@link find} does that. */
  known(userId: string, versions: readonly NamedVersion[]): VersionNumbers | undefined {
    const numbers: (number | null)[] = [];
    for (const version of versions) {
      const number = this.#numbers.known(keyOf(userId, version));
      if (number === undefined) return undefined;
      numbers.push(number === MISSING ? null : number);
    }
    return numbers;
  }

  async find(userId: string, versions: readonly NamedVersion[]): Promise<VersionNumbers> {
    const keys = versions.map((version) => keyOf(userId, version));
    const found = keys.map((key) => this.#numbers.known(key));
    const unknown = versions.filter((_, i) => found[i] === undefined);
    const note = this.#numbers.asking();
    const asked = unknown.length === 0 ? [] : await this.#prompts.findNumbers(userId, unknown);
    let next = 0;
    return keys.map((key, i) => {
      const known = found[i];
      if (known !== undefined) return known === MISSING ? null : known;
      const number = asked[next++] ?? null;
      note(key, number ?? MISSING);
      return number;
    });
  }

  close(): void {
    this.#numbers.close();
  }
}

function keyOf(userId: string, { name, version }: NamedVersion): string {
  return `${userId} ${String(version)} ${name}`;
}
