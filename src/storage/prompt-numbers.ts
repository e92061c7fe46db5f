import type { Clock } from '../component/telemetry.js';
import type { ControlPlane } from './control-plane.js';
import type { NamedVersion } from './prompts.js';
import { HintedAnswers } from './hinted-answers.js';
import { LoadedFigures } from './loaded-figures.js';

/** Versions of prompts that are remembered: those that were asked for last. */
const REMEMBERED = 10_000;

/** Numbers of versions, in the order of the question; null for one that there is not. */
export type VersionNumbers = readonly (number | null)[];

/** Gives the numbers of users' prompt versions. A number stays what it is; that there is no such version holds until a hint. */
export class PromptNumbers {
  readonly #prompts: ControlPlane['prompts'];
  readonly #numbers = new LoadedFigures<string, number>(REMEMBERED);
  /** Versions that there are not. */
  readonly #missing: HintedAnswers<true>;

  constructor({ prompts, watch }: Pick<ControlPlane, 'prompts' | 'watch'>, clock: Clock) {
    this.#prompts = prompts;
    this.#missing = new HintedAnswers(REMEMBERED, clock, watch, ['prompts']);
  }

  /** Undefined where the control plane has to be asked: {@link find} does. */
  known(userId: string, versions: readonly NamedVersion[]): VersionNumbers | undefined {
    const numbers: (number | null)[] = [];
    for (const version of versions) {
      const number = this.#known(keyOf(userId, version));
      if (number === undefined) return undefined;
      numbers.push(number);
    }
    return numbers;
  }

  async find(userId: string, versions: readonly NamedVersion[]): Promise<VersionNumbers> {
    const keys = versions.map((version) => keyOf(userId, version));
    const found = keys.map((key) => this.#known(key));
    const unknown = versions.filter((_, i) => found[i] === undefined);
    if (unknown.length === 0) return found.map((number) => number ?? null);
    const note = this.#missing.asking();
    const asked = await this.#prompts.findNumbers(userId, unknown);
    let next = 0;
    return found.map((known, i) => {
      if (known !== undefined) return known;
      const number = asked[next++] ?? null;
      const key = keys[i] ?? '';
      if (number === null) note(key, true);
      else this.#numbers.put(key, number);
      return number;
    });
  }

  close(): void {
    this.#missing.close();
  }

  #known(key: string): number | null | undefined {
    return this.#numbers.get(key) ?? (this.#missing.known(key) === undefined ? undefined : null);
  }
}

function keyOf(userId: string, { name, version }: NamedVersion): string {
  return `${userId} ${String(version)} ${name}`;
}
