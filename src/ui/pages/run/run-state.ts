import { flag, oneOf, text, type StateOf } from '../../state/codec.js';

const TABS = ['messages', 'json', 'error', 'attributes', 'logs', 'alerts', 'deliveries'] as const;
export type Tab = (typeof TABS)[number] | '';

/** What a link to a run says: the span, how it is looked at, and how the time line is drawn. */
export const RUN_STATE = {
  span: text(),
  tab: oneOf(['', ...TABS], ''),
  q: text(),
  /** The critical path is marked. */
  path: flag(),
  /** Gaps in which nothing happened are narrow. */
  squeeze: flag(true),
  /** Repeats are one row. */
  fold: flag(true),
  /** The span that fills the width. */
  zoom: text(),
};

export type RunState = StateOf<typeof RUN_STATE>;
