import t from 'tap';
import { Value } from 'typebox/value';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { Consumer, Receipt } from '../../../src/component/consumer.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { otlpConfig } from '../../../src/receivers/otlp/config.js';
import { Intake, type Taken } from '../../../src/receivers/otlp/intake.js';
import type { Batch } from '../../../src/signal/batch.js';
import { componentSettings } from '../../support/component-settings.js';

const SENDER = { userId: '00000000-0000-4000-8000-000000000000', keyId: null };
const REQUEST = {
  resourceLogs: [
    {
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: '1795978208162000000',
              attributes: toKeyValues({
                'event.name': 'claude_code.api_request',
                'prompt.id': 'p',
                model: 'm',
                input_tokens: 1,
                output_tokens: 2,
              }),
            },
          ],
        },
      ],
    },
  ],
};

const REFUSALS = {
  later: new ConsumeError('full', { code: 'overloaded', retryable: true }),
  never: new ConsumeError('odd', { code: 'validation_failed', retryable: false }),
};

const USAGE = { limit: 9, used: 3, resets_at: 0 };
const REFUSED = { accepted: 0, refused: [{ index: 0, reason: 'too deep' }], usage: USAGE };

/** Sends the request; `order` is what arrived in which pipeline. */
async function take(
  runs: ConsumeError | Receipt = { accepted: 1, refused: [] },
): Promise<{ readonly order: string[]; readonly error: unknown; readonly taken: Taken | null }> {
  const order: string[] = [];
  const output = (name: string, answer?: ConsumeError | Receipt): Consumer<Batch<unknown>> => ({
    consume: async ({ items }, { batch }) => {
      // A pipeline takes its time.
      await new Promise(setImmediate);
      if (answer instanceof ConsumeError) throw answer;
      order.push(`${items.length} ${name}, batch ${batch?.id ?? 'without id'}`);
      return answer ?? { accepted: items.length, refused: [] };
    },
  });
  const outputs = { traces: output('runs', runs), logs: output('records') };
  const config = Value.Parse(otlpConfig, Value.Default(otlpConfig, {}));
  const intake = new Intake({ ...componentSettings('otlp'), config, outputs });
  const { signal: abort } = new AbortController();
  try {
    const taken = await intake.take('logs', { decode: () => REQUEST }, SENDER, { abort, batchId: 'b' });
    return { order, error: null, taken };
  } catch (error) {
    return { order, error, taken: null };
  }
}

const accepted = (reason?: string): Taken => ({
  rejection: reason === undefined ? undefined : { count: 0, reason },
  usage: undefined,
});

void t.test('records are stored after the runs that they tell of', async (t) => {
  const both = ['1 runs, batch without id', '1 records, batch b'];
  t.strictSame(await take(), { order: both, error: null, taken: accepted() });
  t.strictSame(
    await take(REFUSALS.later),
    { order: [], error: REFUSALS.later, taken: null },
    'the client repeats both',
  );
  t.strictSame(
    await take(REFUSALS.never),
    { order: ['1 records, batch b'], error: null, taken: accepted('runs of log events: odd') },
    'runs that are refused for good do not keep out the records, but the client is told',
  );
  const { order, taken } = await take(REFUSED);
  t.strictSame(order, both);
  t.strictSame(taken, { ...accepted('runs of log events: too deep'), usage: USAGE });
});
