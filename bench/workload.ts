import type { BatchBody } from '../src/cli/demo/body.js';
import type { TelemetrySignal } from '../src/signal/batch.js';
import { readRejection } from '../src/otlp/decode/answer.js';
import { BatchTemplate } from './batch-template.js';
import type { BodyTemplate } from './body-template.js';
import { exactBatches } from './exact-batches.js';
import type { LoadKind, LoadPlan } from './load-plan.js';
import { promptAttributes, singleCalls } from './prompt-calls.js';
import { OtlpLogsTemplate } from './otlp-logs-template.js';
import { OtlpMetricsTemplate } from './otlp-metrics-template.js';
import { OtlpTracesTemplate } from './otlp-traces-template.js';

/** How bodies of a kind are built and sent, and how responses are read. */
export interface Workload {
  readonly path: string;
  readonly contentType: string;
  /** Returns the number of refused items. @param body body of a response with status 200 */
  rejected(body: Buffer): number;
  /** Generates different bodies endlessly. */
  templates(plan: LoadPlan): Generator<BodyTemplate, never>;
}

export const WORKLOADS: Readonly<Record<LoadKind, Workload>> = {
  batch: {
    path: '/api/v1/traces/batch',
    contentType: 'application/json',
    rejected: (body) => (JSON.parse(body.toString()) as { readonly rejected: number }).rejected,
    templates: (plan) => ofRuns(plan, (batch) => new BatchTemplate(batch)),
  },
  traces: otlp('traces', (plan) => ofRuns(plan, (batch) => new OtlpTracesTemplate(batch))),
  prompts: otlp('traces', function* (plan) {
    const calls = singleCalls(batchesOf(plan), plan.itemsPerRequest);
    for (;;) yield new OtlpTracesTemplate(calls.next().value, promptAttributes);
  }),
  metrics: otlp('metrics', ({ seed, itemsPerRequest }) =>
    numbered((number) => new OtlpMetricsTemplate(`${seed}/${number}`, itemsPerRequest)),
  ),
  logs: otlp('logs', ({ seed, itemsPerRequest }) =>
    numbered((number) => new OtlpLogsTemplate(`${seed}/${number}`, itemsPerRequest)),
  ),
};

function otlp(signal: TelemetrySignal, templates: Workload['templates']): Workload {
  return {
    path: `/v1/${signal}`,
    contentType: 'application/x-protobuf',
    rejected: (body) => readRejection(signal, body, 'protobuf')?.count ?? 0,
    templates,
  };
}

function* ofRuns(plan: LoadPlan, make: (batch: BatchBody) => BodyTemplate): Generator<BodyTemplate, never> {
  const batches = batchesOf(plan);
  for (;;) yield make(batches.next().value);
}

function batchesOf({ seed, itemsPerRequest: spans }: LoadPlan): Generator<BatchBody, never> {
  return exactBatches({ seed, spans, untilMs: Date.now() });
}

function* numbered(make: (number: number) => BodyTemplate): Generator<BodyTemplate, never> {
  for (let number = 0; ; number += 1) yield make(number);
}
