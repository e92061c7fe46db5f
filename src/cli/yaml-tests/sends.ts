import type { ConsumeContext, Refusal } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import { checkSchema } from '../../config/schema-check.js';
import { decodeJson } from '../../otlp/decode/json.js';
import { OtlpDecodeError } from '../../otlp/decode/decode-error.js';
import { otlpConfig, type OtlpConfig } from '../../receivers/otlp/config.js';
import { Intake } from '../../receivers/otlp/intake.js';
import { SIGNALS, TELEMETRY_SIGNALS, type Batches, type Signal } from '../../signal/batch.js';
import { createLogger } from '../../telemetry/logger.js';
import type { Chain } from './chain.js';
import { CountingMeter } from './counting-meter.js';
import { ItemProblem, type Items } from './items.js';
import type { StillClock } from '../../telemetry/still-clock.js';
import { TestProblem } from './test-problem.js';
import type { Case, Input } from './test-schema.js';

const SENDER = '00000000-0000-4000-8000-000000000000';
const FIELDS = { traces: 'resourceSpans', metrics: 'resourceMetrics', logs: 'resourceLogs' } as const;
const EMPTY = {
  kind: 'map',
  position: { file: '', line: 1, column: 1 },
  entries: new Map<string, never>(),
} as const;

/** Gives something to a chain. @returns what was refused of it */
type Send = (chain: Chain) => Promise<readonly Refusal[]>;

/** One call of the chain for each signal of the input, and for each request of OTLP. */
export function sendsOf(
  input: Input,
  items: Items,
  path: readonly string[],
  { identity }: Case,
  clock: StillClock,
): readonly Send[] {
  const tenant = identity?.user_id ?? SENDER;
  const keyId = identity?.key_id ?? null;
  const context: ConsumeContext = { receivedAt: clock.now(), keyId };
  const read = <In, Out>(list: readonly In[], one: (item: In, index: number) => Out): Out[] => {
    try {
      return list.map(one);
    } catch (error) {
      if (error instanceof ItemProblem)
        throw new TestProblem([...path, 'input', ...error.path], error.message);
      throw error;
    }
  };
  const batches: { readonly [S in Signal]: Batches[S] } = {
    traces: { tenant, items: read(input.traces, (item, index) => items.trace(item, index)) },
    metrics: { tenant, items: read(input.metrics, (item, index) => items.point(item, index)) },
    logs: { tenant, items: read(input.logs, (item, index) => items.log(item, index)) },
    events: { tenant, items: read(input.events, (item, index) => items.event(item, index)) },
  };
  const sends: Send[] = SIGNALS.filter((signal) => batches[signal].items.length > 0).map(
    (signal) => async (chain) => (await chain.consume(signal, batches[signal], context)).refused,
  );
  const requests = input.otlp.map(
    (request, index): Send =>
      (chain) =>
        takeOtlp(request, [...path, 'input', 'otlp', String(index)], chain, { tenant, keyId, clock }),
  );
  return [...sends, ...requests];
}

async function takeOtlp(
  request: object,
  path: readonly string[],
  chain: Chain,
  {
    tenant,
    keyId,
    clock,
  }: { readonly tenant: string; readonly keyId: string | null; readonly clock: StillClock },
): Promise<readonly Refusal[]> {
  const outputs = Object.fromEntries(
    TELEMETRY_SIGNALS.map((signal) => [
      signal,
      { consume: (batch: never, context: ConsumeContext) => chain.consume(signal, batch, context) },
    ]),
  );
  const logger = createLogger({
    level: 'error',
    format: 'json',
    output: { write: () => undefined, isTerminal: false },
  });
  const config = checkSchema(otlpConfig, EMPTY, []).value as Settings<OtlpConfig>['config'];
  const intake = new Intake({ id: 'otlp', config, clock, meter: new CountingMeter(), logger, outputs });
  const signals = TELEMETRY_SIGNALS.filter((signal) => FIELDS[signal] in request);
  if (signals.length === 0)
    throw new TestProblem(path, `is no OTLP/JSON: it has none of ${Object.values(FIELDS).join(', ')}`);
  const refused: Refusal[] = [];
  for (const signal of signals) {
    const decode = () => {
      try {
        return decodeJson(signal, structuredClone(request));
      } catch (error) {
        if (error instanceof OtlpDecodeError) throw new TestProblem(path, error.message);
        throw error;
      }
    };
    const { signal: abort } = new AbortController();
    const { rejection } = await intake.take(signal, { decode }, { userId: tenant, keyId }, { abort });
    for (let index = 0; index < (rejection?.count ?? 0); index++)
      refused.push({ index, reason: rejection?.reason ?? '' });
  }
  return refused;
}
