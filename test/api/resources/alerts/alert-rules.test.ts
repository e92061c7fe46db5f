import fc from 'fast-check';
import t, { type Test } from 'tap';
import { COMPOSITE, HOOK_URL, makeAlert, UNWATCHED } from '../../../support/alert-calls.js';
import { anyCharacter } from '../../../support/any-character.js';
import { startApi, type TestApi } from '../../../support/api.js';
import { neverDiffers, same } from '../../../support/property.js';

const UUID = '01234567-89ab-7def-8123-456789abcdef';
const SIMPLE = { target_service: 'payments', type: 'failure_rate', threshold: 0.5 };
const [RUNS, METRICS] = COMPOSITE.conditions;

/** An invalid body, the field of the error and the start of its message. */
type Wrong = readonly [body: object, field: string, message: string];

async function refused(t: Test, api: TestApi, method: string, path: string, wrong: Wrong): Promise<void> {
  const [json, field, message] = wrong;
  const answer = await api.call(method, path, { json });
  t.match(answer, { status: 422, body: { code: 'validation_failed' } }, JSON.stringify(json).slice(0, 99));
  const { errors = [] } = answer.body as { errors?: { field: string; message: string }[] };
  t.strictSame(
    errors.map((error) => error.field),
    [field],
    JSON.stringify(answer.body),
  );
  t.ok(errors[0]?.message.startsWith(message), JSON.stringify(errors));
}

const TARGETS: readonly Wrong[] = [
  [{ target_service: undefined }, '/agent_id', 'is required if neither target_service'],
  [{ target_service: null, agent_id: null }, '/agent_id', 'is required if neither target_service'],
  [{ agent_id: UUID }, '/target_service', 'must be absent if agent_id is set'],
  [{ target_service: undefined, agent_id: 'x' }, '/agent_id', 'must be a UUID'],
  [{ target_service: undefined, agent_id: 5 }, '/agent_id', 'must be a string'],
  [{ all_agents: true }, '/target_service', 'must be absent if all_agents is true'],
  [{ all_agents: 1 }, '/all_agents', 'must be'],
  [{ target_service: undefined, all_agents: false }, '/agent_id', 'is required if neither target_service'],
  [{ target_service: ' \n' }, '/target_service', 'must not be blank'],
  [{ target_service: 'x'.repeat(1025) }, '/target_service', 'must not be longer than 1024 characters'],
  [{ target_service: ['a'] }, '/target_service', 'must be a string'],
];

const TYPES: readonly Wrong[] = [
  [{ type: undefined }, '/type', 'is required'],
  [{ type: null }, '/type', 'is required'],
  [{ type: 'metric_threshold' }, '/type', 'must be one of failure_rate, inactivity'],
  [{ type: 'Failure_rate' }, '/type', 'must be one of failure_rate, inactivity'],
  ...['failure_rate', 'inactivity', 'cost_threshold', 'latency_threshold'].flatMap((type): Wrong[] => [
    [{ type, threshold: undefined }, '/threshold', `is required for type ${type}`],
    [{ type, threshold: null }, '/threshold', `is required for type ${type}`],
    [{ type, composite_config: COMPOSITE }, '/composite_config', 'is for type composite only'],
  ]),
  [{ window_minutes: 7 }, '/window_minutes', 'must be one of 5, 15, 30, 60'],
  [{ min_samples: 0 }, '/min_samples', 'must not be less than 1'],
  [{ name: '' }, '/name', 'must not be blank'],
  [{ type: 'inactivity', window_minutes: 5 }, '/window_minutes', 'is not used by type inactivity'],
  [{ type: 'cost_threshold', min_samples: 5 }, '/min_samples', 'is not used by type cost_threshold'],
  [{ is_active: false }, '/is_active', 'is not a known field'],
  [{ agent_name: 'x' }, '/agent_name', 'is not a known field'],
];

/** For new alerts and changes. */
const SHARED: readonly Wrong[] = [
  [{ threshold: '0.5' }, '/threshold', 'must be a number'],
  [{ threshold: -0.001 }, '/threshold', 'must be from 0 to 1 for type failure_rate'],
  [{ threshold: 1.000_000_1 }, '/threshold', 'must be from 0 to 1 for type failure_rate'],
  [{ cooldown_minutes: -1 }, '/cooldown_minutes', 'must not be less than 0'],
  [{ cooldown_minutes: 525_601 }, '/cooldown_minutes', 'must not be more than 525600'],
  [{ cooldown_minutes: '60' }, '/cooldown_minutes', 'must be a number'],
  [{ channel: 'sms' }, '/channel', 'must be one of email, webhook, both'],
  [{ channel: 'webhook' }, '/webhook_url', 'is required for channel webhook'],
  [{ channel: 'both', webhook_url: null }, '/webhook_url', 'is required for channel both'],
  [{ webhook_url: 'http://example.com/' }, '/webhook_url', 'must start with https://'],
  [{ webhook_url: '' }, '/webhook_url', 'must start with https://'],
  [{ webhook_url: 'https://a:b@example.com' }, '/webhook_url', 'must not contain a user name'],
  [{ webhook_url: 'https://169.254.169.254/' }, '/webhook_url', 'must be reachable from the public'],
  [{ webhook_url: 'https://localhost/', channel: 'both' }, '/webhook_url', 'must be reachable from'],
  [{ webhook_url: `https://example.com/${'x'.repeat(2048)}` }, '/webhook_url', 'must not be longer than'],
  [{ webhook_url: 7 }, '/webhook_url', 'must be a string'],
  [{ name: 'x'.repeat(201) }, '/name', 'must not be longer than 200 characters'],
  [{ last_fired_at: null, id: UUID }, '/id', 'is not a known field'],
];

const RANGES: readonly Wrong[] = [
  [{ type: 'inactivity', threshold: -1 }, '/threshold', 'must be from 0 to 87600 for type inactivity'],
  [{ type: 'inactivity', threshold: 87_601 }, '/threshold', 'must be from 0 to 87600 for type inactivity'],
  [{ type: 'cost_threshold', threshold: -0.01 }, '/threshold', 'must be from 0 to 999999999 for type'],
  [{ type: 'cost_threshold', threshold: 1e9 }, '/threshold', 'must be from 0 to 999999999 for type'],
  [{ type: 'latency_threshold', threshold: -5 }, '/threshold', 'must be from 0 to 31536000000 for type'],
  [{ type: 'latency_threshold', threshold: 1e300 }, '/threshold', 'must be from 0 to 31536000000 for'],
];

void t.test('rejects invalid rules and names the field', async (t) => {
  const api = await startApi(t, UNWATCHED);
  for (const [body, ...expected] of [...TARGETS, ...TYPES, ...SHARED, ...RANGES])
    await refused(t, api, 'POST', '/alerts', [{ ...SIMPLE, ...body }, ...expected]);
  for (const text of ['1e400', '-1e400']) {
    const body = JSON.stringify(SIMPLE).replace('0.5', text);
    const headers = { 'content-type': 'application/json' };
    t.match(await api.call('POST', '/alerts', { body, headers }), {
      status: 422,
      body: { errors: [{ field: '/threshold', message: 'must be a number' }] },
    });
  }
  t.strictSame(await api.get('/alerts'), [], 'nothing stored');
});

void t.test('validates a change against the stored alert', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const alert = await makeAlert(api, SIMPLE);
  const patch = async (id: string, wrong: Wrong): Promise<void> => {
    await refused(t, api, 'PATCH', `/alerts/${id}`, wrong);
  };
  for (const wrong of SHARED) await patch(alert.id, wrong);
  for (const [field, value] of Object.entries({
    type: 'inactivity',
    agent_id: UUID,
    target_service: 'x',
    composite_config: COMPOSITE,
    created_at: '2026-01-01T00:00:00Z',
  }))
    await patch(alert.id, [{ [field]: value }, `/${field}`, 'is not a known field']);
  await patch(alert.id, [{ is_active: 'no' }, '/is_active', 'must be a boolean']);
  for (const [{ type, threshold }, field, message] of RANGES as readonly (readonly [
    { readonly type?: string; readonly threshold?: number },
    string,
    string,
  ])[]) {
    const { id } = await makeAlert(api, { type, threshold: 1 });
    await patch(id, [{ threshold }, field, message]);
    await api.call('DELETE', `/alerts/${id}`);
  }
  t.strictSame(await api.get('/alerts'), [alert], 'nothing changed');
  const composite = await makeAlert(api, { type: 'composite', composite_config: COMPOSITE });
  await patch(composite.id, [{ threshold: 0.5 }, '/threshold', 'is not used by a composite alert']);
  t.strictSame(await api.get(`/alerts/${composite.id}`), composite);
  t.equal((await api.call('PATCH', `/alerts/${alert.id}`, { json: { webhook_url: HOOK_URL } })).status, 200);
  t.match(await api.call('PATCH', `/alerts/${alert.id}`, { json: { channel: 'both' } }), {
    status: 200,
    body: { channel: 'both', webhook_url: HOOK_URL },
  });
});

const CONFIG = '/composite_config';
const CONDITIONS = `${CONFIG}/conditions`;

/** The second of three conditions and its error. */
const CONDITION_RULES: readonly (readonly [condition: unknown, path: string, message: string])[] = [
  [null, '', 'must be an object'],
  [[], '', 'must be an object'],
  [{ ...RUNS, type: undefined }, '/type', 'is required'],
  [{ ...RUNS, type: 'latency_threshold' }, '/type', 'must be one of failure_rate, inactivity, cost_'],
  [
    { ...RUNS, type: 'composite' },
    '/type',
    'must be one of failure_rate, inactivity, cost_threshold, metric',
  ],
  [{ ...RUNS, source: undefined }, '/source', 'is required'],
  [{ ...RUNS, source: 'both' }, '/source', 'must be one of ai, infra'],
  [{ ...RUNS, source: 'infra' }, '/source', 'must be ai for type failure_rate'],
  [{ ...METRICS, source: 'ai' }, '/source', 'must be infra for type metric_threshold'],
  [{ ...RUNS, threshold: undefined }, '/threshold', 'is required for type failure_rate'],
  [{ ...RUNS, threshold: '1' }, '/threshold', 'must be a number'],
  [{ ...RUNS, threshold: 1.5 }, '/threshold', 'must be from 0 to 1 for type failure_rate'],
  [{ ...RUNS, type: 'inactivity', threshold: -1 }, '/threshold', 'must be from 0 to 87600'],
  [{ ...RUNS, type: 'cost_threshold', threshold: 1e10 }, '/threshold', 'must be from 0 to 999999999'],
  [{ ...RUNS, metric_name: 'x' }, '/metric_name', 'is not a field of type failure_rate'],
  [{ ...RUNS, operator: 'gt' }, '/operator', 'is not a field of type failure_rate'],
  [{ ...RUNS, value: 0 }, '/value', 'is not a field of type failure_rate'],
  [{ ...METRICS, threshold: 0 }, '/threshold', 'is not a field of type metric_threshold'],
  [{ ...METRICS, metric_name: undefined }, '/metric_name', 'is required for type metric_threshold'],
  [{ ...METRICS, metric_name: '' }, '/metric_name', 'must not be empty'],
  [{ ...METRICS, metric_name: 'x'.repeat(1025) }, '/metric_name', 'must not be longer than 1024'],
  [{ ...METRICS, operator: undefined }, '/operator', 'is required for type metric_threshold'],
  [{ ...METRICS, operator: 'eq' }, '/operator', 'must be one of gt, lt, gte, lte'],
  [{ ...METRICS, value: undefined }, '/value', 'is required for type metric_threshold'],
  [{ ...METRICS, value: '10' }, '/value', 'must be a number'],
  [{ ...METRICS, window: '5m' }, '/window', 'is not a known field'],
];

void t.test('rejects invalid conditions of composite alerts', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const twice = <Item>(item: Item): readonly Item[] => [item, item];
  const configs: readonly (readonly [unknown, string, string])[] = [
    [undefined, CONFIG, 'is required for type composite'],
    [null, CONFIG, 'is required for type composite'],
    [[], CONFIG, 'must be an object'],
    ['and', CONFIG, 'must be an object'],
    [{ ...COMPOSITE, operator: undefined }, `${CONFIG}/operator`, 'is required'],
    [{ ...COMPOSITE, operator: 'xor' }, `${CONFIG}/operator`, 'must be one of and, or'],
    [{ operator: 'and' }, CONDITIONS, 'is required'],
    [{ ...COMPOSITE, conditions: {} }, CONDITIONS, 'must be an array'],
    [{ ...COMPOSITE, conditions: [] }, CONDITIONS, 'must have at least 2 entries'],
    [{ ...COMPOSITE, conditions: [RUNS] }, CONDITIONS, 'must have at least 2 entries'],
    [
      { ...COMPOSITE, conditions: twice(RUNS) },
      CONDITIONS,
      'must have at least one condition with source infra',
    ],
    [
      { ...COMPOSITE, conditions: twice(METRICS) },
      CONDITIONS,
      'must have at least one condition with source ai',
    ],
    [
      { ...COMPOSITE, conditions: [METRICS, ...Array<unknown>(10).fill(RUNS)] },
      CONDITIONS,
      'must have at most 10',
    ],
    [{ ...COMPOSITE, for: '5m' }, `${CONFIG}/for`, 'is not a known field'],
    ...CONDITION_RULES.map(
      ([condition, path, message]) =>
        [
          { operator: 'or', conditions: [RUNS, condition, METRICS] },
          `${CONDITIONS}/1${path}`,
          message,
        ] as const,
    ),
  ];
  for (const [composite_config, field, message] of configs)
    await refused(t, api, 'POST', '/alerts', [
      { target_service: 'a', type: 'composite', composite_config },
      field,
      message,
    ]);
  const several = {
    type: 'composite',
    threshold: 0,
    channel: 'both',
    composite_config: {
      operator: 'and',
      conditions: [
        { type: 'failure_rate', source: 'infra', threshold: 2 },
        { type: 'metric_threshold', source: 'infra' },
      ],
    },
  };
  const answer = await api.call('POST', '/alerts', { json: several });
  t.same((answer.body as { errors: { field: string }[] }).errors.map(({ field }) => field).sort(), [
    '/agent_id',
    CONDITIONS,
    `${CONDITIONS}/0/source`,
    `${CONDITIONS}/0/threshold`,
    `${CONDITIONS}/1/metric_name`,
    `${CONDITIONS}/1/operator`,
    `${CONDITIONS}/1/value`,
    '/webhook_url',
  ]);
  t.strictSame(await api.get('/alerts'), [], 'nothing stored');
});

/** Any JSON instead of a number, word or condition. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.constantFrom(
    ...['ai', 'infra', 'gt', 'lte', 'failure_rate', 'metric_threshold', 'cost_threshold'],
    0.5,
    1e308,
  ),
);
const condition = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('metric_threshold'),
      source: fc.constant('infra'),
      metric_name: fc.string({ minLength: 1, unit: anyCharacter }),
      operator: fc.constantFrom('gt', 'lt', 'gte', 'lte'),
      value: fc.double({ noNaN: true, noDefaultInfinity: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('failure_rate', 'inactivity', 'cost_threshold'),
      source: fc.constant('ai'),
      threshold: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        type: anything,
        source: anything,
        threshold: anything,
        metric_name: anything,
        operator: anything,
        value: anything,
      },
      { requiredKeys: [] },
    ),
  },
);
const composite = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  {
    weight: 8,
    arbitrary: fc.record({
      operator: fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom('and', 'or') },
        { weight: 1, arbitrary: anything },
      ),
      conditions: fc.array(condition, { maxLength: 5 }),
    }),
  },
);

void t.test('any composite configuration is either rejected or returned unchanged', async (t) => {
  const api = await startApi(t, UNWATCHED);
  let taken = 0;
  await neverDiffers(t, { runs: 200, ms: 2000 }, [composite], async (composite_config) => {
    const json = { target_service: 'a', type: 'composite', composite_config };
    const { status, body } = await api.call('POST', '/alerts', { json });
    if (status === 422) return;
    if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
    taken++;
    const found = (body as { readonly composite_config: unknown }).composite_config;
    // Normalized as JSON: no -0, and a null field is absent.
    const sent = JSON.parse(
      JSON.stringify(composite_config),
      (_, value: unknown) => value ?? undefined,
    ) as unknown;
    same(found, sent);
  });
  t.ok(taken > 0, `${taken} accepted`);
});
