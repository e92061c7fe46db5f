import { createHmac } from 'node:crypto';
import t from 'tap';
import { redactProcessor } from '../../../src/processors/redact/factory.js';
import { metricValues } from '../../support/engine.js';
import { aLog, fromService } from '../../support/log-records.js';
import { mapSpan } from '../../support/mapped-span.js';
import { aMetric, aPoint } from '../../support/metric-points.js';
import { processorOf } from '../../support/processors.js';
import { readProjectFile } from '../../support/project-file.js';
import { aHeader } from '../../support/run-records.js';

const SECRET = 'what hashes are made with';
const COUNTED = 'jackdaw_redact_replacements_total';

const hmac = (text: string) => `hmac-${createHmac('sha256', SECRET).update(text).digest('hex').slice(0, 32)}`;

function logs(yaml: string) {
  return processorOf(redactProcessor, 'logs', yaml);
}

void t.test('replaces values under keys at any depth, with equal hashes for equal values', async (t) => {
  const { consume, passed, settings } = logs(
    `{ keys: [password, authorization], hash: { keys: [user_id, account], secret: ${SECRET} } }`,
  );
  const body = {
    PassWord: 'x',
    deep: [{ password: { any: 'thing' } }],
    'http.request.header.authorization': ['Bearer x'],
    text: '{"user_id": "u1", "n": 1}',
    escaped: '{"pass\\u0077ord": 5}',
    userId: 'u1',
    'user.id': 'u1',
    account: 7,
    nothing: { password: null },
    passwords: 'kept',
  };
  await consume([aLog({ body, attributes: { password: 'p' } })]);
  t.strictSame(passed[0]?.items[0]?.body, {
    PassWord: '[redacted]',
    deep: [{ password: '[redacted]' }],
    'http.request.header.authorization': '[redacted]',
    text: `{"user_id":"${hmac('u1')}","n":1}`,
    escaped: '{"password":"[redacted]"}',
    userId: hmac('u1'),
    'user.id': hmac('u1'),
    account: hmac('7'),
    nothing: { password: null },
    passwords: 'kept',
  });
  t.strictSame(passed[0]?.items[0]?.attributes, { password: '[redacted]' });
  t.strictSame(await metricValues(settings.meter, COUNTED), {
    [`${COUNTED}{processor="redact",pattern="keys"}`]: 5,
    [`${COUNTED}{processor="redact",pattern="hash"}`]: 4,
  });
});

void t.test('also in raw span bytes and the user of the run', async (t) => {
  const { consume, passed } = processorOf(
    redactProcessor,
    'traces',
    `{ keys: [password], hash: { keys: [user_id], secret: ${SECRET} } }`,
  );
  const span = mapSpan({
    'user.id': 'u1',
    'input.value': '{"password":"hunter2","kept":1}',
    n: { PASSWORD: 3 },
  });
  await consume([{ trace: aHeader({ metadata: { user_id: 'u1' } }), spans: [span] }]);
  const after = passed[0]?.items[0];
  t.match(after?.trace.metadata, { user_id: hmac('u1') });
  t.match(after?.spans[0]?.context, { user_id: hmac('u1') });
  t.match(after?.spans[0]?.metadata, {
    'user.id': hmac('u1'),
    'input.value': '{"password":"[redacted]","kept":1}',
    n: { PASSWORD: '[redacted]' },
  });
  t.match(after?.spans[0]?.input_data, { password: '[redacted]', kept: 1 });
});

void t.test('matches a non-ASCII key in upper case', async (t) => {
  const { consume, passed } = processorOf(redactProcessor, 'traces', `keys: [ärztin, 'a.b*']`);
  const span = mapSpan({ ÄRZTIN: 'x', 'A-B*': 'y', kept: 'z' });
  await consume([{ trace: aHeader(), spans: [span] }]);
  t.match(passed[0]?.items[0]?.spans[0]?.metadata, { ÄRZTIN: '[redacted]', 'A-B*': '[redacted]', kept: 'z' });
});

void t.test('RE2 patterns use the configured replacement', async (t) => {
  const { consume, passed } = logs(
    `patterns:
  - { name: employee, regex: 'E-\\d{6}', replacement: '<who>' }
  - { name: plate, regex: '(?i)\\b[a-z]{1,3}-[a-z]{2} \\d{1,4}\\b' }`,
  );
  await consume([aLog({ body: 'E-123456 came in B-XY 1234, E-12345 did not' })]);
  t.equal(passed[0]?.items[0]?.body, '<who> came in [plate], E-12345 did not');
});

void t.test('redacts the union of overlapping findings', async (t) => {
  const { consume, passed } = logs(
    `{ builtin: [email], patterns: [{ name: wide, regex: 'mail \\w+@\\w+' }, { name: narrow, regex: 'example.com and' }] }`,
  );
  await consume([aLog({ body: 'so mail ann@example.com and bob@example.com too' })]);
  t.equal(passed[0]?.items[0]?.body, 'so [wide] [email] too');
});

void t.test('keys that become equal keep both values', async (t) => {
  const { consume, passed } = logs(`builtin: [email]`);
  await consume([aLog({ body: { 'a@example.com': 1, 'b@example.com': 2, x: 3 } })]);
  t.strictSame(passed[0]?.items[0]?.body, { '[email]': 1, '[email] 2': 2, x: 3 });
});

void t.test('redacts labels, attributes, exemplars and resource of points and keeps numbers', async (t) => {
  const { consume, passed } = processorOf(redactProcessor, 'metrics', `builtin: [email, credit_card]`);
  const origin = fromService('mail of a@example.com');
  const point = aPoint({
    stream: aMetric({ origin }),
    labels: { service_name: 'mail of a@example.com', to: 'b@example.com' },
    attributes: { to: 'b@example.com' },
    value: 4_111_111_111_111_111,
    exemplars: [{ value: 4_111_111_111_111_111, filtered_attributes: { user: 'c@example.com' } }],
  });
  await consume([point, aPoint({ stream: aMetric({ origin }) })]);
  const [first, second] = passed[0]?.items ?? [];
  t.match(first, {
    stream: { origin: { resource: { 'service.name': 'mail of [email]' }, serviceName: 'mail of [email]' } },
    labels: { service_name: 'mail of [email]', to: '[email]' },
    attributes: { to: '[email]' },
    value: 4_111_111_111_111_111,
    exemplars: [{ value: 4_111_111_111_111_111, filtered_attributes: { user: '[email]' } }],
  });
  t.equal(first?.stream.origin, second?.stream.origin, 'shared parts stay shared');
});

void t.test('drops a value that nests too deep', async (t) => {
  const { consume, passed } = logs(`builtin: [email]`);
  const text = `${'['.repeat(5000)}"a@example.com"${']'.repeat(5000)}`;
  await consume([aLog({ body: text })]);
  t.notMatch(JSON.stringify(passed[0]?.items[0]?.body), 'a@example.com');
});

void t.test('every text takes linear time', async (t) => {
  const { consume } = logs(`builtin: [email, credit_card, iban, phone, ip_address, api_key, jwt]`);
  // Each causes quadratic time in some careless pattern.
  const texts = [
    '@',
    'a@',
    'a.',
    '1 ',
    '4',
    'eyJ',
    'eyJ.',
    '-eyJ',
    ':',
    'a:',
    '+1',
    '-----BEGIN PRIVATE KEY-----a',
    'sk-',
    'DE89 ',
    'secret=',
    'tel ',
    'sk-xxxxxxxx1',
  ];
  // So many that quadratic time would exceed the timeout.
  const times = 400_000;
  const bodies = [...texts.map((text) => text.repeat(times)), `bearer ${'.'.repeat(times)}a`];
  await consume(bodies.map((body) => aLog({ body })));
  t.pass('ends');
});

void t.test('a match extends to the end of an overlong key', async (t) => {
  const { consume, passed } = logs(`builtin: [api_key]`);
  const body = `from sk-${'a1'.repeat(2000)} to sk-1${'sk-2'.repeat(2000)}.`;
  await consume([aLog({ body })]);
  t.equal(passed[0]?.items[0]?.body, 'from [api_key] to [api_key].');
});

void t.test('logs contain no matches', async (t) => {
  const { consume, settings } = logs(`builtin: [email]`);
  await consume([aLog({ body: 'a@example.com' })]);
  t.strictSame(settings.logger.lines, []);
});

void t.test('rejects invalid patterns and duplicate names', async (t) => {
  const problems = (patterns: object[]) =>
    redactProcessor.check?.({ builtin: [], patterns, keys: [], fields: [] } as never) ?? [];
  t.match(problems([{ name: 'a', regex: 'a(' }]), [
    { path: '/patterns/0/regex', message: /missing closing \)/ },
  ]);
  t.match(problems([{ name: 'a', regex: 'x*' }]), [{ path: '/patterns/0/regex', message: /empty text/ }]);
  t.match(
    problems([
      { name: 'a', regex: 'x' },
      { name: 'a', regex: 'y' },
      { name: 'email', regex: 'z' },
    ]).map(({ path }) => path),
    ['/patterns/1/name', '/patterns/2/name'],
  );
});

void t.test('the example of the README works', async (t) => {
  const text =
    /redact\/pii:\n(.*?)\nservice:/s.exec(readProjectFile('src/processors/redact/README.md'))?.[1] ?? '';
  const { consume, passed } = logs(text.replace('${env:HASH_KEY:-0123456789abcdef}', SECRET));
  await consume([
    aLog({ body: { text: 'E-123456, a@example.com', password: 'x' }, attributes: { user_id: 'u1' } }),
  ]);
  t.match(passed[0]?.items[0], {
    body: { text: '[employee], [email]', password: '[redacted]' },
    attributes: { user_id: hmac('u1') },
  });
});
