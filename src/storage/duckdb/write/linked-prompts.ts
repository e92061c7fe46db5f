import type { PromptLink } from '../../contracts/prompts.js';
import type { IdIndex } from '../index/id-index.js';
import type { PromptStats } from './prompt-stats.js';

/** A link to a prompt version, by its number. */
export interface NumberedLink extends Pick<PromptLink, 'trace_id' | 'span_id'> {
  readonly promptNo: number;
}

/** What a commit that brings links of prompts changes in memory. */
export interface LinkedPrompts {
  /** Every linked trace, whether stored or not, with the last commit that brought links of it. */
  readonly linked: IdIndex;
  readonly stats: PromptStats;
}
