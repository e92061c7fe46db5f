import t from 'tap';
import { RejectionsInMemory } from '../../src/pipeline/rejections.js';
import { HandClock } from '../support/hand-clock.js';

const FROM = { receiver: 'otlp', signal: 'traces', code: 'validation_failed' } as const;

function items(count: number, error = 'must be a UUID') {
  return Array.from({ length: count }, (_, at) => ({ trace_id: `trace ${String(at)}`, error }));
}

void t.test('keeps the last thousand rejections of a user, newest first, and daily counts', async (t) => {
  const clock = new HandClock();
  const rejections = new RejectionsInMemory(clock);
  for (let batch = 0; batch < 12; batch++) rejections.note('ann', { ...FROM, items: items(100) });
  rejections.note('ann', { ...FROM, code: 'quota_exceeded', items: items(500), count: 500 });
  const { items: listed, counts } = rejections.of('ann');
  t.equal(listed.length, 1000);
  t.match(listed[0], { trace_id: 'trace 99', code: 'quota_exceeded', receiver: 'otlp', at: clock.now() });
  t.equal(listed[100]?.code, 'validation_failed', 'at most a hundred per batch');
  t.match(counts, [
    { code: 'validation_failed', items: 1200 },
    { code: 'quota_exceeded', items: 500 },
  ]);
  t.same(rejections.of('bob').items, [], 'nobody else’s');
});

void t.test('truncates texts of senders and removes keys', async (t) => {
  const rejections = new RejectionsInMemory(new HandClock());
  const key = `jd_${'a'.repeat(43)}`;
  rejections.note('ann', {
    ...FROM,
    items: [{ trace_id: 'x'.repeat(9999), error: `no ${key} ${'y'.repeat(9999)}` }],
  });
  const [item] = rejections.of('ann').items;
  t.ok((item?.trace_id?.length ?? 0) < 200 && (item?.error.length ?? 0) < 400);
  t.notMatch(item?.error, key);
});

void t.test('limits the total of all users and reports since when a user is recorded', async (t) => {
  const clock = new HandClock();
  const rejections = new RejectionsInMemory(clock);
  const start = clock.now();
  const fill = (user: string): void => {
    for (let batch = 0; batch < 10; batch++) rejections.note(user, { ...FROM, items: items(100) });
  };
  for (let user = 0; user < 20; user++) fill(`user ${String(user)}`);
  t.equal(rejections.of('user 0').items.length, 1000);
  t.equal(rejections.of('user 0').since, start);
  clock.advance(1000);
  fill('one more');
  t.match(rejections.of('user 0'), { items: [], since: clock.now() });
  t.equal(rejections.of('user 1').items.length, 1000);
  t.equal(rejections.of('user 1').since, start);
});
