import t from 'tap';
import { HandClock } from '../../support/hand-clock.js';
import { aRun, QuotaDaemon } from './quota-daemon.js';

const DAY_MS = 86_400_000;

void t.test('the month changes at midnight UTC and resumes if the clock is set back', async (t) => {
  const clock = new HandClock(Date.UTC(2026, 10, 30, 23, 59, 58) * 1000);
  let daemon = await QuotaDaemon.start(t, { monthly_events: 3 }, { clock });
  const november = { period: '2026-11', limit: 3, resets_at: '2026-12-01T00:00:00Z' };
  const december = { period: '2026-12', limit: 3, resets_at: '2027-01-01T00:00:00Z' };
  const restart = async (): Promise<void> => {
    const { directory, api } = daemon;
    await daemon.stop();
    daemon = await QuotaDaemon.start(t, { monthly_events: 3 }, { clock, directory, key: api.adminKey });
  };
  const kept = aRun(2);
  t.match(await daemon.send(kept), {
    isTaken: true,
    quota: { remaining: '1', reset: String(Date.UTC(2026, 11, 1) / 1000) },
  });
  t.match(await daemon.send(aRun(2)), { isTaken: false, retryAfter: 2 });
  t.match(await daemon.usage(), { ...november, used: 2 });

  clock.advance(1999);
  t.match(await daemon.send(aRun(2)), { isTaken: false, retryAfter: 1 }, 'a millisecond before');
  clock.advance(1);
  t.match(await daemon.usage(), { ...december, used: 0 });
  t.match(await daemon.send(aRun(2)), {
    isTaken: true,
    quota: { remaining: '1', reset: String(Date.UTC(2027, 0, 1) / 1000) },
  });
  t.match(await daemon.send(kept), { isTaken: true, quota: { remaining: '1' } }, 'a repeat of last month');
  t.match(await daemon.send(aRun(2)), { isTaken: false, retryAfter: (31 * DAY_MS) / 1000 });

  await restart();
  t.match(await daemon.usage(), { ...december, used: 2 });
  clock.advance(-1000);
  t.match(await daemon.usage(), { ...november, used: 2 });
  t.match(await daemon.send(aRun(2)), { isTaken: false, retryAfter: 1 });
  t.match(await daemon.send(aRun(1)), { isTaken: true, quota: { remaining: '0' } });
  await restart();
  t.match(await daemon.usage(), { ...november, used: 3 });
  clock.advance(1000);
  t.match(await daemon.usage(), { ...december, used: 2 });
  clock.sleep(31 * DAY_MS);
  t.match(await daemon.usage(), {
    period: '2027-01',
    used: 0,
    limit: 3,
    resets_at: '2027-02-01T00:00:00Z',
  });
});
