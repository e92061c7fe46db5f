import { flag, oneOf, text, type StateOf } from '../../state/codec.js';

/** Tabs of the selected span. */
export const SPAN_TABS = ['messages', 'json', 'attributes', 'logs'] as const;
/** Tabs of the run; a tab of the span is shown under `span`. */
export const RUN_TABS = ['conversation', 'span', 'alerts', 'deliveries'] as const;

export type SpanTab = (typeof SPAN_TABS)[number];
export type RunTab = (typeof RUN_TABS)[number];

/** URL state of a run: the selected span, its tab, and timeline options. */
export const RUN_STATE = {
  span: text(),
  /** Empty: the conversation, or the span if one is selected. */
  tab: oneOf(['', ...RUN_TABS, ...SPAN_TABS], ''),
  /** The panel fills the window. */
  full: flag(),
  q: text(),
  /** Mark the critical path. */
  path: flag(),
  /** Collapse idle time. */
  squeeze: flag(true),
  /** Group repeats. */
  fold: flag(true),
  /** The span that fills the width. */
  zoom: text(),
  /** The query of the list whose unrated runs are reviewed; `-` for the list without filters. */
  review: text(),
};

export type RunState = StateOf<typeof RUN_STATE>;
