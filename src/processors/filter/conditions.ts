import type { ScopeName } from '../../expressions/scope/scopes.js';
import type { FilterConfig } from './config.js';

/** The scope of each list in the configuration. */
export const LISTS = {
  spans: 'span',
  traces: 'trace',
  logs: 'log',
  metrics: 'point',
  events: 'event',
} as const satisfies Partial<Record<keyof FilterConfig, ScopeName>>;

export type ListName = keyof typeof LISTS;
