import { oneOf, text, type StateOf } from '../../state/codec.js';

/** URL state of the page. */
export const STATE = {
  view: oneOf(['pipelines', 'components', 'configuration'], 'pipelines'),
  /** Empty for the first pipeline. */
  pipeline: text(),
  /** Key of the selected edge. */
  edge: text(),
};

/** Stands for all pipelines; not a valid pipeline name. */
export const ALL_PIPELINES = '*';

export type DaemonState = StateOf<typeof STATE>;
export type ChangeDaemon = (some: Partial<DaemonState>, step?: 'push' | 'replace') => void;

export const NO_RATE = 'Rates need two samples a few seconds apart';
export const NO_P99 = 'No batches in the last two minutes';
export const NO_QUEUE = 'No queue';
