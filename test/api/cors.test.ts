import t from 'tap';
import { startApi } from '../support/api.js';

const ORIGIN = 'https://ops.example.com';

void t.test('only configured origins may call the API', async (t) => {
  const api = await startApi(t, { allowedOrigins: [ORIGIN] });
  const preflight = (origin: string) =>
    api.call('OPTIONS', '/dashboard/traces', {
      key: null,
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
  const allowed = await preflight(ORIGIN);
  t.equal(allowed.status, 204, 'a preflight carries no key');
  t.equal(allowed.headers.get('access-control-allow-origin'), ORIGIN);
  t.match(allowed.headers.get('access-control-allow-headers'), /authorization/i);
  t.equal((await preflight('https://evil.example.com')).headers.get('access-control-allow-origin'), null);

  const answer = await api.call('GET', '/agents', { headers: { origin: ORIGIN } });
  t.equal(answer.headers.get('access-control-allow-origin'), ORIGIN);
  const refused = await api.call('GET', '/agents', { key: null, headers: { origin: ORIGIN } });
  t.equal(refused.status, 401);
  t.equal(refused.headers.get('access-control-allow-origin'), ORIGIN, 'a page can read the rejection');
});

void t.test('by default no other origin may call the API', async (t) => {
  const api = await startApi(t);
  const answer = await api.call('GET', '/agents', { headers: { origin: ORIGIN } });
  t.equal(answer.headers.get('access-control-allow-origin'), null);
});
