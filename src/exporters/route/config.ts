import { Type, type Static } from 'typebox';
import type { NamedPipeline } from '../../component/factory.js';
import { parseComponentId } from '../../component/component-id.js';
import { choice, section } from '../../config/schema.js';
import { conditionProblems } from '../../expressions/conditions.js';
import { ON_ERROR } from '../../expressions/failures.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../signal/batch.js';

/** The scope of conditions for each signal. */
export const SCOPE_OF = { traces: 'trace', metrics: 'point', logs: 'log' } as const satisfies Record<
  TelemetrySignal,
  string
>;

const pipelines = (description: string, options: { default?: string[]; minItems?: number }) =>
  Type.Array(
    Type.String({
      pattern: '^(traces|metrics|logs)(/.+)?$',
      patternErrorMessage: 'must be a pipeline for traces, metrics or logs, such as traces/archive',
    }),
    { description, uniqueItems: true, ...options },
  );

export const routeConfig = section({
  routes: Type.Array(
    section({
      condition: Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'Condition in CEL; it must be valid for the signal of each of the pipelines.',
      }),
      pipelines: pipelines('Pipelines that get the matching items of their signal.', { minItems: 1 }),
    }),
    { default: [], description: 'Routes in order; an item takes the first one that matches.' },
  ),
  default_pipelines: pipelines('Pipelines for items that no route matches. Default: they are dropped.', {
    default: [],
  }),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description: 'Handling of items whose condition cannot be evaluated; keep tries the next route.',
  }),
});

export type RouteConfig = Static<typeof routeConfig>;

/** The pipelines of a signal in a list. */
export function ofSignal(names: readonly string[], signal: TelemetrySignal): readonly string[] {
  return names.filter((name) => parseComponentId(name)?.type === signal);
}

export function checkRoute({ routes }: RouteConfig): { readonly path: string; readonly message: string }[] {
  return routes.flatMap(({ condition, pipelines }, at) => {
    const problems = TELEMETRY_SIGNALS.filter((signal) => ofSignal(pipelines, signal).length > 0).flatMap(
      (signal) =>
        conditionProblems('', [condition], SCOPE_OF[signal]).map(
          ({ message }) => `is no condition for ${signal}: ${message}`,
        ),
    );
    const path = `/routes/${at}/condition`;
    return [...new Set(problems)].map((message) => ({ path, message }));
  });
}

/** Every pipeline of the configuration, once. */
export function pipelinesOf({ routes, default_pipelines }: RouteConfig): readonly NamedPipeline[] {
  const all = [
    ...routes.flatMap(({ pipelines }, route) =>
      pipelines.map((name, at) => ({ name, path: ['routes', String(route), 'pipelines', String(at)] })),
    ),
    ...default_pipelines.map((name, at) => ({ name, path: ['default_pipelines', String(at)] })),
  ];
  return all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
}
