import { AGAINST } from '../../graph/hours.js';
import { integer, oneOf, text, type StateOf } from '../../state/codec.js';
import { rangeField } from '../../state/range.js';

/** What the URL of the map says. */
export const STATE = {
  range: rangeField('24h'),
  /** One hour of the range, as its start; empty: all of them. */
  at: text(),
  view: oneOf(['graph', 'table', 'changes'], 'graph'),
  /** The node that is looked at. */
  node: text(),
  /** How far around it; 0: everything. */
  hops: integer(0, 0, 3),
  q: text(),
  against: oneOf(Object.keys(AGAINST) as (keyof typeof AGAINST)[], 'before'),
};

export type MapState = StateOf<typeof STATE>;
export type ChangeMap = (some: Partial<MapState>, step?: 'push' | 'replace') => void;

export const NO_ERRORS = 'Some hours were counted by an older version; run jackdaw map rebuild';
export const NO_P95 = 'No span has ended, or some hours were counted by an older version';
