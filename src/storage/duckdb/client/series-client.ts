import type { FoundSeries, Series, SeriesRequest } from '../../contracts/runs.js';
import type { StoreReach } from './store-reach.js';

/** The contract `Series` for the daemon's thread. */
export class SeriesClient implements Series {
  readonly #reach: StoreReach;

  constructor(reach: StoreReach) {
    this.#reach = reach;
  }

  async read(
    userId: string,
    { prompt, ...request }: SeriesRequest,
    abort?: AbortSignal,
  ): Promise<FoundSeries> {
    const prompts =
      prompt === undefined ? undefined : await this.#reach.opened.control.prompts.numbersOf(userId, prompt);
    const asked = prompts === undefined ? request : { ...request, prompts };
    return await this.#reach.read(userId, 'series', 'read', [asked], abort);
  }
}
