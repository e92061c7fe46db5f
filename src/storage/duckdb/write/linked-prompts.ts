import type { PromptLink } from '../../contracts/prompts.js';
import type { IdIndex } from '../index/id-index.js';
import type { PromptStats } from './prompt-stats.js';

/** A link to a prompt version, by its number. */
export interface NumberedLink extends Pick<PromptLink, 'trace_id' | 'span_id'> {
  readonly promptNo: number;
}

/** In-memory state that a commit with prompt links changes. */
export interface LinkedPrompts {
  /** Every linked trace, stored or not, with the last commit that wrote a link of it. */
  readonly linked: IdIndex;
  readonly stats: PromptStats;
}
