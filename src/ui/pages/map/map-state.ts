import { AGAINST } from '../../graph/hours.js';
import { integer, oneOf, text, type StateOf } from '../../state/codec.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';

/** URL state of the map. */
export const STATE = {
  range: rangeField(PAGE_RANGES['/map']),
  /** Start of the selected hour; empty for all hours. */
  at: text(),
  view: oneOf(['graph', 'table', 'changes'], 'graph'),
  /** The selected node. */
  node: text(),
  /** Hops around the node; 0 for everything. */
  hops: integer(0, 0, 3),
  q: text(),
  against: oneOf(Object.keys(AGAINST) as (keyof typeof AGAINST)[], 'before'),
};

export type MapState = StateOf<typeof STATE>;
export type ChangeMap = (some: Partial<MapState>, step?: 'push' | 'replace') => void;

export const NO_ERRORS = 'Some hours were counted by an older version; run jackdaw map rebuild';
export const NO_P95 = 'No span has ended, or some hours were counted by an older version';
