import {
  Type,
  deliveryKeys,
  section,
  type Component,
  type ConsumeContext,
  type Consumer,
  type Exporter,
  type Host,
  type Plugin,
  type Receipt,
  type TracesBatch,
} from 'jackdaw';

/**
 * A plugin that misbehaves in every way. The agent of the first trace of a batch selects what it does. It is loaded like any plugin, so
 * the isolation applies.
 */

const keys = {
  start: Type.Optional(Type.String({ description: 'What its start does.' })),
  check: Type.Optional(Type.String({ description: 'What its check does.' })),
};

type Next = (batch: TracesBatch, context: ConsumeContext) => Promise<Receipt>;

/** Hanging batches by the id of their first trace; call the function to continue one. */
const hanging = new Map<string, () => void>();

/** For tests, which share only this file with the plugin. */
export function release(traceId: string): void {
  hanging.get(traceId)?.();
  hanging.delete(traceId);
}

/** Every received batch, to check what remains of it. */
export const seen: TracesBatch[] = [];

/** Number of starts that hung. */
export let hungStarts = 0;

async function hang(traceId: string): Promise<void> {
  await new Promise<void>((resolve) => hanging.set(traceId, resolve));
}

/** Not `async`, because it may throw synchronously. */
function misbehave(batch: TracesBatch, context: ConsumeContext, next: Next): Promise<Receipt> {
  const { trace_id: id, agent } = batch.items[0]?.trace ?? { trace_id: '', agent: '' };
  const count = batch.items.length;
  seen.push(batch);
  const answer = (given: unknown) => next(batch, context).then(() => given as Receipt);
  switch (agent) {
    case 'throws':
      throw new TypeError('it broke');
    case 'rejects':
      return Promise.reject(new RangeError('it broke later'));
    case 'rejects-text':
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- that is what it does wrong
      return Promise.reject('only a text');
    case 'foreign-error':
      return Promise.reject(
        Object.assign(new Error('not this one'), {
          name: 'ConsumeError',
          code: 'validation_failed',
          retryable: false,
        }),
      );
    case 'hangs':
      return hang(id).then(() => next(batch, context));
    case 'hangs-behind':
      return next(batch, context).then(async (receipt) => hang(id).then(() => receipt));
    case 'no-receipt':
      return answer(undefined);
    case 'no-numbers':
      return answer({ accepted: 'all', refused: [] });
    case 'refuses-nothing-there':
      return answer({ accepted: count - 1, refused: [{ index: 99, reason: 'no' }] });
    case 'refuses-twice':
      return answer({ accepted: -1, refused: [0, 0, 0].map((index) => ({ index, reason: 'no' })) });
    case 'refuses-without-reason':
      return answer({ accepted: count, refused: [{ index: 0 }] });
    case 'claims-too-much':
      return answer({ accepted: 1e9, refused: [] });
    case 'new-context':
      return next(batch, { receivedAt: context.receivedAt });
    case 'no-context':
      return next(batch, undefined as unknown as ConsumeContext);
    case 'passes-nothing':
      return next(undefined as unknown as TracesBatch, context);
    case 'passes-junk':
      return next({ tenant: batch.tenant, items: [7, 'x'] as unknown as TracesBatch['items'] }, context);
    case 'passes-empty-items':
      return next({ tenant: batch.tenant, items: [{}] as unknown as TracesBatch['items'] }, context);
    case 'changes':
      for (const { trace } of batch.items) trace.outcome = 'changed by chaos';
      return next(batch, context);
    case 'blocks': {
      const end = performance.now() + 50;
      while (performance.now() < end);
      return next(batch, context);
    }
    case 'throws-in-timer':
      setTimeout(() => {
        throw new Error('thrown in a timer');
      });
      return next(batch, context);
    case 'rejects-unseen':
      void Promise.reject(new Error('rejected, and nobody looked'));
      return next(batch, context);
    default:
      return next(batch, context);
  }
}

async function start(how: unknown, host: Host): Promise<void> {
  if (how === 'throws') throw new Error('no licence');
  if (how === 'hangs') {
    hungStarts += 1;
    await new Promise(() => undefined);
  }
  if (how === 'is-fatal') host.reportStatus({ level: 'fatal', message: 'the end' });
}

const about = { description: 'Does everything wrong.', stability: 'development' } as const;
const taken: Next = async ({ items }) => Promise.resolve({ accepted: items.length, refused: [] });
const sink = (): Consumer<TracesBatch> => ({
  consume: (batch, context) => misbehave(batch, context, taken),
});

const plugin: Plugin = {
  name: 'chaos',
  apiVersion: 1,
  factories: [
    {
      ...about,
      kind: 'receiver',
      type: 'chaos',
      signals: ['traces'],
      configSchema: section(keys),
      create({ config, outputs, meter, clock }): Component {
        return {
          async start(host) {
            await start(config.start, host);
            meter.gauge('chaos_value', { description: 'Cannot be read.' }, () => {
              throw new Error('the gauge is broken');
            });
            clock.after(1000, () => {
              throw new Error('the clock called');
            });
            host.listener('localhost:0').route({
              method: 'POST',
              path: '/chaos',
              maxBodyBytes: 1024 * 1024,
              async handle(request) {
                const { userId: tenant } = host.authenticate(request, 'write');
                const { items } = JSON.parse(new TextDecoder().decode(await request.body())) as TracesBatch;
                if (items[0] instanceof Object && items[0].trace.agent === 'never-answers')
                  await new Promise(() => undefined);
                const receipt = await outputs.traces?.consume({ tenant, items }, { receivedAt: clock.now() });
                return { status: 200, body: JSON.stringify(receipt) };
              },
            });
          },
        };
      },
    },
    {
      ...about,
      kind: 'processor',
      type: 'chaos',
      // Incorrect on purpose.
      mutatesBatch: false,
      configSchema: section(keys),
      check({ check }) {
        if (check === 'throws') throw new Error('the check is broken');
        return [];
      },
      create: {
        traces: ({ config, next }) => ({
          start: (host) => start(config.start, host),
          consume: (batch, context) =>
            misbehave(batch, context, (given, received) => next.consume(given, received)),
        }),
      },
    },
    {
      ...about,
      kind: 'exporter',
      type: 'chaos',
      signals: ['traces'],
      delivery: 'direct',
      configSchema: section(keys),
      create: ({ config }): Exporter => ({
        start: (host) => start(config.start, host),
        inputs: { traces: sink() },
      }),
    },
    {
      ...about,
      kind: 'exporter',
      type: 'chaos_queue',
      signals: ['traces'],
      delivery: 'queued',
      configSchema: section({ ...keys, ...deliveryKeys() }),
      create: () => ({ inputs: { traces: sink() } }),
    },
    {
      ...about,
      kind: 'extension',
      type: 'chaos',
      configSchema: section(keys),
      create: ({ config }): Component => ({ start: (host) => start(config.start, host) }),
    },
  ],
};
export default plugin;
