import type { ConsumeContext, Receipt, Refusal } from '../../component/consumer.js';
import { decodeJson } from '../../otlp/decode/json.js';
import { OtlpDecodeError } from '../../otlp/decode/decode-error.js';
import { SIGNALS, TELEMETRY_SIGNALS, type Batches, type Signal } from '../../signal/batch.js';
import type { StillClock } from '../../telemetry/still-clock.js';
import { ItemProblem, type Items } from './items.js';
import { otlpIntake } from './otlp-intake.js';
import { TestProblem } from './test-problem.js';
import type { Case, Input } from './test-schema.js';

/** The default sender. */
const SENDER = '00000000-0000-4000-8000-000000000000';
const FIELDS = { traces: 'resourceSpans', metrics: 'resourceMetrics', logs: 'resourceLogs' } as const;

/** The receiver of input: a chain, or the pipelines of a daemon. */
interface Taking {
  /** @throws ConsumeError if no item of the batch is accepted */
  consume<S extends Signal>(signal: S, batch: Batches[S], context: ConsumeContext): Promise<Receipt>;
}

/**
 * Sends input.
 *
 * @returns the refused items
 */
type Send = (taking: Taking) => Promise<readonly Refusal[]>;

/**
 * Creates one call for each signal of the input and for each OTLP request.
 *
 * @param identity of the sender; absent: a default sender
 */
export function sendsOf(
  input: Input,
  items: Items,
  path: readonly string[],
  identity: Case['identity'],
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
    (signal) => async (taking) => (await taking.consume(signal, batches[signal], context)).refused,
  );
  const requests = input.otlp.map(
    (request, index): Send =>
      (taking) =>
        takeOtlp(request, [...path, 'input', 'otlp', String(index)], taking, { tenant, keyId, clock }),
  );
  return [...sends, ...requests];
}

async function takeOtlp(
  request: object,
  path: readonly string[],
  taking: Taking,
  {
    tenant,
    keyId,
    clock,
  }: { readonly tenant: string; readonly keyId: string | null; readonly clock: StillClock },
): Promise<readonly Refusal[]> {
  const outputs = Object.fromEntries(
    TELEMETRY_SIGNALS.map((signal) => [
      signal,
      { consume: (batch: never, context: ConsumeContext) => taking.consume(signal, batch, context) },
    ]),
  );
  const intake = otlpIntake(clock, outputs);
  const signals = TELEMETRY_SIGNALS.filter((signal) => FIELDS[signal] in request);
  if (signals.length === 0)
    throw new TestProblem(path, `is not OTLP/JSON: it has none of ${Object.values(FIELDS).join(', ')}`);
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
