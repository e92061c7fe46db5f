import { oneOf, text, type StateOf } from '../../state/codec.js';

/** What the URL of the page says. */
export const STATE = {
  view: oneOf(['pipelines', 'components', 'configuration'], 'pipelines'),
  /** Empty for the first one. */
  pipeline: text(),
  /** The key of the edge that is looked at. */
  edge: text(),
};

/** Instead of the name of a pipeline. No pipeline can be called so. */
export const ALL_PIPELINES = '*';

export type DaemonState = StateOf<typeof STATE>;
export type ChangeDaemon = (some: Partial<DaemonState>, step?: 'push' | 'replace') => void;

export const NO_RATE = 'Rates need two samples a few seconds apart';
export const NO_P99 = 'No batches in the last two minutes';
export const NO_QUEUE = 'No queue';
