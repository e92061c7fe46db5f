import t from 'tap';
import { HttpProblem } from '../../src/component/http.js';
import { UserRates } from '../../src/http/user-rates.js';
import { componentSettings } from '../support/component-settings.js';

const LIMITS = { share: 0.5, storedBytes: 0, requests: undefined, bytes: undefined };

/** Seconds to wait; 0 if the request is admitted. */
function enter(rates: UserRates, user = 'a'): number {
  try {
    rates.enter(user);
    return 0;
  } catch (error) {
    if (!(error instanceof HttpProblem) || error.code !== 'rate_limited') throw error;
    return Number(error.headers['retry-after']);
  }
}

void t.test('allows a burst, then a rate, per user', async (t) => {
  const tools = componentSettings('test');
  const rates = new UserRates({ ...LIMITS, requests: { perSecond: 0.5, burst: 3 } }, tools);
  t.same([enter(rates), enter(rates), enter(rates), enter(rates)], [0, 0, 0, 2]);
  t.equal(enter(rates, 'b'), 0, 'another user has a separate bucket');
  tools.clock.advance(1900);
  t.equal(enter(rates), 1);
  tools.clock.advance(100);
  t.same([enter(rates), enter(rates)], [0, 2], 'a rejected request does not count');
  tools.clock.advance(1_000_000);
  t.same([enter(rates), enter(rates), enter(rates), enter(rates)], [0, 0, 0, 2], 'at most the burst');
  t.match((await tools.meter.print()).text, /rate_limited_requests_total\{limit="requests"\} 4/);
});

void t.test('bytes are admitted whole and charged to later requests', async (t) => {
  const tools = componentSettings('test');
  const rates = new UserRates({ ...LIMITS, bytes: { perSecond: 1000, burst: 2000 } }, tools);
  t.equal(enter(rates), 0);
  rates.spend('a', 12_000);
  t.equal(enter(rates), 11);
  t.equal(enter(rates, 'b'), 0);
  tools.clock.advance(10_000);
  t.equal(enter(rates), 1);
  tools.clock.advance(1000);
  t.equal(enter(rates), 0);
  t.match((await tools.meter.print()).text, /rate_limited_requests_total\{limit="bytes"\} 2/);
});

void t.test('idle users cost no memory, and users in debt are remembered', async (t) => {
  const tools = componentSettings('test');
  const rates = new UserRates({ ...LIMITS, requests: { perSecond: 1, burst: 1 } }, tools);
  t.equal(enter(rates, 'debtor'), 0);
  for (let user = 0; user < 5000; user++) enter(rates, `user ${user}`);
  t.equal(enter(rates, 'debtor'), 1);
  t.equal(enter(rates, 'user 4999'), 1);
});
