import t from 'tap';
import { formatBanner } from '../../src/cli/banner.js';

const PATHS = new Map([
  ['http://127.0.0.1:4319', ['/api/v1/traces/batch', '/api/v1/agents']],
  ['http://127.0.0.1:13133', ['/healthz', '/readyz']],
  ['http://127.0.0.1:8888', ['/metrics']],
]);
const NOW = new Date('2026-01-15T12:00:00Z');

void t.test('prints all addresses and the path of the initial key file', async (t) => {
  const daemon = { paths: PATHS, initialKeyFile: "/data/it's here/initial-api-key" };
  const text = formatBanner({ version: '1.2.3', daemon, isAuthEnabled: true, loginLink: null, now: NOW });
  t.match(text, /^Jackdaw 1\.2\.3 is running\.$/m);
  t.match(text, /^ {2}API +http:\/\/127\.0\.0\.1:4319\/api\/v1$/m);
  t.match(text, /^ {2}Health +http:\/\/127\.0\.0\.1:13133\/readyz$/m);
  t.match(text, /^ {2}Metrics +http:\/\/127\.0\.0\.1:8888\/metrics$/m);
  t.match(text, /^ {2}API key +\/data\/it's here\/initial-api-key$/m);
  t.match(text, /Bearer \$\(cat '\/data\/it'\\''s here\/initial-api-key'\)/);
});

void t.test('omits missing parts', async (t) => {
  const nothing = { paths: new Map<string, readonly string[]>(), initialKeyFile: null };
  t.equal(
    formatBanner({ version: '1', daemon: nothing, isAuthEnabled: true, loginLink: null, now: NOW }),
    'Jackdaw 1 is running.\n\n',
  );
  const open = { paths: PATHS, initialKeyFile: null };
  t.notMatch(
    formatBanner({ version: '1', daemon: open, isAuthEnabled: false, loginLink: null, now: NOW }),
    /Authorization/,
  );
  t.match(
    formatBanner({ version: '1', daemon: open, isAuthEnabled: true, loginLink: null, now: NOW }),
    /Bearer \$JACKDAW_KEY/,
  );
});
