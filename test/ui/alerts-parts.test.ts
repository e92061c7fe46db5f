import t from 'tap';
import {
  fromRule,
  limitOf,
  limitText,
  problemsOf,
  toNewRule,
  toTried,
  type Draft,
} from '../../src/ui/pages/alerts/draft.js';
import { memberText } from '../../src/ui/json/member-text.js';
import { EVENT_TYPES as ALL_TYPES } from '../../src/signal/event.js';
import { endpointName, EVENT_TYPES, outageStart } from '../../src/ui/pages/webhooks/labels.js';
import { formatCondition, formatFound, formatRule, type Rule } from '../../src/ui/pages/alerts/labels.js';

const DRAFT: Draft = {
  of: 'agent',
  agent: 'a1',
  service: '',
  type: 'failure_rate',
  limit: '12.5',
  cooldown: '30',
  channel: 'email',
  url: 'https://example.com/left-over',
  operator: 'and',
  score: '',
  direction: 'below',
  samples: '5',
  name: '',
  window: '',
  minimum: '',
  conditions: [
    { type: 'failure_rate', limit: '10', metric: 'x', operator: 'gt' },
    { type: 'metric_threshold', limit: '5', metric: ' queue.depth ', operator: 'gte' },
  ],
};
const RULE: Rule = {
  id: 'r1',
  agent_id: null,
  agent_name: null,
  all_agents: false,
  type: 'cost_threshold',
  threshold: 5,
  cooldown_minutes: 60,
  is_active: false,
  is_firing: false,
  channel: 'both',
  webhook_url: 'https://example.com/secret',
  composite_config: null,
  score_config: null,
  name: null,
  window_minutes: null,
  min_samples: null,
  target_service: 'payments',
  last_fired_at: null,
  created_at: '2026-11-20T12:00:00Z',
};

void t.test('shows rules in readable units', async (t) => {
  t.equal(formatRule(RULE), 'Daily cost above $5.00');
  t.equal(formatCondition({ type: 'inactivity', threshold: 6 }), 'No activity for 6 h');
  t.equal(formatFound('latency_threshold', 1500), '1.5 s');
  t.equal(formatFound('composite', 1), 'met');
  const composite_config = {
    operator: 'or' as const,
    conditions: [
      { type: 'failure_rate' as const, source: 'ai' as const, threshold: 0.07 },
      {
        type: 'metric_threshold' as const,
        source: 'infra' as const,
        metric_name: 'queue.depth',
        operator: 'lte' as const,
        value: 3,
      },
    ],
  };
  t.equal(
    formatRule({ type: 'composite', threshold: 0, composite_config } as unknown as Rule),
    'Failure rate above 7% or queue.depth at most 3',
  );
});

void t.test('converts limits to the units of the API and back', async (t) => {
  for (let tenths = 0; tenths <= 1000; tenths++) {
    const text = String(tenths / 10);
    const share = limitOf('failure_rate', text);
    t.equal(limitText('failure_rate', share ?? NaN), text);
  }
  t.equal(limitOf('cost_threshold', '0.1'), 0.1);
  t.equal(limitOf('latency_threshold', '1.1'), 1100, 'seconds');
  t.equal(limitText('latency_threshold', 30_000), '30');
  for (const text of ['', ' ', 'x', '1,5', 'Infinity'])
    t.equal(limitOf('cost_threshold', text), undefined, text);
});

void t.test('sends only the fields of the type and channel', async (t) => {
  const windowed = { ...DRAFT, of: 'all' as const, name: ' budget ', window: '15', minimum: '20' };
  t.match(toNewRule(windowed), {
    name: 'budget',
    agent_id: undefined,
    all_agents: true,
    window_minutes: 15,
    min_samples: 20,
  });
  const costs = toNewRule({ ...windowed, type: 'cost_threshold' });
  t.notOk(costs === null || 'window_minutes' in costs || 'min_samples' in costs, 'of the day');
  const byDefault = { window_minutes: null, min_samples: null };
  t.strictSame(toNewRule(DRAFT), {
    agent_id: 'a1',
    type: 'failure_rate',
    ...byDefault,
    threshold: 0.125,
    cooldown_minutes: 30,
    channel: 'email',
  });
  t.strictSame(toNewRule({ ...DRAFT, of: 'service', service: ' payments ', limit: '', channel: 'both' }), {
    target_service: 'payments',
    type: 'failure_rate',
    ...byDefault,
    cooldown_minutes: 30,
    channel: 'both',
    webhook_url: 'https://example.com/left-over',
  });
  t.equal(toNewRule({ ...DRAFT, agent: '' }), null, 'no target');
  t.strictSame(toNewRule({ ...DRAFT, type: 'composite' })?.['composite_config'], {
    operator: 'and',
    conditions: [
      { type: 'failure_rate', source: 'ai', threshold: 0.1 },
      { type: 'metric_threshold', source: 'infra', metric_name: 'queue.depth', operator: 'gte', value: 5 },
    ],
  });
});

void t.test('previewing a rule sends no notification', async (t) => {
  const tried = { target_service: 'payments', type: 'cost_threshold', threshold: 5, cooldown_minutes: 60 };
  t.strictSame(fromRule(RULE), { ...tried, channel: 'email' });
  const wanted = { ...tried, channel: 'webhook', webhook_url: 'https://example.com/secret' };
  t.strictSame(JSON.parse(JSON.stringify(toTried(wanted))), { ...tried, channel: 'email' });
});

void t.test('finds problems by field name, also of a preview', async (t) => {
  const problems = problemsOf([
    { field: '/alert/composite_config/conditions/1/value', message: 'is required' },
    { field: '/threshold', message: 'must be from 0 to 1' },
  ]);
  t.strictSame(problems, {
    'composite_config/conditions/1/value': 'It is required.',
    threshold: 'It must be from 0 to 1.',
  });
});

void t.test('finds the text of a JSON member', async (t) => {
  const body = '{ "data":{"request_body":[1.0,"},\\"created_at\\":1"],"n":12345678901234567890} }';
  const text = `{"id":"request_body","request_body":${body},"created_at":"x","attempts":[{"request_body":1}]}`;
  t.equal(memberText(text, 'request_body'), body);
  t.equal(memberText(text, 'created_at'), '"x"');
  t.equal(memberText(text, 'attempts'), '[{"request_body":1}]');
  t.equal(memberText(text, 'data'), undefined, 'it is nested deeper');
  for (const other of ['', '{}', '[]', '"request_body"'])
    t.equal(memberText(other, 'request_body'), undefined);
});

void t.test('an endpoint can subscribe to every event type; an outage has a start', async (t) => {
  t.same(new Set([...EVENT_TYPES, 'webhook.test']), new Set(ALL_TYPES));
  t.equal(outageStart('24', Date.parse('2026-11-20T12:00:00Z')), '2026-11-19T12:00:00.000Z');
  t.equal(endpointName({ name: '', url: 'https://example.com/' }), 'https://example.com/');
  t.equal(endpointName({ name: 'pager', url: 'https://example.com/' }), 'pager');
});
