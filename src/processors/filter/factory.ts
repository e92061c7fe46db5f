import type { ProcessorFactory } from '../../component/factory.js';
import { conditionProblems } from '../../expressions/conditions.js';
import { eventScope, logScope, pointScope } from '../../expressions/scope/scopes.js';
import { LISTS, type ListName } from './conditions.js';
import { filterConfig } from './config.js';
import { createItemFilter, createTraceFilter } from './filter.js';

export const filterProcessor: ProcessorFactory<typeof filterConfig> = {
  kind: 'processor',
  type: 'filter',
  description: 'Drops spans, traces, log records, metric points and events that match a condition.',
  stability: 'beta',
  configSchema: filterConfig,
  mutatesBatch: false,
  placement: () => 'any',
  check: (config) =>
    (Object.keys(LISTS) as ListName[]).flatMap((list) =>
      conditionProblems(`/${list}`, config[list], LISTS[list]),
    ),
  create: {
    traces: ({ next, ...settings }) => createTraceFilter(settings, next),
    logs: ({ next, ...settings }) => createItemFilter('logs', logScope, settings, next),
    metrics: ({ next, ...settings }) => createItemFilter('metrics', pointScope, settings, next),
    events: ({ next, ...settings }) => createItemFilter('events', eventScope, settings, next),
  },
};
