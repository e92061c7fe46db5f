import { flag, oneOf, text, type StateOf } from '../../state/codec.js';

const TABS = ['messages', 'json', 'error', 'attributes', 'logs', 'alerts', 'deliveries'] as const;
export type Tab = (typeof TABS)[number] | '';

/** URL state of a run: the selected span, its tab, and timeline options. */
export const RUN_STATE = {
  span: text(),
  tab: oneOf(['', ...TABS], ''),
  q: text(),
  /** Mark the critical path. */
  path: flag(),
  /** Collapse idle time. */
  squeeze: flag(true),
  /** Group repeats. */
  fold: flag(true),
  /** The span that fills the width. */
  zoom: text(),
};

export type RunState = StateOf<typeof RUN_STATE>;
