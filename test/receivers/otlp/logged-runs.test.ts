import t from 'tap';
import { Value } from 'typebox/value';
import { ConsumeError } from '../../../src/component/consume-error.js';
import type { Consumer } from '../../../src/component/consumer.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { otlpConfig } from '../../../src/receivers/otlp/config.js';
import { Intake } from '../../../src/receivers/otlp/intake.js';
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

/** Sends the request; `order` is what arrived in which pipeline. */
async function take(refusal?: ConsumeError): Promise<{ readonly order: string[]; readonly error: unknown }> {
  const order: string[] = [];
  const output = (name: string, error?: ConsumeError): Consumer<Batch<unknown>> => ({
    consume: async ({ items }, { batch }) => {
      // A pipeline takes its time.
      await new Promise(setImmediate);
      if (error !== undefined) throw error;
      order.push(`${items.length} ${name}, batch ${batch?.id ?? 'without id'}`);
      return { accepted: items.length, refused: [] };
    },
  });
  const outputs = { traces: output('runs', refusal), logs: output('records') };
  const config = Value.Parse(otlpConfig, Value.Default(otlpConfig, {}));
  const intake = new Intake({ ...componentSettings('otlp'), config, outputs });
  const { signal: abort } = new AbortController();
  const error: unknown = await intake
    .take('logs', { decode: () => REQUEST }, SENDER, { abort, batchId: 'b' })
    .then(
      () => null,
      (reason: unknown) => reason,
    );
  return { order, error };
}

void t.test('records are stored after the runs that they tell of', async (t) => {
  const both = ['1 runs, batch without id', '1 records, batch b'];
  t.strictSame(await take(), { order: both, error: null });
  t.strictSame(await take(REFUSALS.later), { order: [], error: REFUSALS.later }, 'the client repeats both');
  t.strictSame(
    await take(REFUSALS.never),
    { order: ['1 records, batch b'], error: null },
    'runs that are refused for good do not keep out the records',
  );
});
