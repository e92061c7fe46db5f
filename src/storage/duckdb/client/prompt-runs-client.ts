import type { Micros } from '../../../signal/time.js';
import type { PromptLink, PromptRuns, PromptVersionFigures } from '../../contracts/prompts.js';
import type { StoreReach } from './store-reach.js';

/** The contract `PromptRuns` for the daemon's thread. */
export class PromptRunsClient implements PromptRuns {
  readonly #reach: StoreReach;

  constructor(reach: StoreReach) {
    this.#reach = reach;
  }

  async link(userId: string, link: PromptLink, now: Micros): Promise<boolean> {
    const { prompt_name: name, prompt_version: version, trace_id, span_id } = link;
    const { users, prompts, order } = this.#reach.opened.known;
    const asked = [{ name, version }];
    return await order.send(
      userId,
      async () =>
        await Promise.all([
          users.known(userId) ?? users.find(userId),
          prompts.known(userId, asked) ?? prompts.find(userId, asked),
        ]),
      async ([{ tenant }, [promptNo = null]]) => {
        if (promptNo === null) return false;
        await this.#reach.change('linkPrompt', tenant, { promptNo, trace_id, span_id }, now);
        return true;
      },
    );
  }

  async compare(
    userId: string,
    name: string,
    abort?: AbortSignal,
  ): Promise<readonly PromptVersionFigures[] | null> {
    const versions = await this.#reach.opened.control.prompts.numbersOf(userId, name);
    if (versions.length === 0) return null;
    return await this.#reach.read(userId, 'prompts', 'compare', [versions], abort);
  }
}
